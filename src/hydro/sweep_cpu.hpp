// CPU schedule of a sweep: a thread per tile processes the planes k of its patch that have own
// cells, with all data in scratch memory that stays in the cache. SweepKernel::operator() contains
// the loop over planes and a table of the planes that exist in each of its steps.
//
// Only the states are compiled for each scheme: fluxes are called by function pointer, and all else
// is compiled once (sweep_cpu.cpp). Another Riemann solver then takes only a few seconds to
// compile, and a call per plane has no noticeable cost.
//
// If the gas does not vary along z, or along y and z (HydroOptions::dimensions), the patch has one
// plane, or one row, whose fluxes also update all other planes and rows.
#pragma once

#include "core/compiler.hpp"
#include "core/error.hpp"
#include "hydro/conservative_update.hpp"
#include "hydro/scheme.hpp"
#include "hydro/schemes.hpp"
#include "hydro/tile_gather.hpp"

namespace octant::hydro {

// --- planes in the scratch memory of a thread ----------------------------------------------------

// Data of fluxes and update: planes of faces, and for DualEnergy::overwrite two variables of the
// plane that is updated next.
template <int M>
class SweepFaces {
 public:
  static constexpr bool keeps_all_planes = false;  // keeps only the last two
  static constexpr int patch = M, width = SimdTraits<SimdDouble>::width;
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  // Number of doubles for a scheme with this many planes of states besides those of fluxes.
  static constexpr std::size_t doubles(int variables, int surface_planes) {
    return std::size_t(variables) * (flux_planes + surface_planes) * FacePlane::stride +
           inner_planes * InnerPlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION SweepFaces(double* base, int variables)
      : base_(base), face_size_(variables * FacePlane::stride) {}

  // Plane of fluxes through the lower faces along an axis of the cells of plane k; valid until
  // plane k + 1 is complete.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane flux(int axis, int k) const {
    return face(2 * axis + (k & 1));
  }
  // Plane n of the states on cell surfaces (Scheme::Surface). All planes k share the same memory.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int /*k*/) const {
    return face(flux_planes + n);
  }
  // Plane of truncation-error estimates for DualEnergy::overwrite.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation(int /*k*/) const { return {base_}; }

 private:
  static constexpr int flux_planes = 6, inner_planes = 2;

  KOKKOS_FORCEINLINE_FUNCTION FacePlane face(int n) const {
    return {base_ + inner_planes * InnerPlane::stride + n * face_size_};
  }

  double* base_;
  int face_size_;
};

// Data of the reconstruction: a ring of planes of primitive variables (KernelArguments::cell_values
// numbers per cell).
template <int M, mesh::GhostShape shape>
class SweepCells {
 public:
  static constexpr mesh::GhostShape ghosts = shape;
  static constexpr int patch = M, reach = ghosts.reach - 1;
  using PrimitivePlane = ScratchPlane<M, ghosts.reach, M + 2 * ghosts.reach, ghosts.reach>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  // Number of doubles for this many numbers per cell.
  static constexpr std::size_t doubles(int cell_values) {
    return inner_planes * InnerPlane::stride +
           std::size_t(cell_values) * (ring * PrimitivePlane::stride + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION SweepCells(double* base, int cell_values)
      : base_(base), primitive_size_(cell_values * PrimitivePlane::stride) {}

  // Plane k of primitive variables; valid for the planes in the ring.
  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {base_ + inner_planes * InnerPlane::stride + (k + 2 * ring) % ring * primitive_size_};
  }
  // Velocities (three variables) of the last two planes that have left the ring, for
  // DualEnergy::overwrite.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane past_velocity(int k) const {
    return {base_ + 3 * (k & 1) * InnerPlane::stride};
  }
  // Contiguous conserved state that replaces cells outside all boxes.
  KOKKOS_FORCEINLINE_FUNCTION double* fill_state() const {
    return base_ + inner_planes * InnerPlane::stride + ring * primitive_size_;
  }

 private:
  static constexpr int ring = 2 * reach + 1, inner_planes = 6;

  double* base_;
  int primitive_size_;
};

// Scratch memory of a sweep by a scheme.
template <int M, class Scheme>
class SweepScratch : public SweepFaces<M>, public SweepCells<M, ghosts_of<Scheme>()> {
 public:
  using Faces = SweepFaces<M>;
  using Cells = SweepCells<M, ghosts_of<Scheme>()>;
  using Surface = typename Scheme::template Surface<Faces>;

