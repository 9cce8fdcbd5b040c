// Compiles the kernels of a scheme, for every schedule. Included by the files of schemes with their
// own fluxes, which end with
//   template SchemeOps ops_of_scheme<DonorCell>();
// For schemes see scheme.hpp, for Riemann solvers solver_ops.hpp. The kernels of states and those
// of fluxes are compiled separately.
#pragma once

#include "core/compiler.hpp"
#include "hydro/repair_stencil.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_cpu.hpp"
#include "hydro/sweep_gpu.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

// Computes, for a repair, the states on the surfaces of each cell and of its neighbours.
template <class Scheme>
void states_of_cells(const KernelArguments& a, const BadCell* cells, int count,
                     const RepairStencil& stencil, double* surfaces) {
  const Scheme scheme(a);
  mesh::for_items(
      "hydro::states_of_cells", k_stencil_cells * count, KOKKOS_LAMBDA(int n) {
        const BadCell& cell = cells[n / k_stencil_cells];
        const CellOffset at = CellOffset::of(n % k_stencil_cells);
        double* const to = surfaces + std::int64_t(n) * a.variables * Scheme::points;
        states_of_cell(
            scheme, true, stencil.around(n / k_stencil_cells, at.x, at.y, at.z),
            TileView(a.sweep.tiles, cell.tile)
                .template position<double>(a.sweep, cell.k + at.z, cell.j + at.y, cell.i + at.x),
            addresses_of<Scheme::points>(Scheme::points, [=](int point) { return to + point; }));
      });
}

// Computes, for a repair, the fluxes through the six faces of each cell.
template <class Scheme>
void fluxes_of_cells(const KernelArguments& a, const BadCell* cells, int count, double* surfaces,
                     double* result) {
  using Surface = typename Scheme::template Surface<BatchFluxes<8>>;
  const Scheme scheme(a);
  const int surface = a.variables * Scheme::points;
  mesh::for_items(
      "hydro::fluxes_of_cells", 6 * count, KOKKOS_LAMBDA(int f) {
        double* const cell = surfaces + std::int64_t(f / 6) * k_stencil_cells * surface;
        double* const beyond = cell + (1 + f % 6) * surface;
        const bool is_upper = f % 2 == 1;
        const TileView view(a.sweep.tiles, cells[f / 6].tile);
        const bool closed = is_closed(view, cells[f / 6], f % 6 / 2, f % 2);
        const bool is_diode = view.is_diode(f % 6 / 2, f % 2);
        double* const to = result + std::int64_t(f) * a.variables;
        const auto surface_at = [](double* of) {
          return addresses_of<Scheme::points>(Scheme::points,
                                              [=](int point) { return of + point; });
        };
        double* const below = is_upper ? cell : beyond;
        double* const above = is_upper ? beyond : cell;
        const auto through = [&]<int Axis>() {
          if (closed)
            set_beyond<Axis, Surface>([&](int point) { return below + point; },
                                      [&](int point) { return above + point; }, f % 2, is_diode,
                                      a.variables, Scheme::points);
          flux_of_face<Axis>(scheme, surface_at(below), surface_at(above), to, 1);
          if (closed) close_flux<Axis>(to, f % 2, is_diode, a.variables, 1);
        };
        if (f % 6 / 2 == 0) through.template operator()<0>();
        else if (f % 6 / 2 == 1) through.template operator()<1>();
        else through.template operator()<2>();
      });
}

// Sets the kernels for the states of a scheme.
template <class Scheme>
void set_states(SchemeOps& ops) {
  ops.ghosts = ghosts_of<Scheme>();
  ops.points = Scheme::points;
  ops.sweep = {SweepKernel<8, Scheme>::run, SweepKernel<16, Scheme>::run};
  ops.tile_doubles = {CellsInBatch<8, Scheme>::doubles, CellsInBatch<16, Scheme>::doubles};
  ops.states_of_batch = {states_of_batch<8, Scheme>, states_of_batch<16, Scheme>};
  ops.states_of_cells = states_of_cells<Scheme>;
}

// Sets the kernels for the fluxes of a scheme.
template <class Scheme>
void set_fluxes(SchemeOps& ops) {
  if constexpr (k_has_core_schedule)
    ops.fluxes_of_plane = {fluxes_of_plane<8, Scheme>, fluxes_of_plane<16, Scheme>};
  ops.fluxes_of_batch = {fluxes_of_batch<8, Scheme>, fluxes_of_batch<16, Scheme>};
  ops.fluxes_of_cells = fluxes_of_cells<Scheme>;
}

// Returns all operations of a scheme with its own fluxes.
template <class Scheme>
SchemeOps ops_of_scheme() {
  SchemeOps ops{Scheme::name, Scheme::predicts, false};
  set_states<Scheme>(ops);
  set_fluxes<Scheme>(ops);
  return ops;
}

}  // namespace octant::hydro
