// Final part of a sweep: new states of cells, from face fluxes and point sources, and fluxes at
// coarse-fine boundaries for the flux registers.
#pragma once

#include "core/compiler.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

// Largest signal speed of the cells that a thread updates, and whether any of them needs repair.
template <class V>
struct UpdateResult {
  V fastest = V(0.0);
  typename SimdTraits<V>::Mask bad = typename SimdTraits<V>::Mask(false);
};

// Final kernel step for the cells of one tile: the new conserved state from face fluxes and
// sources. `Planes` is the memory layout of the CPU or the device schedule, G the type of the gas.
template <class Planes, class G>
class CellUpdate {
  using FacePlane = typename Planes::FacePlane;
  using InnerPlane = typename Planes::InnerPlane;

 public:
  KOKKOS_FORCEINLINE_FUNCTION CellUpdate(const KernelArguments& arguments, const TileView& view,
                                         const Planes& planes)
      : a_(arguments), gas_(arguments.gas_as<G>()), view_(view), s_(planes) {}

  // Updates the pack of cells that begins at (i, j, k); the fluxes of planes k and k + 1 must be
  // complete.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int k, int j, int i,
                                              UpdateResult<SimdDouble>& result) const {
    update_row(view_.block_row(j, k), k, j, i, result);
  }

  // Updates the packs of all other planes (and, in one dimension, of all other rows) with the
  // fluxes of pack (i, j, 0), because the gas does not vary along these axes.
  KOKKOS_FORCEINLINE_FUNCTION void others(int dimensions, int j, int i,
                                          UpdateResult<SimdDouble>& result) const {
    const int rows = dimensions == 1 ? Planes::patch : 1;
    for (int n = 1; n < Planes::patch * rows; ++n)
      update_row(view_.block_row(j + n % rows, n / rows), 0, j, i, result);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void update_row(const BlockRow& row, int k, int j, int i,
                                              UpdateResult<SimdDouble>& result) const {
    if (a_.sweep.tiles.block_size >= SimdTraits<SimdDouble>::width) update(row, k, j, i, result);
    else one_by_one(row, k, j, i, result);
  }

  // Updates cells one by one, in blocks narrower than a pack.
  KOKKOS_INLINE_FUNCTION void one_by_one(const BlockRow& row, int k, int j, int first,
                                         UpdateResult<SimdDouble>& result) const {
    UpdateResult<double> each;
    for (int i = first; i < first + SimdTraits<SimdDouble>::width; ++i) update(row, k, j, i, each);
    result.fastest = max(result.fastest, SimdDouble(each.fastest));
    result.bad = result.bad || typename SimdTraits<SimdDouble>::Mask(each.bad);
  }

  // Updates cells of one block, a pack or a single cell, if this rank owns the block.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void update(const BlockRow& row, int k, int j, int i,
                                          UpdateResult<W>& result) const {
    using Q = SimdTraits<W>;
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
    if (a_.sources.any()) accelerate(before, view_.position<W>(a_.sweep, k, j, i), u);
    if (a_.frame.turns()) turn(before, u);
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = blended(n, u[n]);
    const auto next_scalar = [&](int n) OCTANT_INLINE_LAMBDA {
      return blended(n, advanced(n, Q::load(from + n * stride)));
    };
    W entropy = W(0.0);
    const W conserved = u[k_energy];
    if (gas_.dual_energy) {
      entropy = next_scalar(k_entropy);
      if (a_.guards_entropy) {
        const double* error = s_.truncation(k).at(j, i);
        guard_entropy(u, entropy, Q::load(error), Q::load(error + InnerPlane::stride),
                      a_.overwrites_energy, gas_);
      } else {
        follow_energy(u, entropy, gas_);
      }
      Q::store(to + k_entropy * stride, entropy);
    }
    for (int n = k_hydro_variables + gas_.dual_energy; n < a_.variables; ++n)
      Q::store(to + n * stride, next_scalar(n));
    if (a_.spin >= 0) spin<W>(from, k, j, i, stride, to);
    store_state(to, stride, u);
    check_state(u, entropy, k, j, i, result);
    const std::int64_t cell = offset - view_.box(entry).base;
    if (a_.sweep.face_flow) {
      const auto add = [&](int axis, int side, const double* flux) OCTANT_INLINE_LAMBDA {
        double* flow = a_.sweep.face_flow.through_face(entry, axis, side) + cell;
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

  // Adds the point sources. Hancock's step is centred in time; a Runge-Kutta stage uses the state
  // from which its fluxes are computed.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void accelerate(const State<W>& before, const Vector<W>& position,
                                              State<W>& u) const {
    const double now = a_.hancock ? 0.5 : 1.0, later = 1.0 - now;
    const W density = W(now) * before[k_mass] + W(later) * u[k_mass];
    Vector<W> velocity;
    for (int n = 0; n < 3; ++n)
      velocity[n] = (W(now) * before[k_momentum_x + n] + W(later) * u[k_momentum_x + n]) / density;
    const Vector<W> kick = a_.sources.kick(velocity, position);
    OCTANT_UNROLL(8)
    for (int n = 0; n < 3; ++n) {
      const int m = k_momentum_x + n;
      u[m] = u[m] + kick[n] * density;
      u[k_energy] = u[k_energy] + kick[n] * (W(now) * before[m] + W(later) * u[m]);
    }
  }

  // Rotates the momentum with the axes of the frame: d_t s = -w x s. Hancock's step uses the mean
  // of old and new momentum for s, which preserves flows at rest in the rotating and in the
  // inertial frame.
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

  // Adds the source of the spin, which is a cell's angular momentum about its own centre: momentum
  // fluxes act at faces, half a cell from the centre. The total angular momentum, position x
  // momentum + spin, then changes only by the fluxes x_face x F through faces: d_t spin = -sum of
  // e_axis x (F below + F above) / 2 besides advection. A rotating frame adds -w x spin, the
  // rotation of the axes, and momentum x frame velocity.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void spin(const double* from, int k, int j, int i, int stride,
                                        double* to) const {
    using Q = SimdTraits<W>;
    Vector<W> gain{W(0.0), W(0.0), W(0.0)};  // source per unit time
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
      const Vector<W> x = view_.position<W>(a_.sweep, k, j, i);
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

  // Records the new state's signal speed relative to the mesh, and whether the state needs repair.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void check_state(const State<W>& u, const W& entropy, int k, int j,
                                               int i, UpdateResult<W>& result) const {
    decltype(cold_state(entropy, gas_)) cold;
    State<W> w = physical_state(u, entropy, gas_, cold);
    result.bad = result.bad || needs_repair(u, w, entropy, gas_, a_.guards_entropy);
    w[k_pressure] = max(w[k_pressure], W(gas_.pressure_floor));
    if (a_.frame.turns()) to_frame(a_.frame, view_.position<W>(a_.sweep, k, j, i), w);
    result.fastest = max(result.fastest, signal_speed(w, cold, gas_));
  }

  const KernelArguments& a_;
  const G& gas_;
  const TileView& view_;
  const Planes& s_;
};

