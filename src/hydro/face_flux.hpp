// The flux through one face alone, from the boxes around a tile: the same point functions in the
// same order as the sweep's, hence the same bits.
#pragma once

#include "hydro/curved_half_step.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/riemann.hpp"
#include "hydro/tile_view.hpp"

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

template <class Reconstruction, class RiemannSolver>
class FaceFlux {
  static constexpr int reach = Reconstruction::reach;
  using Profile = typename Reconstruction::template Profile<double>;
  using Cell = State<double>;

 public:
  KOKKOS_FUNCTION FaceFlux(const KernelArguments& arguments, int tile)
      : a_(arguments), view_(arguments.sweep.tiles, tile) {}

  // difference[n] = first-order minus high-order flux of variable n through the lower face of
  // `right`.
  template <int Axis>
  KOKKOS_FUNCTION void difference(const PatchCell& right, double* difference) const {
    const PatchCell left = right.shifted(Axis, -1);
    const Prediction below(*this, left), above(*this, right);
    const Cell high = RiemannSolver::template flux<Axis>(
        below.template face<Axis>(a_.gas, true), above.template face<Axis>(a_.gas, false), a_.gas);
    const Cell low = Llf::flux<Axis>(below.centre, above.centre, a_.gas);
    for (int n = 0; n < k_hydro_variables; ++n) difference[n] = low[n] - high[n];
    for (int n = k_hydro_variables; n < a_.variables; ++n) {
      const double high_scalar =
          scalar_flux(high[k_mass], below.template scalar<Axis>(*this, left, n, true),
                      above.template scalar<Axis>(*this, right, n, false));
      difference[n] = scalar_flux(low[k_mass], scalar(left, n), scalar(right, n)) - high_scalar;
    }
  }

 private:
  KOKKOS_FUNCTION CellPointer pointer(const PatchCell& c) const {
    return view_.cell(a_.sweep.current, view_.block_row(c.index[1], c.index[2]), c.index[0]);
  }
  KOKKOS_FUNCTION Cell primitive(const PatchCell& c) const {
    const CellPointer p = pointer(c);
    double volume;
    return to_primitive([&](int n) { return p.from[n * p.stride]; }, a_.gas, volume);
  }
  KOKKOS_FUNCTION double scalar(const PatchCell& c, int n) const {
    const CellPointer p = pointer(c);
    double volume;
    to_primitive([&](int m) { return p.from[m * p.stride]; }, a_.gas, volume);
    return p.from[n * p.stride] * volume;
  }

  // A cell's profiles and its state in the middle of the step.
  struct Prediction {
    Cell centre, mid;
    Profile profile[3][k_hydro_variables];
    HalfStep<double> half_step;

    KOKKOS_FUNCTION Prediction(const FaceFlux& from, const PatchCell& c)
        : centre(from.primitive(c)), half_step(centre, 0.5 * from.a_.dt_over_dx) {
      Cell slope[3];
      for (int axis = 0; axis < 3; ++axis) {
        Cell q[2 * reach + 1];
        for (int o = -reach; o <= reach; ++o) q[o + reach] = from.primitive(c.shifted(axis, o));
        for (int n = 0; n < k_hydro_variables; ++n) {
          profile[axis][n] =
              Reconstruction::template profile<double>([&](int o) { return q[o + reach][n]; });
          slope[axis][n] = profile[axis][n].difference();
        }
      }
      mid = from.a_.middle(centre, half_step, slope[0], slope[1], slope[2]);
      if constexpr (Profile::is_curved) {
        if (!from.a_.hancock) return;
        const double h = 0.5 * from.a_.dt_over_dx;
        tilt<0>(centre, half_step.vx, h, from.a_.gas, profile[0]);
        tilt<1>(centre, half_step.vy, h, from.a_.gas, profile[1]);
        tilt<2>(centre, half_step.vz, h, from.a_.gas, profile[2]);
      }
    }

    template <int Axis>
    KOKKOS_FUNCTION Cell face(const Gas& gas, bool upper) const {
      Cell w;
      for (int n = 0; n < k_hydro_variables; ++n)
        w[n] = upper ? profile[Axis][n].upper(mid[n]) : profile[Axis][n].lower(mid[n]);
      w[k_density] = max(w[k_density], gas.density_floor);
      w[k_pressure] = max(w[k_pressure], gas.pressure_floor);
      return w;
    }

    template <int Axis>
    KOKKOS_FUNCTION double scalar(const FaceFlux& from, const PatchCell& c, int n,
                                  bool upper) const {
      Profile s[3];
      for (int axis = 0; axis < 3; ++axis)
        s[axis] = Reconstruction::template profile<double>(
            [&](int o) { return from.scalar(c.shifted(axis, o), n); });
      double q = from.scalar(c, n);
      if (from.a_.hancock) {
        q = half_step.advance(q, s[0].difference(), s[1].difference(), s[2].difference());
        if constexpr (Profile::is_curved)
          tilt_scalar(Axis == 0 ? half_step.vx : Axis == 1 ? half_step.vy : half_step.vz, s[Axis]);
      }
      return upper ? s[Axis].upper(q) : s[Axis].lower(q);
    }
  };

  const KernelArguments& a_;
  TileView view_;
};

}  // namespace octant::hydro
