// The schedule of a sweep for cores, as a Kokkos team kernel: league over tiles; the team shares
// the rows (CPU) or the cells (GPU) of a plane. Everything lives in team scratch, nothing large in
// a thread.
//
// The team marches through the planes k of its patch. Per plane there are two barriers:
//
//   stage 1  states on the surfaces of the cells of plane k, from a ring of primitive planes
//   ------- barrier
//   stage 2  z fluxes below plane k, which completes plane k-1: its new state is written
//            x and y fluxes of plane k
//            the next plane is gathered into the ring slot that stage 1 needs no longer
//   ------- barrier
//
// and, for tiles with flux requests, a pass over the plane's fluxes and a third barrier.
//
// Where the gas does not change along z, or along y and z (HydroOptions::dimensions), the patch has
// one plane, or one row, whose fluxes are those of all others.
#pragma once

#include "core/cycles.hpp"
#include "hydro/cell_update.hpp"
#include "hydro/flux_answers.hpp"
#include "hydro/gather.hpp"
#include "hydro/sweep_bodies.hpp"

namespace octant::hydro {

template <int M, class Scheme>
class SweepKernel {
 public:
  using V = Pack;
  using Planes = SweepScratch<M, Scheme>;
  using Surface = typename Planes::Surface;
  using Policy = Kokkos::TeamPolicy<>;
  using Member = Policy::member_type;
  static constexpr int g = Planes::ghosts.reach;

  SweepKernel(const HydroOptions& options, const KernelArguments& arguments)
      : a_(arguments), scheme_(options, arguments) {}

  // Advances all tiles; returns the largest signal speed of the new state.
  double run() const {
    constexpr int threads = PackTraits<V>::width > 1 ? 1 : M * M;
    Policy policy(a_.sweep.tiles.count(), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Planes::bytes(a_.variables)));
    double fastest = 0;
    Kokkos::parallel_reduce("hydro::sweep", policy, *this, Kokkos::Max<double>(fastest));
    return fastest;
  }

  KOKKOS_FUNCTION void operator()(const Member& team, double& fastest) const {
    const std::uint64_t begun = cycle_count();
    const TileView view(a_.sweep.tiles, team.league_rank());
    const Planes planes(team, a_.variables);
    const int dimensions = view.dimensions(a_.dimensions);
    const int rows = dimensions > 1 ? M : 1, last = dimensions > 2 ? M : 1;
    const Gather<Planes, Scheme> gather(a_, scheme_, view, planes);
    const CellUpdate<Planes> update(a_, view, planes);
    const FluxAnswers<Planes> answers(a_, view, planes, dimensions);
    Outcome<V> outcome;
    gather.make_safe_cell(team);
    for (int k = -g; k < g - 1; ++k) gather.plane(team, rows, k);
    team.team_barrier();
    for (int k = -1; k <= last; ++k) {
      const bool inside = k >= 0 && k < last;
      if (inside) reconstruct<true>(team, view, planes, rows, k);
      else reconstruct<false>(team, view, planes, rows, k);
      if (a_.guards_entropy) estimate_truncation(team, planes, rows, k);
      team.team_barrier();
      if (k >= 0 && a_.frame.turns()) {
        finish_plane_in_frame(team, view, planes, rows, k, update, outcome);
      } else if (k >= 0) {
        for_packs<0, M>(team, 0, rows, [&](int j, int i) OCTANT_INLINE_LAMBDA {
          const State<V> top = flux<2>(planes, k, j, i);
          if (k > 0) update(k - 1, j, i, top, outcome);
        });
      }
      if (inside) xy_fluxes(team, planes, rows, k);
      if (inside && a_.frame.turns()) xy_leave_frame(team, view, planes, rows, k);
      if (k < last) gather.plane(team, rows, k + g);
      team.team_barrier();
      if (k >= 0 && answers.requested()) {
        answers.plane(team, k);
        team.team_barrier();
      }
    }
    if (dimensions < 3) update_others(team, dimensions, rows, update, outcome);
    if (any(outcome.bad)) a_.sweep.bad_tiles[team.league_rank()] = 1;
    fastest = max(fastest, largest(outcome.fastest));
    if (a_.sweep.tile_cycles && team.team_rank() == 0)
      a_.sweep.tile_cycles[team.league_rank()] += cycle_count() - begun;
  }

 private:
  template <bool Inside>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(const Member& team, const TileView& view,
                                               const Planes& planes, int rows, int k) const {
    constexpr int extra = Inside ? 1 : 0;
    const Surface surface(planes, k);
    for_packs<-extra, M + extra>(
        team, -extra, rows + extra, [&](int j, int i) OCTANT_INLINE_LAMBDA {
          reconstruct_cells<Inside>(scheme_, a_, view, planes, surface, k, j, i);
        });
  }

  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION State<V> flux(const Planes& planes, int k, int j, int i) const {
    return flux_through<Axis>(scheme_, planes, k, j, i);
  }

  KOKKOS_FORCEINLINE_FUNCTION void xy_fluxes(const Member& team, const Planes& planes, int rows,
                                             int k) const {
    for_packs<0, M + 1>(team, 0, rows,
                        [&](int j, int i) OCTANT_INLINE_LAMBDA { flux<0>(planes, k, j, i); });
    for_packs<0, M>(team, 0, rows + 1,
                    [&](int j, int i) OCTANT_INLINE_LAMBDA { flux<1>(planes, k, j, i); });
  }

  // What one plane, or row, stands for; out of line, as what follows.
  [[gnu::noinline]] KOKKOS_FUNCTION void update_others(const Member& team, int dimensions, int rows,
                                                       const CellUpdate<Planes>& update,
                                                       Outcome<V>& outcome) const {
    for_packs<0, M>(team, 0, rows, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      update.others(dimensions, j, i, outcome);
    });
  }

  // The same where the frame turns; out of line, so that other runs do not feel it.
  [[gnu::noinline]] KOKKOS_FUNCTION void finish_plane_in_frame(
      const Member& team, const TileView& view, const Planes& planes, int rows, int k,
      const CellUpdate<Planes>& update, Outcome<V>& outcome) const {
    for_packs<0, M>(team, 0, rows, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      flux<2>(planes, k, j, i);
      const State<V> top = leave_frame<2>(a_, view, planes, k, j, i);
      if (k > 0) update(k - 1, j, i, top, outcome);
    });
  }
  [[gnu::noinline]] KOKKOS_FUNCTION void xy_leave_frame(const Member& team, const TileView& view,
                                                        const Planes& planes, int rows,
                                                        int k) const {
    for_packs<0, M + 1>(team, 0, rows,
                        [&](int j, int i) { leave_frame<0>(a_, view, planes, k, j, i); });
    for_packs<0, M>(team, 0, rows + 1,
                    [&](int j, int i) { leave_frame<1>(a_, view, planes, k, j, i); });
  }

  KernelArguments a_;
  Scheme scheme_;
};

}  // namespace octant::hydro
