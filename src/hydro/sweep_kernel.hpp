// The schedule of a sweep for cores: a thread per tile marches through the planes k of its patch
// that have own cells, with everything in scratch that stays in the cache.
//
//   states on the surfaces of the cells of plane k, from a ring of primitive planes
//   z fluxes below plane k, which completes plane k-1: its new state is written
//   x and y fluxes of plane k
//   the next plane is gathered into the place in the ring that is needed no longer
//   fluxes of the plane for registers, in tiles with requests
//
// Only the states depend on the scheme that this is compiled for: fluxes are called by their
// address, and all else is compiled once (sweep_planes.hpp). One Riemann solver more is then a
// file of a few seconds, and a call for a plane costs nothing.
//
// Where the gas does not change along z, or along y and z (HydroOptions::dimensions), the patch has
// one plane, or one row, whose fluxes are those of all others.
#pragma once

#include "core/cycles.hpp"
#include "core/error.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_bodies.hpp"
#include "hydro/sweep_planes.hpp"

namespace octant::hydro {

template <int M, class Scheme>
class SweepKernel {
 public:
  using Scratch = SweepScratch<M, Scheme>;
  using Cells = CellPlanes<M, Scratch::ghosts>;
  using Faces = FacePlanes<M>;
  // A team, which has scratch, is a thread: one that is done takes tiles of another, because they
  // have holes, and because cores may have other work.
  using Policy =
      Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
  static constexpr int g = Scratch::ghosts.reach;

  // Advances all tiles; returns the largest signal speed of the new state.
  static double run(const KernelArguments& arguments, const FluxKernels& fluxes) {
    if constexpr (!k_has_core_schedule) {
      throw RunError("a program built for GPUs has the device schedule only");
    } else {
      Policy policy(arguments.sweep.tiles.count(), 1);
      policy.set_chunk_size(1);
      policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::bytes(arguments.variables)));
      double fastest = 0;
      Kokkos::parallel_reduce("hydro::sweep", policy, SweepKernel(arguments, fluxes),
                              Kokkos::Max<double>(fastest));
      return fastest;
    }
  }

  SweepKernel(const KernelArguments& arguments, const FluxKernels& fluxes)
      : a_(arguments), scheme_(arguments), fluxes_(std::get<PlaneFluxes<M>>(fluxes.of_plane)) {}

  void operator()(const CoreTeam& team, double& fastest) const {
    const std::uint64_t begun = cycle_count();
    const TileView view(a_.sweep.tiles, team.league_rank());
    const Scratch planes(team, a_.variables);
    const int dimensions = view.dimensions(a_.dimensions);
    const SweptCells<M> swept(view, dimensions, Scratch::ghosts);
    const int first = swept.begin(), last = swept.end();
    const bool requested = view.tile().request_begin < view.tile().request_end;
    Outcome<Pack> outcome;
    write_safe_cell(a_, planes.safe_cell());
    for (int k = first - g; k < first + g - 1; ++k) Cells::gather(a_, view, planes, swept, k);
    for (int k = first - 1; k <= last; ++k) {
      const bool inside = k >= first && k < last;
      if (inside) reconstruct<true>(view, planes, swept, k);
      else reconstruct<false>(view, planes, swept, k);
      if (a_.guards_entropy) Cells::find_truncation(planes, planes, dimensions > 1 ? M : 1, k);
      if (k >= first) find_fluxes(view, planes, swept, 2, k);
      if (k > first) Faces::update(a_, view, planes, swept, k - 1, outcome);
      for (int axis = 0; inside && axis < 2; ++axis) find_fluxes(view, planes, swept, axis, k);
      if (k < last) Cells::gather(a_, view, planes, swept, k + g);
      if (k >= first && requested) Faces::answer_requests(team, a_, view, planes, dimensions, k);
    }
    if (dimensions < 3) Faces::update_others(a_, view, planes, swept, dimensions, outcome);
    a_.sweep.bad_tiles[team.league_rank()] = any(outcome.bad);
    fastest = max(fastest, largest(outcome.fastest));
    if (a_.sweep.tile_cycles) a_.sweep.tile_cycles[team.league_rank()] += cycle_count() - begun;
  }

 private:
  template <bool Inside>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(const TileView& view, const Scratch& planes,
                                               const SweptCells<M>& swept, int k) const {
    constexpr int extra = Inside ? 1 : 0;
    const typename Scratch::Surface surface(planes, k);
    for (int j = -extra; j < M + extra; ++j)
      for_packs<-extra, M + extra>(swept.with_states(k, j), [&](int i) OCTANT_INLINE_LAMBDA {
        reconstruct_cells<Inside>(scheme_, a_, view, planes, surface, k, j, i);
      });
  }

  void find_fluxes(const TileView& view, const Scratch& planes, const SweptCells<M>& swept,
                   int axis, int k) const {
    fluxes_(a_, planes, swept, axis, k);
    if (a_.frame.turns()) Faces::leave_frame(a_, view, planes, swept, axis, k);
  }

  KernelArguments a_;
  Scheme scheme_;
  PlaneFluxes<M> fluxes_;
};

}  // namespace octant::hydro
