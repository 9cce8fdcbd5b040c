// Flux of the exact solution of the Riemann problem (Toro 2009, ch. 4), for any SIMD width.
#include "hydro/solver_ops.hpp"

namespace octant::hydro {

namespace {

// State on one side of the contact; `u` is positive towards the contact.
template <class V>
struct WaveSide {
  V rho, u, p, sound;
};

// Velocity change f_K(p) across the wave on side K for the pressure p behind it (Toro 4.6-4.8), and
// its slope (Toro 4.37). The wave is a shock if p > p_K, and a rarefaction otherwise.
template <class V>
struct WaveJump {
  V velocity, slope;

  KOKKOS_FORCEINLINE_FUNCTION WaveJump(const WaveSide<V>& k, const V& p, double gamma) {
    const V a = V(2.0 / (gamma + 1.0)) / k.rho;
    const V b = V((gamma - 1.0) / (gamma + 1.0)) * k.p + p;
    const V root = square_root(a / b);
    const V ratio = p / k.p;
    const V fall = power(ratio, (gamma - 1.0) / (2.0 * gamma));
    const auto shock = p > k.p;
    velocity = select(shock, (p - k.p) * root, V(2.0 / (gamma - 1.0)) * k.sound * (fall - V(1.0)));
    slope =
        select(shock, root * (V(1.0) - V(0.5) * (p - k.p) / b), fall / (ratio * k.rho * k.sound));
  }
};

// Pressure between the waves, by Newton's iteration. f_L + f_R + u_R - u_L is increasing and
// concave, so that the iteration converges from below after one step. A converged lane does not
// change, so that its result does not depend on other lanes of the pack.
template <class V>
KOKKOS_INLINE_FUNCTION V star_pressure(const WaveSide<V>& l, const WaveSide<V>& r, const Gas& gas) {
  constexpr int iteration_limit = 40;
  constexpr double tolerance = 1e-12;
  const V m_l = l.rho * l.sound, m_r = r.rho * r.sound;
  const V least = V(1e-10) * min(l.p, r.p);
  V p = max(((m_r * l.p + m_l * r.p) + m_l * m_r * (l.u + r.u)) / (m_l + m_r), least);
  // NOLINTNEXTLINE(misc-redundant-expression): false in lanes with NaN
  auto unconverged = p == p;
  for (int n = 0; n < iteration_limit && any(unconverged); ++n) {
    const WaveJump<V> jump_l(l, p, gas.gamma), jump_r(r, p, gas.gamma);
    const V f = (jump_l.velocity + jump_r.velocity) - (l.u + r.u);
    const V next = max(p - f / (jump_l.slope + jump_r.slope), least);
    const V change = absolute(next - p);
    p = select(unconverged, next, p);
    unconverged = unconverged && change > V(tolerance) * next;
  }
  return p;
}

}  // namespace

// Exact solution at x/t = 0. Slow: one power per side and iteration.
struct Exact {
  static constexpr const char* name = "exact";

  template <int Axis, class V, class G>
  KOKKOS_INLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                              const G& gas) {
    using Axes = FaceAxes<Axis>;
    const double gamma = gas.gamma;
    const auto side = [&](const State<V>& w, const V& u) {
      return WaveSide<V>{w[k_density], u, w[k_pressure],
                         square_root(V(gamma) * w[k_pressure] / w[k_density])};
    };
    const WaveSide<V> l = side(left, left[Axes::normal]), r = side(right, -right[Axes::normal]);
    const V p_star = star_pressure(l, r, gas);
    const WaveJump<V> jump_l(l, p_star, gamma), jump_r(r, p_star, gamma);
    const V u_star = V(0.5) * ((l.u - r.u) + (jump_r.velocity - jump_l.velocity));

    const auto from_left = u_star > V(0.0);
    const WaveSide<V> k{select(from_left, l.rho, r.rho), select(from_left, l.u, r.u),
                        select(from_left, l.p, r.p), select(from_left, l.sound, r.sound)};
    const V sign = select(from_left, V(1.0), V(-1.0));
    const WaveSide<V> found = at_face(k, p_star, sign * u_star, gamma);

    State<V> w;
    w[k_density] = found.rho;
    w[Axes::normal] = sign * found.u;
    w[Axes::tangent_1] = select(from_left, left[Axes::tangent_1], right[Axes::tangent_1]);
    w[Axes::tangent_2] = select(from_left, left[Axes::tangent_2], right[Axes::tangent_2]);
    w[k_pressure] = found.p;
    return PhysicalFlux<Axis, V>(w, NoColdState<V>(), gas).flux;
  }

 private:
  // State at the face from the wave on side K: before it, behind it, or inside its fan (Toro 4.52,
  // 4.55, 4.56). All lanes evaluate the powers, whose bases are therefore kept positive.
  template <class V>
  KOKKOS_INLINE_FUNCTION static WaveSide<V> at_face(const WaveSide<V>& k, const V& p, const V& u,
                                                    double gamma) {
    const double g6 = (gamma - 1.0) / (gamma + 1.0);
    const V ratio = p / k.p;
    const auto shock = p > k.p;
    const V mach_squared =
        V((gamma + 1.0) / (2.0 * gamma)) * ratio + V((gamma - 1.0) / (2.0 * gamma));
    const V fall = power(ratio, (gamma - 1.0) / (2.0 * gamma));
    const V head = k.u - k.sound * select(shock, square_root(mach_squared), V(1.0));
    const V tail = select(shock, head, u - k.sound * fall);
    const V rho_star = k.rho * select(shock, (ratio + V(g6)) / (V(g6) * ratio + V(1.0)),
                                      power(ratio, 1.0 / gamma));

    const V fan = max(V(2.0 / (gamma + 1.0)) + V(g6) * k.u / k.sound, V(1e-100));
    const V fan_rho = k.rho * power(fan, 2.0 / (gamma - 1.0));
    const V fan_p = k.p * power(fan, 2.0 * gamma / (gamma - 1.0));
    const V fan_u = V(2.0 / (gamma + 1.0)) * (k.sound + V(0.5 * (gamma - 1.0)) * k.u);

    const auto before = !(head < V(0.0)), behind = !(tail > V(0.0));
    const auto pick = [&](const V& first, const V& inside, const V& last) {
      return select(before, first, select(behind, last, inside));
    };
    return {pick(k.rho, fan_rho, rho_star), pick(k.u, fan_u, u), pick(k.p, fan_p, p), k.sound};
  }
};

template SchemeOps ops_of_solver<Exact>();

}  // namespace octant::hydro
