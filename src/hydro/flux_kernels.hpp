// Compiles the kernels that find fluxes, for every schedule: included by the files of Riemann
// solvers, which end with
//   template SchemeKernels riemann_kernels_of<Hllc>();
// and through scheme_kernels.hpp by schemes that bring their own fluxes. A solver is a struct with
// `name`, as in parameter files, and flux<Axis>(left, right, gas); see riemann.hpp for
// solvers that also take the strength of shocks.
#pragma once

#include "core/unroll.hpp"
#include "hydro/lone_cells.hpp"
#include "hydro/riemann.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_batches.hpp"
#include "hydro/sweep_scratch.hpp"
#include "hydro/swept_cells.hpp"
#include "hydro/walls.hpp"

namespace octant::hydro {

// The fluxes of Godunov's scheme, which know nothing of how the states on both sides were found.
template <class RiemannSolver>
class GodunovFluxes {
 public:
  static constexpr int points = 7;
  template <class Planes>
  using Surface = FaceAndCellCentres<Planes>;

  KOKKOS_FUNCTION explicit GodunovFluxes(const KernelArguments& a)
      : gas_(a.gas), variables_(a.variables) {}

  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void flux(const Left& left, const Right& right,
                                        const Put& put) const {
    State<V> l, r;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) {
      l[n] = left(upper_face(Axis), n);
      r[n] = right(lower_face(Axis), n);
    }
    State<V> out;
    if constexpr (k_senses_shocks<RiemannSolver>) {
      const V shock = max(left(k_cell_centre, Axis), right(k_cell_centre, Axis));
      out = RiemannSolver::template flux<Axis>(l, r, shock, gas_);
    } else {
      out = RiemannSolver::template flux<Axis>(l, r, gas_);
    }
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) put(n, out[n]);
    for (int n = k_hydro_variables; n < variables_; ++n)
      put(n, scalar_flux(out[k_mass], left(upper_face(Axis), n), right(lower_face(Axis), n)));
  }

 private:
  Gas gas_;
  int variables_;
};

template <int M, class Scheme>
void fluxes_of_plane(const KernelArguments& a, SweepFaces<M> faces, const SweptCells<M>& swept,
                     int axis, int k) {
  const Scheme scheme(a);
  const auto through = [&]<int Axis>() OCTANT_INLINE_LAMBDA {
    swept.for_closed(Axis, k, [&](int j, int i, int side, bool lets_out) {
      close_states<Axis, Scheme>(faces, k, j, i, side, lets_out, a.variables);
    });
    for (int j = 0; j < M + (Axis == 1); ++j)
      for_packs<0, M + (Axis == 0)>(swept.with_fluxes(Axis, k, j), [&](int i) OCTANT_INLINE_LAMBDA {
        flux_through<Axis>(scheme, faces, k, j, i);
      });
    swept.for_closed(Axis, k, [&](int j, int i, int side, bool lets_out) {
      close_flux<Axis>(faces.flux(Axis, k).at(j, i), side, lets_out, a.variables,
                       SweepFaces<M>::FacePlane::stride);
    });
  };
  if (axis == 0) through.template operator()<0>();
  else if (axis == 1) through.template operator()<1>();
  else through.template operator()<2>();
}

template <int M, class Scheme>
void fluxes_of_batch(const KernelArguments& a, const Batch& batch) {
  using Planes = SurfacesInBatch<M, Scheme>;
  using X = PackGrid<0, M, 0, M + 1>;
  using Y = PackGrid<0, M + 1, 0, M>;
  using Z = PackGrid<0, M, 0, M>;
  constexpr int x_end = M * X::packs, y_end = x_end + M * Y::packs;
  const Scheme scheme(a);
  for_tile_items<y_end + (M + 1) * Z::packs>(
      "hydro::fluxes", batch, KOKKOS_LAMBDA(int tile, int n) {
        const TileView view(a.sweep.tiles, batch.first + tile);
        const Planes planes(batch, tile, a.variables);
        const auto through = [&]<int Axis, class Grid>(int m) {
          const int k = m / Grid::packs, j = Grid::j(m % Grid::packs), i = Grid::i(m % Grid::packs);
          for_closed<Axis>(view, k, j, i, [&](int lane, int side, bool lets_out) {
            close_states<Axis, Scheme>(planes, k, j, lane, side, lets_out, a.variables);
          });
          flux_through<Axis>(scheme, planes, k, j, i);
          for_closed<Axis>(view, k, j, i, [&](int lane, int side, bool lets_out) {
            close_flux<Axis>(planes.flux(Axis, k).at(j, lane), side, lets_out, a.variables,
                             Planes::FacePlane::stride);
          });
          if (a.frame.turns()) leave_frame<Axis>(a, view, planes, k, j, i);
        };
        if (n < x_end) through.template operator()<0, X>(n);
        else if (n < y_end) through.template operator()<1, Y>(n - x_end);
        else through.template operator()<2, Z>(n - y_end);
      });
}

// For a repair: through the six faces of each cell.
template <class Scheme>
void fluxes_of_cells(const KernelArguments& a, const BadCell* cells, int count, double* surfaces,
                     double* result) {
  using Surface = typename Scheme::template Surface<BatchFluxes<8>>;
  const Scheme scheme(a);
  const int surface = a.variables * Scheme::points;
  Kokkos::parallel_for(
      "hydro::fluxes_of_cells", 6 * count, KOKKOS_LAMBDA(int f) {
        double* const cell = surfaces + std::int64_t(f / 6) * k_cells_around * surface;
        double* const beyond = cell + (1 + f % 6) * surface;
        const bool is_upper = f % 2 == 1;
        const TileView view(a.sweep.tiles, cells[f / 6].tile);
        const bool closed = is_closed(view, cells[f / 6], f % 6 / 2, f % 2);
        const bool lets_out = view.lets_out(f % 6 / 2, f % 2);
        double* const to = result + std::int64_t(f) * a.variables;
        const auto state = [](const double* of) {
          return [of](int point, int n) { return of[n * Scheme::points + point]; };
        };
        double* const below = is_upper ? cell : beyond;
        double* const above = is_upper ? beyond : cell;
        const auto put = [&](int n, double flux) { to[n] = flux; };
        const auto through = [&]<int Axis>() {
          if (closed)
            set_beyond<Axis, Surface>([&](int point) { return below + point; },
                                      [&](int point) { return above + point; }, f % 2, lets_out,
                                      a.variables, Scheme::points);
          scheme.template flux<Axis, double>(state(below), state(above), put);
          if (closed) close_flux<Axis>(to, f % 2, lets_out, a.variables, 1);
        };
        if (f % 6 / 2 == 0) through.template operator()<0>();
        else if (f % 6 / 2 == 1) through.template operator()<1>();
        else through.template operator()<2>();
      });
}

// None where the program has no schedule for cores.
template <class Scheme>
std::tuple<PlaneFluxes<8>, PlaneFluxes<16>> fluxes_of_planes() {
  if constexpr (k_has_core_schedule)
    return {fluxes_of_plane<8, Scheme>, fluxes_of_plane<16, Scheme>};
  else return {};
}

template <class Scheme>
FluxKernels flux_kernels() {
  return {fluxes_of_planes<Scheme>(),
          {fluxes_of_batch<8, Scheme>, fluxes_of_batch<16, Scheme>},
          fluxes_of_cells<Scheme>};
}

template <class Solver>
SchemeKernels riemann_kernels_of() {
  return {Solver::name, true, k_senses_shocks<Solver>, godunov_states,
          flux_kernels<GodunovFluxes<Solver>>()};
}

}  // namespace octant::hydro
