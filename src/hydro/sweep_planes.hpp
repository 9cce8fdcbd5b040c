// What the schedule for cores does to one plane of a tile's patch, whatever the scheme: compiled
// once for all of them, in sweep_planes.cpp. Planes are passed by value, so that callers may keep
// them in registers.
#pragma once

#include "hydro/cell_update.hpp"
#include "hydro/gather.hpp"

namespace octant::hydro {

using CoreTeam = Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace>::member_type;

// Before reconstruction.
template <int M, mesh::GhostShape ghosts>
struct CellPlanes {
  using Cells = SweepCells<M, ghosts>;

  // The cells of plane k that are read.
  [[gnu::noinline]] static void gather(const KernelArguments& a, TileView view, Cells cells,
                                       const SweptCells<M>& swept, int k) {
    const Gather<Cells> of_tile(a, view, cells);
    for (int j = -ghosts.reach; j < M + ghosts.reach; ++j)
      if (const RowOfCells read = swept.read(k, j)) of_tile.row(k, j, read);
  }
  // What dual energy that overwrites wants to know of some rows of plane k - 1.
  [[gnu::noinline]] static void find_truncation(Cells cells, SweepFaces<M> faces, int rows, int k) {
    estimate_truncation(cells, faces, rows, k);
  }
};

// Those of the schemes in schemes.cpp.
inline constexpr mesh::GhostShape k_star_2{2}, k_star_3{3},
    k_cube_3{3, mesh::GhostShape::Kind::cube};
extern template struct CellPlanes<8, k_star_2>;
extern template struct CellPlanes<8, k_star_3>;
extern template struct CellPlanes<8, k_cube_3>;
extern template struct CellPlanes<16, k_star_2>;
extern template struct CellPlanes<16, k_star_3>;
extern template struct CellPlanes<16, k_cube_3>;

// After it.
template <int M>
struct FacePlanes {
  using Faces = SweepFaces<M>;

  // Makes of the fluxes along an axis, found in a frame that turns, those that are seen against the
  // stars.
  static void leave_frame(const KernelArguments& a, TileView view, Faces faces,
                          const SweptCells<M>& swept, int axis, int k);
  // New states, from the fluxes of planes k and k + 1.
  static void update(const KernelArguments& a, TileView view, Faces faces,
                     const SweptCells<M>& swept, int k, Outcome<Pack>& outcome);
  // Those which the fluxes of plane 0, in one dimension of row 0, stand for.
  static void update_others(const KernelArguments& a, TileView view, Faces faces,
                            const SweptCells<M>& swept, int dimensions, Outcome<Pack>& outcome);
  // Adds the fluxes that are complete with those of plane k to registers.
  static void answer_requests(const CoreTeam& team, const KernelArguments& a, TileView view,
                              Faces faces, int dimensions, int k);
};

}  // namespace octant::hydro
