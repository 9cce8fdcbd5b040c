// The sweep as a Kokkos team kernel: league over tiles; the team shares the rows (CPU) or the cells
// (GPU) of a plane. Everything lives in team scratch, nothing large in a thread.
//
// The team marches through the planes k of its patch. Per plane there are two barriers:
//
//   stage 1  face states of plane k, from a ring of primitive planes
//   ------- barrier
//   stage 2  z fluxes below plane k, which completes plane k-1: its new state is written
//            x and y fluxes of plane k
//            the next plane is gathered into the ring slot that stage 1 needs no longer
//   ------- barrier
//
// and, for tiles with flux requests, a pass over the plane's fluxes and a third barrier.
#pragma once

#include "core/cycles.hpp"
#include "hydro/curved_half_step.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/exact_riemann.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/patch_scratch.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

template <int M_, class Reconstruction, class RiemannSolver>
class SweepKernel {
 public:
  using V = Pack;
  using P = PackTraits<V>;
  using Cell = State<V>;
  using Scratch = PatchScratch<M_, Reconstruction::reach>;
  using PrimitivePlane = typename Scratch::PrimitivePlane;
  using FacePlane = typename Scratch::FacePlane;
  using Policy = Kokkos::TeamPolicy<>;
  using Member = Policy::member_type;
  static constexpr int M = M_, reach = Reconstruction::reach, g = reach + 1, width = P::width;

  explicit SweepKernel(const KernelArguments& arguments) : a_(arguments) {}