  // Bytes for the variables of a sweep, with padding for alignment.
  static std::size_t bytes(const KernelArguments& a) {
    return sizeof(double) * doubles(a) + k_alignment;
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION SweepScratch(const Member& team, const KernelArguments& a)
      : SweepScratch(static_cast<double*>(team.team_scratch(0).get_shmem_aligned(
                         sizeof(double) * doubles(a), k_alignment)),
                     a) {}

 private:
  static constexpr std::size_t k_alignment = 64;

  static std::size_t doubles(const KernelArguments& a) {
    return Faces::doubles(a.variables, Surface::planes) + Cells::doubles(a.cell_values);
  }
  KOKKOS_FORCEINLINE_FUNCTION SweepScratch(double* base, const KernelArguments& a)
      : Faces(base, a.variables),
        Cells(base + Faces::doubles(a.variables, Surface::planes), a.cell_values) {}
};

// Estimates the truncation error of some rows of plane k - 1, for DualEnergy::overwrite. Stores
// velocities of planes that leave the ring.
template <int M, mesh::GhostShape ghosts>
KOKKOS_FORCEINLINE_FUNCTION void estimate_truncation(const SweepCells<M, ghosts>& cells,
                                                     const SweepFaces<M>& faces, int rows, int k) {
  using V = SimdDouble;
  using P = SimdTraits<V>;
  using Inner = typename SweepCells<M, ghosts>::InnerPlane;
  using Primitive = typename SweepCells<M, ghosts>::PrimitivePlane;
  const Inner past = cells.past_velocity(k - 2), long_past = cells.past_velocity(k - 3);
  const auto keep = [&](int j, int i) OCTANT_INLINE_LAMBDA {
    const double* const here = cells.primitive(k - 1).at(j, i);
    const double* const next = cells.primitive(k).at(j, i);
    const double* const after = cells.primitive(k + 1).at(j, i);
    const double* const before = past.at(j, i);
    double* const long_before = long_past.at(j, i);
    const auto velocity = [&](int d, int x, int y, int z) OCTANT_INLINE_LAMBDA {
      if (z < 0) return P::load((z == -1 ? before : long_before) + d * Inner::stride);
      return P::load((z == 0   ? here
                      : z == 1 ? next
                               : after) +
                     (k_velocity_x + d) * Primitive::stride + y * Primitive::row + x);
    };
    keep_truncation(faces, k - 1, j, i, truncation_around<V>(velocity));
    OCTANT_UNROLL(3)
    for (int d = 0; d < 3; ++d) P::store(long_before + d * Inner::stride, velocity(d, 0, 0, 0));
  };
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < M; i += P::width) keep(j, i);
}

// --- operations on one plane, for all schemes ----------------------------------------------------

// Compiled once for all schemes, in sweep_cpu.cpp. Planes are passed by value, so that callers can
// keep them in registers.

using CoreTeam = Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace>::member_type;

// Operations before reconstruction.
template <int M, mesh::GhostShape ghosts>
struct CellPlanes {
  using Cells = SweepCells<M, ghosts>;

  // Gathers the cells of plane k that are read.
  static void gather(const KernelArguments& a, TileView view, Cells cells,
                     const ActiveCells<M>& active, int k) {
    with_type_of(a.gas, [&]<class G>() { gather_as<G>(a, view, cells, active, k); });
  }
  // Estimates truncation errors of some rows of plane k - 1, for DualEnergy::overwrite.
  [[gnu::noinline]] static void find_truncation(Cells cells, SweepFaces<M> faces, int rows, int k) {
    estimate_truncation(cells, faces, rows, k);
  }

 private:
  template <class G>
  [[gnu::noinline]] static void gather_as(const KernelArguments& a, TileView view, Cells cells,
                                          const ActiveCells<M>& active, int k) {
    const Gather<Cells, G> of_tile(a, view, cells);
    for (int j = -ghosts.reach; j < M + ghosts.reach; ++j)
      if (const RowOfCells read = active.read(k, j)) of_tile.row(k, j, read);
  }
};

// Ghost shapes of the schemes in schemes.cpp.
inline constexpr mesh::GhostShape k_star_2{2}, k_star_3{3},
    k_cube_3{3, mesh::GhostShape::Kind::cube};
