// The flux through one face alone, from the boxes around a tile: by the same bodies of the scheme
// as in a sweep, hence with the same bits.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "hydro/riemann.hpp"
#include "hydro/scheme.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/interpolation.hpp"

namespace octant::hydro {

// Cell of a tile's patch or of its ghosts.
struct PatchCell {
  int index[3];

  KOKKOS_FORCEINLINE_FUNCTION PatchCell shifted(int axis, int by) const {
    PatchCell other = *this;
    other.index[axis] += by;
    return other;
  }
};

template <class Scheme>
class FaceFlux {
  using Cell = State<double>;
  static constexpr int k_points = Scheme::points;

 public:
  KOKKOS_FUNCTION FaceFlux(const KernelArguments& arguments, const Scheme& scheme, int tile)
      : a_(arguments), scheme_(scheme), view_(arguments.sweep.tiles, tile) {}

  // difference[n] = first-order minus high-order flux of variable n through the lower face of
  // `right`.
  template <int Axis>
  KOKKOS_FUNCTION void difference(const PatchCell& right, double* difference) const {
    const PatchCell left = right.shifted(Axis, -1);
    const Surface below(*this, left), above(*this, right);
    scheme_.template flux<Axis, double>([&](int point, int n) { return below.state[n][point]; },
                                        [&](int point, int n) { return above.state[n][point]; },
                                        [&](int n, double flux) { difference[n] = flux; });
    const Cell low = Llf::flux<Axis>(gas(left), gas(right), a_.gas);
    Cell change;
    for (int n = 0; n < k_hydro_variables; ++n) change[n] = low[n] - difference[n];
    if (a_.frame.turns())
      change = view_.template out_of_frame<Axis>(a_.frame, a_.sweep, change, right.index[1],
                                                 right.index[0]);
    store_state(difference, 1, change);
    for (int n = k_hydro_variables; n < a_.variables; ++n)
      difference[n] =
          scalar_flux(low[k_mass], concentration(left, n), concentration(right, n)) - difference[n];
  }

 private:
  // The states on a cell's surface.
  struct Surface {
    double state[mesh::k_max_variables][k_points];

    KOKKOS_FUNCTION Surface(const FaceFlux& from, const PatchCell& c) {
      from.scheme_.template reconstruct<true, double>(
          [&](int n, int x, int y, int z) {
            return from.primitive({{c.index[0] + x, c.index[1] + y, c.index[2] + z}}, n);
          },
          [&] { return from.place(c); },
          [&](int point, int n, double value) { state[n][point] = value; });
    }
  };

  // A cell's conserved variables, by number.
  KOKKOS_FUNCTION auto conserved(const PatchCell& c) const {
    const CellPointer p =
        view_.cell(a_.sweep.current, view_.block_row(c.index[1], c.index[2]), c.index[0]);
    return [p](int n) { return p.from[n * p.stride]; };
  }
  // One of the scheme's variables.
  KOKKOS_FUNCTION double primitive(const PatchCell& c, int variable) const {
    double value = 0.0;
    scheme_.template primitives<double>(conserved(c), [&](int n, double w) {
      if (n == variable) value = w;
    });
    if (variable == k_velocity_x)
      value -= a_.frame.velocity_x(view_.coordinate(a_.sweep, 1, c.index[1]));
    if (variable == k_velocity_y)
      value -= a_.frame.velocity_y(view_.coordinate(a_.sweep, 0, c.index[0]));
    return value;
  }
  KOKKOS_FUNCTION Cell gas(const PatchCell& c) const {
    double volume;
    Cell w = to_primitive(conserved(c), a_.gas, volume);
    if (a_.frame.turns()) to_frame(a_.frame, place(c), w);
    return w;
  }
  KOKKOS_FUNCTION Vector<double> place(const PatchCell& c) const {
    return view_.template place<double>(a_.sweep, c.index[2], c.index[1], c.index[0]);
  }
  KOKKOS_FUNCTION double concentration(const PatchCell& c, int n) const {
    double volume;
    to_primitive(conserved(c), a_.gas, volume);
    return conserved(c)(n) * volume;
  }

  const KernelArguments& a_;
  const Scheme& scheme_;
  TileView view_;
};

}  // namespace octant::hydro