// Adds the face fluxes of a tile to the flux registers of coarse-fine boundaries.
template <class Planes>
class FluxRegisterSums {
 public:
  KOKKOS_FORCEINLINE_FUNCTION FluxRegisterSums(const KernelArguments& arguments,
                                               const TileView& view, const Planes& planes,
                                               int dimensions = 3)
      : a_(arguments), view_(view), s_(planes), dimensions_(dimensions) {}

  // Adds the fluxes that are complete after plane k: the z faces below plane k, and the x and y
  // faces in plane k, or in planes k - 1 and k if a register averages two planes. In fewer than
  // three dimensions the x and y faces in plane 0 represent all planes.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void plane(const Member& team, int k) const {
    for (int r = view_.tile().request_begin; r < view_.tile().request_end; ++r) {
      const mesh::FluxRegisterFaces& request = a_.sweep.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      int b_first = request.b_begin, b_last = request.b_end;
      if (request.axis == 2) {
        if (request.plane != k) continue;
      } else if (dimensions_ < 3) {
        if (k != 0) continue;
      } else {
        const int b = k + 1 - step;  // first of the `step` planes whose average ends with plane k
        if (k == Planes::patch || b < b_first || b >= b_last || (b - b_first) % step != 0) continue;
        b_first = b, b_last = b + 1;
      }
      const int across = (request.a_end - request.a_begin) / step;
      const int rows = (b_last - b_first + step - 1) / step;
      mesh::in_team(team, across * rows, [&](int n) {
        const int a = request.a_begin + n % across * step, b = b_first + n / across * step;
        for (int v = 0; v < a_.variables; ++v) answer(request, step, v, a, b);
      });
    }
  }

  // Adds the fluxes of every `shares`-th request of the tile, from number `share` on, with one
  // thread for each variable of each face. All fluxes of the tile must be complete.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void all(const Member& team, int share, int shares) const {
    for (int r = view_.tile().request_begin + share; r < view_.tile().request_end; r += shares) {
      const mesh::FluxRegisterFaces& request = a_.sweep.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      const int across = (request.a_end - request.a_begin) / step;
      const int faces = across * ((request.b_end - request.b_begin) / step);
      mesh::in_team(team, faces * a_.variables, [&](int n) {
        const int face = n % faces;
        answer(request, step, n / faces, request.a_begin + face % across * step,
               request.b_begin + face / across * step);
      });
    }
  }

 private:
  // Adds the flux of variable v through the face at (a, b), or the mean over the 2 by 2 faces from
  // there on if `step` is 2. The mean flux of spin includes the torque of the momentum fluxes about
  // the centre of the four faces, at which the mean momentum flux acts.
  KOKKOS_INLINE_FUNCTION void answer(const mesh::FluxRegisterFaces& request, int step, int v, int a,
                                     int b) const {
    a_.sweep.registers[request.base + v * request.stride_variable +
                       (b - request.b_begin) / step * request.stride_b +
                       (a - request.a_begin) / step] +=
        a_.sweep.flux_weight * flux(request, v, a, b);
  }

  // Flux of variable v through the face at (a, b).
  KOKKOS_INLINE_FUNCTION double face_flux(const mesh::FluxRegisterFaces& request, int v, int a,
                                          int b) const {
    const int m = v * Planes::FacePlane::stride;
    const int plane = dimensions_ < 3 ? 0 : b, row = dimensions_ < 2 ? 0 : a;
    if (request.axis == 0) return s_.flux(0, plane).at(row, request.plane)[m];
    if (request.axis == 1) return s_.flux(1, plane).at(request.plane, a)[m];
    return s_.flux(2, request.plane).at(b, a)[m];
  }

  KOKKOS_INLINE_FUNCTION double flux(const mesh::FluxRegisterFaces& request, int v, int a,
                                     int b) const {
    const auto face = [&](int da, int db) { return face_flux(request, v, a + da, b + db); };
    if (!request.average) return face(0, 0);
    const double mean = ((face(0, 0) + face(1, 0)) + (face(0, 1) + face(1, 1))) * 0.25;
    if (a_.spin < 0 || v < a_.spin || v >= a_.spin + 3) return mean;
    return mean + torque(request, v - a_.spin, a, b);
  }

  // Component d of the mean of (x - x_mean) x F over the 2 by 2 faces from (a, b) on, where F is
  // the momentum flux.
  KOKKOS_INLINE_FUNCTION double torque(const mesh::FluxRegisterFaces& request, int d, int a,
                                       int b) const {
    // differences of the flux of a momentum component across the faces along an axis
    const auto differences = [&](int component, int along) {
      if (along == request.axis) return 0.0;
      const auto face = [&](int da, int db) {
        return face_flux(request, k_momentum_x + component, a + da, b + db);
      };
      const bool is_first = along == (request.axis == 0 ? 1 : 0);  // axis of index a, not of b
      return is_first ? (face(1, 0) - face(0, 0)) + (face(1, 1) - face(0, 1))
                      : (face(0, 1) - face(0, 0)) + (face(1, 1) - face(1, 0));
    };
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    return 0.125 * a_.sweep.dx * (differences(f, e) - differences(e, f));
  }

  const KernelArguments& a_;
  const TileView& view_;
  const Planes& s_;
  int dimensions_;
};

}  // namespace octant::hydro