  // Advances all tiles; returns the largest signal speed of the new state.
  double run() const {
    constexpr int threads = width > 1 ? 1 : M * M;
    Policy policy(a_.sweep.tiles.count(), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::bytes(a_.variables)));
    double fastest = 0;
    Kokkos::parallel_reduce("hydro::sweep", policy, *this, Kokkos::Max<double>(fastest));
    return fastest;
  }

  KOKKOS_FUNCTION void operator()(const Member& team, double& fastest) const {
    const std::uint64_t begun = cycle_count();
    const TileView view(a_.sweep.tiles, team.league_rank());
    const Scratch scratch(team, a_.variables);
    const bool requested = view.tile().request_begin < view.tile().request_end;
    Outcome outcome;
    make_safe_cell(team, scratch);
    for (int k = -g; k < reach; ++k) gather(team, view, scratch, k);
    team.team_barrier();
    for (int k = -1; k <= M; ++k) {
      const bool inside = k >= 0 && k < M;
      if (inside) face_states<true>(team, scratch, k);
      else face_states<false>(team, scratch, k);
      if (a_.guards_entropy) estimate_truncation(team, scratch, k);
      team.team_barrier();
      if (k >= 0) z_fluxes_and_update(team, view, scratch, k, outcome);
      if (inside) xy_fluxes(team, scratch, k);
      if (k + g < M + g) gather(team, view, scratch, k + g);
      team.team_barrier();
      if (requested && k >= 0) {
        answer_requests(team, view, scratch, k);
        team.team_barrier();
      }
    }
    if (any(outcome.bad)) a_.sweep.bad_tiles[team.league_rank()] = 1;
    fastest = max(fastest, largest(outcome.fastest));
    if (a_.sweep.tile_cycles && team.team_rank() == 0)
      a_.sweep.tile_cycles[team.league_rank()] += cycle_count() - begun;
  }

 private:
  // What a thread learns about the cells that it updates.
  struct Outcome {
    V fastest = V(0.0);
    typename P::Mask bad = typename P::Mask(false);
  };

  // body(j, i) for packs that begin at columns i_first, i_first + width, ... and cover [i_first,
  // i_last) of rows [j_first, j_last): rows of packs on a CPU, one cell per thread on a GPU
  // (extents are compile-time: the division is a multiply and a shift).
  template <int j_first, int j_last, int i_first, int i_last, class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_packs(const Member& team, const Body& body) {
    constexpr int rows = j_last - j_first, columns = i_last - i_first;
    if constexpr (width > 1) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int n) {
        for (int i = i_first; i < i_last; i += width) body(j_first + n, i);
      });
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * columns),
                           [&](int n) { body(j_first + n / columns, i_first + n % columns); });
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static int overhang(int index) {
    const int beyond = index < 0 ? -index : index - (M - 1);
    return beyond > 0 ? beyond : 0;
  }

  // --- gather: ghosts whose overhangs sum to g at most, as primitives ---
  KOKKOS_FORCEINLINE_FUNCTION void make_safe_cell(const Member& team, const Scratch& s) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int n = 0; n < a_.variables; ++n) s.safe_cell()[n] = 0.0;
      s.safe_cell()[k_mass] = 1.0;
      s.safe_cell()[k_energy] = 1.0 / (a_.gas.gamma - 1.0);
    });
    team.team_barrier();
  }

  KOKKOS_FORCEINLINE_FUNCTION void gather(const Member& team, const TileView& view,
                                          const Scratch& s, int k) const {
    constexpr int across = M + 2 * g;
    if constexpr (width > 1) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, across), [&](int n) {
        const int spare = g - overhang(k) - overhang(n - g);
        if (spare >= 0) gather_row(view, s, k, n - g, spare);
      });
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, across * across), [&](int n) {
        const int j = n / across - g, i = n % across - g;
        if (overhang(k) + overhang(j) + overhang(i) > g) return;
        const BlockRow row = view.block_row(j, k);
        gather_scattered(
            s, s.primitive(k), j, 1, [&](int) { return i; },
            [&](int) { return view.cell(a_.sweep.current, row, i); });
      });
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void gather_row(const TileView& view, const Scratch& s, int k, int j,
                                              int spare) const {
    const PrimitivePlane to = s.primitive(k);
    const BlockRow row = view.block_row(j, k);
    const int run = M < a_.sweep.tiles.block_size ? M : a_.sweep.tiles.block_size;
    for (int first = 0; first<M; first += run> width ? run : width) {
      const CellPointer cells = view.cell(a_.sweep.current, row, first);
      if (run >= width && cells.from) {
        for (int i = 0; i < run; i += width)
          gather_pack(cells.from + i, cells.stride, to.at(j, first + i));
      } else {
        for (int i = first; i < first + (run > width ? run : width); i += width)
          gather_scattered(
              s, to, j, width, [&](int lane) { return i + lane; },
              [&](int lane) { return view.cell(a_.sweep.current, row, i + lane); });
      }
    }
    if (spare > 0) gather_x_ghosts(view, s, to, row, j, spare);
  }

  // Left and right ghosts share packs: one conversion of a pack costs little more than one of a
  // cell.
  KOKKOS_FORCEINLINE_FUNCTION void gather_x_ghosts(const TileView& view, const Scratch& s,
                                                   const PrimitivePlane& to, const BlockRow& row,
                                                   int j, int spare) const {
    const CellPointer left = view.cell(a_.sweep.current, row, -spare);
    const CellPointer right = view.cell(a_.sweep.current, row, M);
    for (int first = 0; first < 2 * spare; first += width) {
      const int count = 2 * spare - first < width ? 2 * spare - first : width;
      gather_scattered(
          s, to, j, count,
          [&](int lane) OCTANT_INLINE_LAMBDA {
            const int n = first + lane;
            return n < spare ? n - spare : M + n - spare;
          },
          [&](int lane) OCTANT_INLINE_LAMBDA -> CellPointer {
            const int n = first + lane;
            const CellPointer& side = n < spare ? left : right;
            return {side.from ? side.from + (n < spare ? n : n - spare) : nullptr, side.stride};
          });
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void gather_pack(const double* from, int from_stride,
                                               double* to) const {
    convert([&](int n) OCTANT_INLINE_LAMBDA { return P::load(from + n * from_stride); },
            [&](int n, const V& value)
                OCTANT_INLINE_LAMBDA { P::store(to + n * PrimitivePlane::stride, value); });
  }

  // `count` cells anywhere in a row: cell(lane) is where one is read, column(lane) where it goes.
  template <class Column, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void gather_scattered(const Scratch& s, const PrimitivePlane& plane,
                                                    int j, int count, const Column& column,
                                                    const Source& cell) const {
    CellPointer from[width];
    double* to[width];
    for (int lane = 0; lane < width; ++lane) {
      const int n = lane < count ? lane : 0;
      from[lane] = cell(n);
      if (!from[lane].from) from[lane] = {s.safe_cell(), 1};
      to[lane] = plane.at(j, column(n));
    }
    convert(
        [&](int n) OCTANT_INLINE_LAMBDA {
          return P::generate([&](int lane) OCTANT_INLINE_LAMBDA {
            return from[lane].from[n * from[lane].stride];
          });
        },
        [&](int n, const V& value) OCTANT_INLINE_LAMBDA {
          for (int lane = 0; lane < count; ++lane)
            to[lane][n * PrimitivePlane::stride] = P::lane(value, lane);
        });
  }

  // From conserved variables load(n) to primitive ones store(n, value).
  template <class Load, class Store>
  KOKKOS_FORCEINLINE_FUNCTION void convert(const Load& load, const Store& store) const {
    V volume;
    const Cell w = to_primitive(load, a_.gas, volume);
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) store(n, w[n]);
    for (int n = k_hydro_variables; n < a_.variables; ++n) store(n, load(n) * volume);
  }

  // --- stage 1: face states of plane k ---
  // Outside the patch only the z faces of the cells above or below it are needed.
  template <bool Inside>
  KOKKOS_FORCEINLINE_FUNCTION void face_states(const Member& team, const Scratch& s, int k) const {
    using Profile = typename Reconstruction::template Profile<V>;
    constexpr int extra = Inside ? 1 : 0;
    const FacePlane x_lower = s.x_lower(k), x_upper = s.x_upper(), y_lower = s.y_lower(k),
                    y_upper = s.y_upper(), z_lower = s.z_lower(k), z_upper = s.z_upper(k);
    for_packs<-extra, M + extra, -extra, M + extra>(team, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      const double* column[2 * reach + 1];
      for (int o = -reach; o <= reach; ++o) column[o + reach] = s.primitive(k + o).at(j, i);
      const double* centre = column[reach];
      const auto profile = [&](int n, Profile& x, Profile& y, Profile& z) OCTANT_INLINE_LAMBDA {
        const int m = n * PrimitivePlane::stride;
        x = Reconstruction::template profile<V>(
            [&](int o) OCTANT_INLINE_LAMBDA { return P::load(centre + m + o); });
        y = Reconstruction::template profile<V>([&](int o) OCTANT_INLINE_LAMBDA {
          return P::load(centre + m + o * PrimitivePlane::row);
        });
        z = Reconstruction::template profile<V>(
            [&](int o) OCTANT_INLINE_LAMBDA { return P::load(column[reach + o] + m); });
      };
      const auto put = [&](int n, const V& mid, const Profile& x, const Profile& y,
                           const Profile& z, const V& floor) OCTANT_INLINE_LAMBDA {
        const auto store = [&](const FacePlane& to, const V& value) OCTANT_INLINE_LAMBDA {
          const bool floored = n == k_density || n == k_pressure;
          P::store(to.at(j, i) + n * FacePlane::stride, floored ? max(value, floor) : value);
        };
        if constexpr (Inside) {
          store(x_lower, x.lower(mid)), store(x_upper, x.upper(mid));
          store(y_lower, y.lower(mid)), store(y_upper, y.upper(mid));
        }
        store(z_lower, z.lower(mid)), store(z_upper, z.upper(mid));
      };

      const Cell w = load_state<V>(centre, PrimitivePlane::stride);
      Profile x[k_hydro_variables], y[k_hydro_variables], z[k_hydro_variables];
      Cell dx, dy, dz;
#pragma GCC unroll 8
      for (int n = 0; n < k_hydro_variables; ++n) {
        profile(n, x[n], y[n], z[n]);
        dx[n] = x[n].difference(), dy[n] = y[n].difference(), dz[n] = z[n].difference();
      }
      const HalfStep<V> half_step(w, 0.5 * a_.dt_over_dx);
      const Cell mid = a_.middle(w, half_step, dx, dy, dz);
      if constexpr (Profile::is_curved) {
        if (a_.hancock) {
          if constexpr (Inside) {
            tilt<0>(w, half_step.vx, 0.5 * a_.dt_over_dx, a_.gas, x);
            tilt<1>(w, half_step.vy, 0.5 * a_.dt_over_dx, a_.gas, y);
          }
          tilt<2>(w, half_step.vz, 0.5 * a_.dt_over_dx, a_.gas, z);
        }
      }
#pragma GCC unroll 8
      for (int n = 0; n < k_hydro_variables; ++n)
        put(n, mid[n], x[n], y[n], z[n],
            V(n == k_density ? a_.gas.density_floor : a_.gas.pressure_floor));

      for (int n = k_hydro_variables; n < a_.variables; ++n) {
        profile(n, x[0], y[0], z[0]);
        V q = P::load(centre + n * PrimitivePlane::stride);
        if (a_.hancock) {
          q = half_step.advance(q, x[0].difference(), y[0].difference(), z[0].difference());
          if constexpr (Profile::is_curved) {
            tilt_scalar(half_step.vx, x[0]);
            tilt_scalar(half_step.vy, y[0]);
            tilt_scalar(half_step.vz, z[0]);
          }
        }
        put(n, q, x[0], y[0], z[0], V(0.0));
      }
    });
  }

  // What dual energy needs to know of plane k - 1: how the velocity changes around its cells, two
  // to each side. Planes that have left the ring are remembered.
  KOKKOS_FORCEINLINE_FUNCTION void estimate_truncation(const Member& team, const Scratch& s,
                                                       int k) const {
    using Inner = typename Scratch::InnerPlane;
    const Inner past = s.past_velocity(k - 2), long_past = s.past_velocity(k - 3);
    for_packs<0, M, 0, M>(team, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      const double* here = s.primitive(k - 1).at(j, i);
      const double* next = s.primitive(k).at(j, i);
      const double* after = s.primitive(k + 1).at(j, i);
      Truncation<V> error;
#pragma GCC unroll 3
      for (int d = 0; d < 3; ++d) {
        const int m = (k_velocity_x + d) * PrimitivePlane::stride;
        double* before = past.at(j, i) + d * Inner::stride;
        double* long_before = long_past.at(j, i) + d * Inner::stride;
        const V q = P::load(here + m);
        const auto add_along = [&](int stride) OCTANT_INLINE_LAMBDA {
          error.add(P::load(here + m - 2 * stride), P::load(here + m - stride), q,
                    P::load(here + m + stride), P::load(here + m + 2 * stride));
        };
        add_along(1);
        add_along(PrimitivePlane::row);
        error.add(P::load(long_before), P::load(before), q, P::load(next + m), P::load(after + m));
        P::store(long_before, q);
      }
      P::store(s.truncation().at(j, i), error.any());
      P::store(s.truncation().at(j, i) + Inner::stride, error.steady());
    });
  }

  // --- stage 2: fluxes, in place of the lower face states ---
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION Cell flux(const double* left, double* right) const {
    constexpr int stride = FacePlane::stride;
    const Cell out = RiemannSolver::template flux<Axis>(load_state<V>(left, stride),
                                                        load_state<V>(right, stride), a_.gas);
    store_state(right, stride, out);
    for (int n = k_hydro_variables; n < a_.variables; ++n)
      P::store(right + n * stride,
               scalar_flux(out[k_mass], P::load(left + n * stride), P::load(right + n * stride)));
    return out;
  }

  KOKKOS_FORCEINLINE_FUNCTION void xy_fluxes(const Member& team, const Scratch& s, int k) const {
    const FacePlane x_upper = s.x_upper(), x_lower = s.x_lower(k);
    for_packs<0, M, 0, M + 1>(team, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      flux<0>(x_upper.at(j, i - 1), x_lower.at(j, i));
    });
    const FacePlane y_upper = s.y_upper(), y_lower = s.y_lower(k);
    for_packs<0, M + 1, 0, M>(team, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      flux<1>(y_upper.at(j - 1, i), y_lower.at(j, i));
    });
  }

  // The z flux below plane k ends the update of plane k-1.
  KOKKOS_FORCEINLINE_FUNCTION void z_fluxes_and_update(const Member& team, const TileView& view,
                                                       const Scratch& s, int k,
                                                       Outcome& outcome) const {
    const FacePlane z_upper = s.z_upper(k - 1), z_lower = s.z_lower(k);
    for_packs<0, M, 0, M>(team, [&](int j, int i) OCTANT_INLINE_LAMBDA {
      const Cell top = flux<2>(z_upper.at(j, i), z_lower.at(j, i));
      if (k == 0) return;
      const BlockRow row = view.block_row(j, k - 1);
      if (a_.sweep.tiles.block_size >= width) {
        update<V>(view, s, row, k - 1, j, i, top, outcome.fastest, outcome.bad);
      } else {
        update_cells(view, s, row, k - 1, j, i, outcome);
      }
    });
  }

  // Blocks narrower than a pack: one cell at a time.
  KOKKOS_INLINE_FUNCTION void update_cells(const TileView& view, const Scratch& s,
                                           const BlockRow& row, int k, int j, int first,
                                           Outcome& outcome) const {
    double fastest = 0.0;
    bool bad = false;
    for (int i = first; i < first + width; ++i)
      update<double>(view, s, row, k, j, i,
                     load_state<double>(s.z_lower(k + 1).at(j, i), FacePlane::stride), fastest,
                     bad);
    outcome.fastest = max(outcome.fastest, V(fastest));
    outcome.bad = outcome.bad || typename P::Mask(bad);
  }

  // The new state of one pack of cells, if they belong to this rank; `top` is the flux through
  // their upper z faces.
  template <class W, class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void update(const TileView& view, const Scratch& s,
                                          const BlockRow& row, int k, int j, int i,
                                          const State<W>& top, W& fastest, Mask& bad) const {
    using Q = PackTraits<W>;
    const int entry = view.entry(row, i);
    if (entry < 0 || view.box(entry).buffer != mesh::k_own) return;
    const int stride = view.box(entry).stride_variable;
    const std::int64_t offset = view.offset(row, entry, i);
    const double* from = a_.sweep.current.buffer[mesh::k_own] + offset;
    double* to = a_.sweep.next + offset;

    const double* fx = s.x_lower(k).at(j, i);
    const double* fy = s.y_lower(k).at(j, i);
    const double* fz = s.z_lower(k).at(j, i);
    const double* fz_top = s.z_lower(k + 1).at(j, i);
    const auto advanced = [&](int n, const W& u, const W& out) OCTANT_INLINE_LAMBDA {
      const int m = n * FacePlane::stride;
      const W x = Q::load(fx + m) - Q::load(fx + m + 1);
      const W y_in = Q::load(fy + m), y_out = Q::load(fy + m + FacePlane::row);
      const W total = (((Q::load(fz + m) + x) + y_in) - y_out) - out;
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
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = advanced(n, before[n], top[n]);
    if (a_.accelerated) accelerate(before, u);
#pragma GCC unroll 8
    for (int n = 0; n < k_hydro_variables; ++n) u[n] = blended(n, u[n]);
    const auto next_scalar = [&](int n) OCTANT_INLINE_LAMBDA {
      return blended(
          n, advanced(n, Q::load(from + n * stride), Q::load(fz_top + n * FacePlane::stride)));
    };
    W entropy = W(0.0);
    if (a_.gas.dual_energy) {
      entropy = next_scalar(k_entropy);
      if (a_.guards_entropy) {
        const double* error = s.truncation().at(j, i);
        guard_entropy(u, entropy, Q::load(error), Q::load(error + Scratch::InnerPlane::stride),
                      a_.overwrites_energy, a_.gas);
      } else {
        follow_energy(u, entropy, a_.gas);
      }
      Q::store(to + k_entropy * stride, entropy);
    }
    for (int n = k_hydro_variables + a_.gas.dual_energy; n < a_.variables; ++n)
      Q::store(to + n * stride, next_scalar(n));
    store_state(to, stride, u);
    judge(u, entropy, fastest, bad);
    if (!a_.sweep.mass_flow) return;
    const std::int64_t cell = offset - view.box(entry).base;
    double* flow = a_.sweep.mass_flow + 3 * a_.cells_per_block * entry + cell;
    const auto add = [&](const W& in, const W& out) OCTANT_INLINE_LAMBDA {
      Q::store(flow, Q::load(flow) + W(0.5 * a_.sweep.flux_weight) * (in + out));
      flow += a_.cells_per_block;
    };
    add(Q::load(fx), Q::load(fx + 1));
    add(Q::load(fy), Q::load(fy + FacePlane::row));
    add(Q::load(fz), top[k_mass]);
  }

  // Adds the source of a uniform acceleration. Hancock's step is centred in time; in a Runge-Kutta
  // stage the source is that of the state which the fluxes come from.
  template <class W>
  KOKKOS_FORCEINLINE_FUNCTION void accelerate(const State<W>& before, State<W>& u) const {
    const double now = a_.hancock ? 0.5 : 1.0, later = 1.0 - now;
    const W density = W(now) * before[k_mass] + W(later) * u[k_mass];
#pragma GCC unroll 8
    for (int n = 0; n < 3; ++n) {
      const int m = k_momentum_x + n;
      u[m] = u[m] + W(a_.kick[n]) * density;
      u[k_energy] = u[k_energy] + W(a_.kick[n]) * (W(now) * before[m] + W(later) * u[m]);
    }
  }

  // Takes note of the new state's signal speed, and of a state below the floors (or no number at
  // all).
  template <class W, class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void judge(const State<W>& u, const W& entropy, W& fastest,
                                         Mask& bad) const {
    State<W> w = physical_state(u, entropy, a_.gas);
    bad = bad || is_unphysical(u, w, entropy, a_.gas);
    w[k_pressure] = max(w[k_pressure], W(a_.gas.pressure_floor));
    fastest = max(fastest, signal_speed(w, a_.gas));
  }

  // --- flux requests ---
  // Answers what concerns plane k once its fluxes are complete: the z faces below it, the x and y
  // faces in it, or in it and the plane before where an average takes two planes.
  KOKKOS_INLINE_FUNCTION void answer_requests(const Member& team, const TileView& view,
                                              const Scratch& s, int k) const {
    for (int r = view.tile().request_begin; r < view.tile().request_end; ++r) {
      const mesh::FluxRequest& request = a_.sweep.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      int b_first = request.b_begin, b_last = request.b_end;
      if (request.axis == 2) {
        if (request.plane != k) continue;
      } else {
        const int b = k + 1 - step;  // first of the planes that end with this one
        if (k == M || b < b_first || b >= b_last || (b - b_first) % step != 0) continue;
        b_first = b, b_last = b + 1;
      }
      const int across = (request.a_end - request.a_begin) / step;
      const int rows = (b_last - b_first + step - 1) / step;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, across * rows), [&](int n) {
        const int a = request.a_begin + n % across * step, b = b_first + n / across * step;
        double* value = a_.sweep.registers + request.base +
                        (b - request.b_begin) / step * request.stride_b + n % across;
        for (int v = 0; v < a_.variables; ++v, value += request.stride_variable)
          *value += a_.sweep.flux_weight * requested_flux(s, request, v, a, b, k);
      });
    }
  }

  KOKKOS_INLINE_FUNCTION double requested_flux(const Scratch& s, const mesh::FluxRequest& request,
                                               int v, int a, int b, int k) const {
    const int m = v * FacePlane::stride;
    const auto face = [&](int da, int db) {
      if (request.axis == 0) return s.x_lower(b + db).at(a + da, request.plane)[m];
      if (request.axis == 1) return s.y_lower(b + db).at(request.plane, a + da)[m];
      return s.z_lower(k).at(b + db, a + da)[m];
    };
    if (!request.average) return face(0, 0);
    return ((face(0, 0) + face(1, 0)) + (face(0, 1) + face(1, 1))) * 0.25;
  }

  KernelArguments a_;
};

}  // namespace octant::hydro
