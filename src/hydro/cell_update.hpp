// The end of a sweep for a pack of cells: their new state, from the fluxes through their faces and
// point sources.
#pragma once

#include "core/unroll.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/needs_repair.hpp"
#include "hydro/sweep_scratch.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

// What a thread learns about the cells that it updates.
template <class V>
struct Outcome {
  V fastest = V(0.0);
  typename PackTraits<V>::Mask bad = typename PackTraits<V>::Mask(false);
};

template <class Planes>
class CellUpdate {
  using FacePlane = typename Planes::FacePlane;
  using InnerPlane = typename Planes::InnerPlane;

 public:
  KOKKOS_FORCEINLINE_FUNCTION CellUpdate(const KernelArguments& arguments, const TileView& view,
                                         const Planes& planes)
      : a_(arguments), view_(view), s_(planes) {}

  // The pack of cells that begins with (i, j, k), where the fluxes of planes k and k + 1 are known.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int k, int j, int i, Outcome<Pack>& outcome) const {
    update_row(view_.block_row(j, k), k, j, i, outcome);
  }

  // The packs of all other planes, in one dimension of all other rows, too, which the fluxes of
  // pack (i, j, 0) stand for.
  KOKKOS_FORCEINLINE_FUNCTION void others(int dimensions, int j, int i,
                                          Outcome<Pack>& outcome) const {
    const int rows = dimensions == 1 ? Planes::patch : 1;
    for (int n = 1; n < Planes::patch * rows; ++n)
      update_row(view_.block_row(j + n % rows, n / rows), 0, j, i, outcome);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void update_row(const BlockRow& row, int k, int j, int i,
                                              Outcome<Pack>& outcome) const {
    if (a_.sweep.tiles.block_size >= PackTraits<Pack>::width) update(row, k, j, i, outcome);
    else one_by_one(row, k, j, i, outcome);
  }

  // Blocks narrower than a pack.
  KOKKOS_INLINE_FUNCTION void one_by_one(const BlockRow& row, int k, int j, int first,
                                         Outcome<Pack>& outcome) const {
    Outcome<double> each;
    for (int i = first; i < first + PackTraits<Pack>::width; ++i) update(row, k, j, i, each);
    outcome.fastest = max(outcome.fastest, Pack(each.fastest));
    outcome.bad = outcome.bad || typename PackTraits<Pack>::Mask(each.bad);
  }

  // Cells that belong to this rank; others stay as they are.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void update(const BlockRow& row, int k, int j, int i,
                                          Outcome<W>& outcome) const {
    using Q = PackTraits<W>;
    const int entry = view_.entry(row, i);
    if (entry < 0 || view_.box(entry).buffer != mesh::k_own) return;
    const int stride = view_.box(entry).stride_variable;
    const std::int64_t offset = view_.offset(row, entry, i);
    const double* from = a_.sweep.current.buffer[mesh::k_own] + offset;
    double* to = a_.sweep.next + offset;

    const double* fx = s_.flux(0, k).at(j, i);
    const double* fy = s_.flux(1, k).at(j, i);
    const double* fz = s_.flux(2, k).at(j, i);
    const double* fz_top = s_.flux(2, k + 1).at(j, i);
    const auto advanced = [&](int n, const W& u) OCTANT_INLINE_LAMBDA {
      const int m = n * FacePlane::stride;
      const W x = Q::load(fx + m) - Q::load(fx + m + 1);
      const W y_in = Q::load(fy + m), y_out = Q::load(fy + m + FacePlane::row);
      const W total = (((Q::load(fz + m) + x) + y_in) - y_out) - Q::load(fz_top + m);
      return W(u + W(a_.dt_over_dx) * total);
    };
    const auto blended = [&](int n, const W& u) OCTANT_INLINE_LAMBDA {
      if (!a_.blended) return u;
      const W stage = W(a_.sweep.a1) * u;
      if (a_.sweep.a0 == 0.0) return stage;
      return W(W(a_.sweep.a0) * Q::load(a_.sweep.old + offset + n * stride) + stage);
    };

    const State<W> before = load_state<W>(from, stride);
    State<W> u;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = advanced(n, before[n]);
    if (a_.sources.any()) accelerate(before, view_.place<W>(a_.sweep, k, j, i), u);
    if (a_.frame.turns()) turn(before, u);
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = blended(n, u[n]);
    const auto next_scalar = [&](int n) OCTANT_INLINE_LAMBDA {
      return blended(n, advanced(n, Q::load(from + n * stride)));
    };
    W entropy = W(0.0);
    const W conserved = u[k_energy];
    if (a_.gas.dual_energy) {
      entropy = next_scalar(k_entropy);
      if (a_.guards_entropy) {
        const double* error = s_.truncation(k).at(j, i);
        guard_entropy(u, entropy, Q::load(error), Q::load(error + InnerPlane::stride),
                      a_.overwrites_energy, a_.gas);
      } else {
        follow_energy(u, entropy, a_.gas);
      }
      Q::store(to + k_entropy * stride, entropy);
    }
    for (int n = k_hydro_variables + a_.gas.dual_energy; n < a_.variables; ++n)
      Q::store(to + n * stride, next_scalar(n));
    if (a_.spin >= 0) spin<W>(from, k, j, i, stride, to);
    store_state(to, stride, u);
    judge(u, entropy, k, j, i, outcome);
    const std::int64_t cell = offset - view_.box(entry).base;
    if (a_.sweep.face_flow) {
      const auto add = [&](int axis, int side, const double* flux) OCTANT_INLINE_LAMBDA {
        double* flow = a_.sweep.face_flow.of_face(entry, axis, side) + cell;
        Q::store(flow, Q::load(flow) + W(a_.sweep.flux_weight) * Q::load(flux));
      };
      add(0, 0, fx), add(0, 1, fx + 1);
      add(1, 0, fy), add(1, 1, fy + FacePlane::row);
      add(2, 0, fz), add(2, 1, fz_top);
    }
    if (!a_.sweep.mass_flow) return;
    if (a_.sweep.energy_taken) {
      double* taken = a_.sweep.energy_taken + a_.cells_per_block * entry + cell;
      Q::store(taken, Q::load(taken) + (conserved - u[k_energy]));
    }
    double* flow = a_.sweep.mass_flow + 3 * a_.cells_per_block * entry + cell;
    const auto add = [&](const W& in, const W& out) OCTANT_INLINE_LAMBDA {
      Q::store(flow, Q::load(flow) + W(0.5 * a_.sweep.flux_weight) * (in + out));
      flow += a_.cells_per_block;
    };
    add(Q::load(fx), Q::load(fx + 1));
    add(Q::load(fy), Q::load(fy + FacePlane::row));
    add(Q::load(fz), Q::load(fz_top));
  }

  // Adds the point sources. Hancock's step is centred in time; in a Runge-Kutta stage sources are
  // those of the state which the fluxes come from.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void accelerate(const State<W>& before, const Vector<W>& place,
                                              State<W>& u) const {
    const double now = a_.hancock ? 0.5 : 1.0, later = 1.0 - now;
    const W density = W(now) * before[k_mass] + W(later) * u[k_mass];
    Vector<W> velocity;
    for (int n = 0; n < 3; ++n)
      velocity[n] = (W(now) * before[k_momentum_x + n] + W(later) * u[k_momentum_x + n]) / density;
    const Vector<W> kick = a_.sources.kick(velocity, place);
    OCTANT_UNROLL(8)
    for (int n = 0; n < 3; ++n) {
      const int m = k_momentum_x + n;
      u[m] = u[m] + kick[n] * density;
      u[k_energy] = u[k_energy] + kick[n] * (W(now) * before[m] + W(later) * u[m]);
    }
  }

  // Turns the momentum back as the axes turn: d_t s = -w x s. Hancock's step takes the mean of old
  // and new momentum for s, which keeps flows that rest in the frame as well as those that rest
  // outside of it.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void turn(const State<W>& before, State<W>& u) const {
    const W angle(a_.sweep.dt * a_.frame.angular_velocity * (a_.hancock ? 0.5 : 1.0));
    const W x = u[k_momentum_x] + angle * before[k_momentum_y];
    const W y = u[k_momentum_y] - angle * before[k_momentum_x];
    u[k_momentum_x] = x, u[k_momentum_y] = y;
    if (!a_.hancock) return;
    const W shrink = W(1.0) / (W(1.0) + angle * angle);
    u[k_momentum_x] = shrink * (x + angle * y);
    u[k_momentum_y] = shrink * (y - angle * x);
  }

  // What momentum that passes from the middle of one face to that of another takes out of a cell's
  // angular momentum about its centre, so that the sum of x times momentum and spin is that of
  // fluxes at faces, x_face x F: d_t spin = -sum of e_axis x (F below + F above) / 2 beside what
  // moves with the gas. Where the frame turns, momentum turns about the origin, too.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void spin(const double* from, int k, int j, int i, int stride,
                                        double* to) const {
    using Q = PackTraits<W>;
    Vector<W> gain{W(0.0), W(0.0), W(0.0)};  // per dt
    OCTANT_UNROLL(3)
    for (int axis = 0; axis < 3; ++axis) {
      const int b = (axis + 1) % 3, c = (axis + 2) % 3;
      const auto both = [&](int d) OCTANT_INLINE_LAMBDA {
        const int n = k_momentum_x + d;
        const double* below = s_.flux(axis, k).at(j, i) + n * FacePlane::stride;
        const double* above = axis == 2   ? s_.flux(2, k + 1).at(j, i) + n * FacePlane::stride
                              : axis == 1 ? below + FacePlane::row
                                          : below + 1;
        return W(Q::load(below) + Q::load(above));
      };
      gain[b] = gain[b] + W(0.5) * both(c);
      gain[c] = gain[c] - W(0.5) * both(b);
    }
    if (a_.frame.turns()) {
      const auto now = [&](int n) OCTANT_INLINE_LAMBDA { return Q::load(from + n * stride); };
      const Vector<W> x = view_.place<W>(a_.sweep, k, j, i);
      const W along_x = a_.frame.velocity_x(x[1]), along_y = a_.frame.velocity_y(x[0]);
      const W turning(a_.frame.angular_velocity);
      const W sx = now(k_momentum_x), sy = now(k_momentum_y), sz = now(k_momentum_z);
      gain[0] = gain[0] + (turning * now(a_.spin + 1) - sz * along_y);
      gain[1] = gain[1] - (turning * now(a_.spin) - sz * along_x);
      gain[2] = gain[2] + (sx * along_y - sy * along_x);
    }
    const W dt(a_.sweep.a1 * a_.sweep.dt);
    OCTANT_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      double* const value = to + (a_.spin + d) * stride;
      Q::store(value, Q::load(value) + dt * gain[d]);
    }
  }

  // Takes note of the new state's signal speed on the mesh, and of a state below the floors (or no
  // number at all).
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void judge(const State<W>& u, const W& entropy, int k, int j, int i,
                                         Outcome<W>& outcome) const {
    State<W> w = physical_state(u, entropy, a_.gas);
    outcome.bad = outcome.bad || needs_repair(u, w, entropy, a_);
    w[k_pressure] = max(w[k_pressure], W(a_.gas.pressure_floor));
    if (a_.frame.turns()) to_frame(a_.frame, view_.place<W>(a_.sweep, k, j, i), w);
    outcome.fastest = max(outcome.fastest, signal_speed(w, a_.gas));
  }

  const KernelArguments& a_;
  const TileView& view_;
  const Planes& s_;
};

}  // namespace octant::hydro