extern template struct CellPlanes<8, k_star_2>;
extern template struct CellPlanes<8, k_star_3>;
extern template struct CellPlanes<8, k_cube_3>;
extern template struct CellPlanes<16, k_star_2>;
extern template struct CellPlanes<16, k_star_3>;
extern template struct CellPlanes<16, k_cube_3>;

// Operations after reconstruction.
template <int M>
struct FacePlanes {
  using Faces = SweepFaces<M>;

  // Transforms the fluxes along an axis from the rotating to the inertial frame.
  static void leave_frame(const KernelArguments& a, TileView view, Faces faces,
                          const ActiveCells<M>& active, int axis, int k);
  // Computes new states from the fluxes of planes k and k + 1.
  static void update(const KernelArguments& a, TileView view, Faces faces,
                     const ActiveCells<M>& active, int k, UpdateResult<SimdDouble>& result);
  // Updates other planes, or rows, with the fluxes of plane 0, or, in one dimension, row 0.
  static void update_others(const KernelArguments& a, TileView view, Faces faces,
                            const ActiveCells<M>& active, int dimensions,
                            UpdateResult<SimdDouble>& result);
  // Adds the fluxes that are complete with those of plane k to flux registers.
  static void accumulate_registers(const CoreTeam& team, const KernelArguments& a, TileView view,
                                   Faces faces, int dimensions, int k);

 private:
  template <class G>
  [[gnu::noinline]] static void update_as(const KernelArguments& a, TileView view, Faces faces,
                                          const ActiveCells<M>& active, int k,
                                          UpdateResult<SimdDouble>& result);
  template <class G>
  static void update_others_as(const KernelArguments& a, TileView view, Faces faces,
                               const ActiveCells<M>& active, int dimensions,
                               UpdateResult<SimdDouble>& result);
};

// --- the sweep -----------------------------------------------------------------------------------

// Kernel of the CPU schedule for tiles of M^3 cells; the team's index is the tile.
template <int M, class Scheme>
class SweepKernel {
 public:
  using Scratch = SweepScratch<M, Scheme>;
  using Cells = CellPlanes<M, Scratch::ghosts>;
  using Faces = FacePlanes<M>;
  // Each team, with its scratch memory, is a thread. Scheduling is dynamic, because tiles are
  // partly empty and cores may have other work.
  using Policy =
      Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
  static constexpr int g = Scratch::ghosts.reach;

  // Advances all tiles; returns the largest signal speed of the new state.
  static double run(const KernelArguments& arguments, const SchemeOps& ops) {
    if constexpr (!k_has_core_schedule) {
      throw RunError("a program built for GPUs only supports the device schedule");
    } else {
      Policy policy(arguments.sweep.tiles.count(), 1);
      policy.set_chunk_size(1);
      policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::bytes(arguments)));
      double fastest = 0;
      Kokkos::parallel_reduce("hydro::sweep", policy, SweepKernel(arguments, ops),
                              Kokkos::Max<double>(fastest));
      return fastest;
    }
  }

  SweepKernel(const KernelArguments& arguments, const SchemeOps& ops)
      : a_(arguments), scheme_(arguments), fluxes_(std::get<PlaneFluxes<M>>(ops.fluxes_of_plane)) {}

  // Advances one tile, with own cells in planes first ... last - 1. Planes first - 1 and last have
  // states only on their z surfaces, for the z fluxes at the ends of the patch. Steps of the loop:
  //
  //                                      k = first - 1  first  first + 1 ... last - 1  last
  //   states on the surfaces of plane k        z         all            all             z
  //   z fluxes between planes k - 1 and k      -         yes            yes            yes
  //   update of plane k - 1                    -          -             yes            yes
  //   x and y fluxes of plane k                -         yes            yes             -
  //   gathering of plane k + g                yes        yes            yes             -
  //
  // Step k reads primitive variables of planes k - g + 1 ... k + g - 1, the content of the ring.
  // Plane k + g replaces the oldest one. Fluxes of planes k - 1 and k are stored.
  void operator()(const CoreTeam& team, double& fastest) const {
    const std::uint64_t begun = cycle_count();
    const int tile = team.league_rank();
    const TileView view(a_.sweep.tiles, tile);
    const Scratch planes(team, a_);
    const int dimensions = view.dimensions(a_.dimensions);
    const ActiveCells<M> active(view, dimensions, Scratch::ghosts);
    const int first = active.begin(), last = active.end();
    const bool has_registers = view.tile().request_begin < view.tile().request_end;
    UpdateResult<SimdDouble> result;
    write_fill_state(a_, planes.fill_state());
    for (int k = first - g; k < first + g - 1; ++k) Cells::gather(a_, view, planes, active, k);
    for (int k = first - 1; k <= last; ++k) {
      const bool has_own_cells = first <= k && k < last;
      if (has_own_cells) find_states<true>(view, planes, active, k);
      else find_states<false>(view, planes, active, k);
      if (a_.guards_entropy) Cells::find_truncation(planes, planes, dimensions > 1 ? M : 1, k);
      if (k >= first) find_fluxes(view, planes, active, 2, k);
      if (k > first) Faces::update(a_, view, planes, active, k - 1, result);
      for (int axis = 0; has_own_cells && axis < 2; ++axis)
        find_fluxes(view, planes, active, axis, k);
      if (k < last) Cells::gather(a_, view, planes, active, k + g);
      if (k >= first && has_registers)
        Faces::accumulate_registers(team, a_, view, planes, dimensions, k);
    }
    if (dimensions < 3) Faces::update_others(a_, view, planes, active, dimensions, result);
    a_.sweep.bad_tiles[tile] = any(result.bad);
    fastest = max(fastest, largest(result.fastest));
    if (a_.sweep.tile_cycles) a_.sweep.tile_cycles[tile] += cycle_count() - begun;
  }

 private:
  // Computes the states on the surfaces of the cells of plane k: on all surfaces, in the patch and
  // one cell beyond it, or only on those along z.
  template <bool on_all_surfaces>
  KOKKOS_FORCEINLINE_FUNCTION void find_states(const TileView& view, const Scratch& planes,
                                               const ActiveCells<M>& active, int k) const {
    constexpr int beyond = on_all_surfaces ? 1 : 0;
    const typename Scratch::Surface surface(planes, k);
    for (int j = -beyond; j < M + beyond; ++j)
      for_packs<-beyond, M + beyond>(active.with_states(k, j), [&](int i) OCTANT_INLINE_LAMBDA {
        scheme_.template reconstruct<SimdDouble>(
            on_all_surfaces, CellsAround(planes, k, j, i),
            [&]() OCTANT_INLINE_LAMBDA { return view.position<SimdDouble>(a_.sweep, k, j, i); },
            states_on(surface, j, i));
      });
  }
  // Computes the fluxes along an axis through the lower faces of the cells of plane k.
  void find_fluxes(const TileView& view, const Scratch& planes, const ActiveCells<M>& active,
                   int axis, int k) const {
    fluxes_(a_, planes, active, axis, k);
    if (a_.frame.turns()) Faces::leave_frame(a_, view, planes, active, axis, k);
  }

  KernelArguments a_;
  Scheme scheme_;
  PlaneFluxes<M> fluxes_;
};

// Computes the fluxes of the active faces along an axis in plane k.
template <int M, class Scheme>
void fluxes_of_plane(const KernelArguments& a, SweepFaces<M> faces, const ActiveCells<M>& active,
                     int axis, int k) {
  const Scheme scheme(a);
  const auto through = [&]<int Axis>() OCTANT_INLINE_LAMBDA {
    active.for_closed(Axis, k, [&](int j, int i, int side, bool is_diode) {
      close_states<Axis, Scheme>(faces, k, j, i, side, is_diode, a.variables);
    });
    for (int j = 0; j < M + (Axis == 1); ++j)
      for_packs<0, M + (Axis == 0)>(
          active.with_fluxes(Axis, k, j),
          [&](int i) OCTANT_INLINE_LAMBDA { flux_through<Axis>(scheme, faces, k, j, i); });
    active.for_closed(Axis, k, [&](int j, int i, int side, bool is_diode) {
      close_flux<Axis>(faces.flux(Axis, k).at(j, i), side, is_diode, a.variables,
                       SweepFaces<M>::FacePlane::stride);
    });
  };
  if (axis == 0) through.template operator()<0>();
  else if (axis == 1) through.template operator()<1>();
  else through.template operator()<2>();
}

}  // namespace octant::hydro
