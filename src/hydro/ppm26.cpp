// Parabolas along the 13 lines through a cell to the 26 points on its surface, and the
// central-upwind flux of Kurganov, Noelle & Petrova (2001) at the nine points of each face,
// averaged by Simpson's rule: the hydrodynamics of Octo-Tiger (Marcello et al. 2021; Diehl et al.
// 2021), whose error hardly depends on direction.
//
// Parabolas through cell means give the mean over a face at its centre, but point values plus other
// second derivatives at its edges and vertices. Simpson's rule treats all as point values, and the
// mean state over a face has an error of h^2 / 36 times the transverse second derivatives: more
// than all other errors of smooth flow oblique to the mesh. In addition, cells that reach an edge
// along different diagonals find different states there, and their difference diffuses, for example
// through the surface of a star at rest. The points are useful at shocks. Ppm26 therefore uses them
// there, and only face centres elsewhere; Ppm26Published uses them everywhere.
//
// With HydroOptions::spin() a rotation about the cell centre is added to the velocities at the
// surface points, so that they agree with the stored spin: this restores rotation that limiters and
// diffusive fluxes removed, as in Octo-Tiger's angular-momentum-conserving reconstruction. Spin is
// measured in the inertial frame, and includes the rotation of a rotating frame.
//
// In Ppm26, the lines along the axes keep smooth extrema, which the diagonal ones clip: their
// points are too far apart to distinguish an extremum from a blast wave. Ppm26Published clips
// extrema along all lines, as Octo-Tiger does. Face centres that keep an extremum do not match
// edges that clip it: the combination converges more slowly than either limiter alone.
#include <type_traits>

#include "core/compiler.hpp"
#include "hydro/fractions.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/scheme_ops.hpp"
#include "hydro/surface_lines.hpp"

namespace octant::hydro {

namespace {

// Point t = 0, ..., 8 of the upper face along an axis; 4 is its centre.
template <int Axis>
KOKKOS_FORCEINLINE_FUNCTION constexpr int upper_point(int t) {
  constexpr int first = step_along(Axis == 0 ? 1 : 0), second = step_along(Axis == 2 ? 1 : 2);
  return k_centre + step_along(Axis) + first * (t % 3 - 1) + second * (t / 3 - 1);
}
KOKKOS_FORCEINLINE_FUNCTION constexpr double simpson_weight(int t) {
  return (t % 3 == 1 ? 4 : 1) * (t / 3 == 1 ? 4 : 1) / 36.0;
}

// Storage of the states at the points. States on the upper z faces of a plane and the data of its
// cell centres are kept for the next plane. All points of a variable are adjacent in memory.
template <class Planes>
class CellSurface {
  using Plane = typename Planes::FacePlane;
  static constexpr int k_above = 18;  // points from here on lie on the upper z face

 public:
  static constexpr int planes = 17 + 2 * (1 + 9);
  static constexpr int stride = planes * Plane::stride;
  static constexpr int face_points = 9;
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int upper_point(int t) {
    return octant::hydro::upper_point<Axis>(t);
  }
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int lower_point(int t) {
    return upper_point<Axis>(t) - 2 * step_along(Axis);
  }

  KOKKOS_FORCEINLINE_FUNCTION CellSurface(const Planes& s, int k)
      : first_(s.surface(0, k).at(0, 0)), waiting_((17 + 10 * (k & 1)) * Plane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    double* const cell = first_ + j * Plane::row + i;
    if (point == k_centre) return cell + waiting_;
    if (point >= k_above) return cell + waiting_ + (1 + point - k_above) * Plane::stride;
    return cell + (point - (point > k_centre)) * Plane::stride;
  }

 private:
  double* first_;
  int waiting_;
};

// Criterion for fluxes at edges and vertices: everywhere. share(cell, gas) is 1 if a cell requires
// Simpson weights for its faces, and 0 if it requires only face centres.
struct Everywhere {
  static constexpr bool keeps_extrema = false;

  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V share(const Cell& /*cell*/, const Gas& /*gas*/) {
    return V(1.0);
  }
};

// Criterion for fluxes at edges and vertices: compressed gas with large second differences of
// density and pressure. share() increases linearly, so that fluxes are continuous.
struct AtShocks {
  static constexpr bool keeps_extrema = true;
  // Limits of the compression -h div v, relative to the speed of sound, and of the curvature: the
  // sum of second differences along the axes, relative to the density, and to p + rho strain^2, the
  // pressure that would stop the surrounding velocities. A shock has that pressure behind it; a
  // much lower pressure is dominated by errors of the total energy.
  static constexpr double k_min_compression = 0.1, k_min_curvature = 0.5;
  // Limit of pressure differences to surrounding cells, in units of rho strain (c + strain): a
  // shock does not exceed it, but hydrostatic equilibrium at the surface of a star does.
  static constexpr double k_max_steps = 1.5, k_tiny = 1e-300;

  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V share(const Cell& cell, const Gas& gas) {
    const V rho = cell(k_density, 0, 0, 0), p = cell(k_pressure, 0, 0, 0);
    const V sound = square_root(V(gas.gamma) * p / rho);
    const V around = strain<V>(cell), stress = fused_multiply_add(V(rho * around), around, p);
    const V curvature = (second_differences(cell, k_density, rho) * stress +
                         second_differences(cell, k_pressure, p) * rho) /
                        (rho * stress);
    const V share =
        min(ramp_to_twice_the_minimum(V(compression<V>(cell) / sound), k_min_compression),
            ramp_to_twice_the_minimum(curvature, k_min_curvature));
    const V stops = rho * around * (sound + around), steps = pressure_steps(cell, p);
    return min(share, V(max(V(V(2.0) - steps / max(V(k_max_steps * stops), V(k_tiny))), V(0.0))));
  }

 private:
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V ramp_to_twice_the_minimum(const V& value, double least) {
    return max(min(V(1.0 / least) * value - V(1.0), V(1.0)), V(0.0));
  }
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V compression(const Cell& cell) {
    const V along_x = cell(k_velocity_x, -1, 0, 0) - cell(k_velocity_x, 1, 0, 0);
    const V along_y = cell(k_velocity_y, 0, -1, 0) - cell(k_velocity_y, 0, 1, 0);
    const V along_z = cell(k_velocity_z, 0, 0, -1) - cell(k_velocity_z, 0, 0, 1);
    return V(0.5) * (along_x + along_y + along_z);
  }
  // Upper bound of the compression. In contrast to compression(), strain() does not vanish where a
  // velocity changes sign.
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V strain(const Cell& cell) {
    const V x = cell(k_velocity_x, 0, 0, 0), y = cell(k_velocity_y, 0, 0, 0);
    const V z = cell(k_velocity_z, 0, 0, 0);
    const V along_x = absolute(V(cell(k_velocity_x, -1, 0, 0) - x)) +
                      absolute(V(cell(k_velocity_x, 1, 0, 0) - x));
    const V along_y = absolute(V(cell(k_velocity_y, 0, -1, 0) - y)) +
                      absolute(V(cell(k_velocity_y, 0, 1, 0) - y));
    const V along_z = absolute(V(cell(k_velocity_z, 0, 0, -1) - z)) +
                      absolute(V(cell(k_velocity_z, 0, 0, 1) - z));
    return V(0.5) * (along_x + along_y + along_z);
  }
  // Pressure differences to surrounding cells, summed as in strain().
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V pressure_steps(const Cell& cell, const V& p) {
    const auto step = [&](int x, int y, int z) {
      return absolute(V(cell(k_pressure, x, y, z) - p));
    };
    return V(0.5) * ((step(1, 0, 0) + step(-1, 0, 0)) + (step(0, 1, 0) + step(0, -1, 0)) +
                     (step(0, 0, 1) + step(0, 0, -1)));
  }
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V second_differences(const Cell& cell, int n,
                                                          const V& centre) {
    const V twice = centre + centre;
    return absolute(V(cell(n, -1, 0, 0) + cell(n, 1, 0, 0) - twice)) +
           absolute(V(cell(n, 0, -1, 0) + cell(n, 0, 1, 0) - twice)) +
           absolute(V(cell(n, 0, 0, -1) + cell(n, 0, 0, 1) - twice));
  }
};

template <class Where>
class ThirteenLines {
  using Lines = SurfaceLines<Where::keeps_extrema>;

 public:
  static constexpr int reach = 2, points = k_points;
  static constexpr auto shape = mesh::GhostShape::Kind::cube;
  static constexpr bool predicts = false;
  template <class Planes>
  using Surface = CellSurface<Planes>;

  KOKKOS_FUNCTION explicit ThirteenLines(const KernelArguments& a)
      : gas_(a.gas),
        variables_(a.variables),
        dt_over_dx_(a.dt_over_dx),
        fractions_(a.fractions),
        spin_(a.spin),
        steepens_contacts_(a.steepens_contacts),
        rotation_per_spin_(3.0 / a.sweep.dx),
        frame_rotation_(0.5 * a.sweep.dx * a.frame.angular_velocity) {}

  template <class V, class Cell, class PositionFunction, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void reconstruct(bool inside, const Cell& cell,
                                               const PositionFunction&, const Put& put) const {
    if (inside) put_states<V>(std::true_type(), cell, put);
    else put_states<V>(std::false_type(), cell, put);
  }

  // Flux through a face, with the larger share() of the two adjacent cells. At each point:
  //   F = (a+ F_L - a- F_R + a+ a- (U_R - U_L)) / (a+ - a-),
  // where a+ >= 0 and a- <= 0 are the largest signal velocities to both sides. With the weights
  // left = a+ / (a+ - a-) and right = 1 - left, and the flux as U v_n plus pressure terms P,
  //   F = (left v_L - d) U_L + (right v_R + d) U_R + left P_L + right P_R,  d = left a-.
  template <int Axis, class V, class Left, class Right, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void flux(const Left& left, const Right& right,
                                        const Put& put) const {
    const V share = max(left(k_centre, k_weight_index), right(k_centre, k_weight_index));
    const bool centre_only = !any(share > V(0.0));  // weights of 0 give bitwise-identical fluxes
    State<V> sum;
    V mass_l[9], mass_r[9];
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) sum[n] = V(0.0);
    OCTANT_UNROLL(9)
    for (int t = 0; t < 9; ++t) {
      if (t != 4 && centre_only) continue;
      const int p = upper_point<Axis>(t), q = p - 2 * step_along(Axis);
      State<V> l, r;
      OCTANT_UNROLL(8)
      for (int n = 0; n < k_hydro_variables; ++n) l[n] = left(p, n), r[n] = right(q, n);
      add_flux<Axis>(l, r, weight(share, t), sum, mass_l[t], mass_r[t]);
    }
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) put(n, sum[n]);
    for (int n = k_hydro_variables; n < variables_; ++n) {
      V scalar(0.0);
      OCTANT_UNROLL(9)
      for (int t = 0; t < 9; ++t) {
        if (t != 4 && centre_only) continue;
        const int p = upper_point<Axis>(t), q = p - 2 * step_along(Axis);
        scalar = fused_multiply_add(mass_l[t], V(left(p, n)),
                                    fused_multiply_add(mass_r[t], V(right(q, n)), scalar));
      }
      put(n, scalar);
    }
  }

 private:
  static constexpr double k_lowest = -1e300;  // for variables without a floor
  // index of the Simpson weight among the values of the cell centre
  static constexpr int k_weight_index = 0;

  // Stores the states on the surface of a cell; unless `inside`, a compile-time constant, only
  // those on the faces along z.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_states(auto inside, const Cell& cell, const Put& put) const {
    put(k_centre, k_weight_index, Where::template share<V>(cell, gas_));
    Vector<V> rotation{V(0.0), V(0.0), V(0.0)};
    if (spin_ >= 0) rotation = unresolved_rotation<V>(cell);
    OCTANT_UNROLL(1)
    for (int n = 0; n < variables_; ++n) {
      if (n >= k_hydro_variables && fractions_.end[n] > n) continue;
      V deviation[points];
      Lines::template deviations<V>(
          inside, [&](int x, int y, int z) OCTANT_INLINE_LAMBDA { return cell(n, x, y, z); },
          deviation);
      if (n == k_density && steepens_contacts_) Lines::steepen(inside, cell, gas_.gamma, deviation);
      if (spin_ >= 0) {
        if (n == k_velocity_x) add_rotation<0>(inside, rotation, deviation);
        if (n == k_velocity_y) add_rotation<1>(inside, rotation, deviation);
        if (n == k_velocity_z) add_rotation<2>(inside, rotation, deviation);
      }
      const V centre = cell(n, 0, 0, 0);
      const V floor(n == k_density    ? gas_.density_floor
                    : n == k_pressure ? gas_.pressure_floor
                                      : k_lowest);
      OCTANT_UNROLL(27)
      for (int p = 0; p < points; ++p)
        if (p != k_centre && (inside || direction(p).z != 0))
          put(p, n, max(V(centre + deviation[p]), floor));
    }
    if (variables_ > k_hydro_variables) put_fractions<V>(inside, cell, put);
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V weight(const V& share, int t) {
    if (t != 4) return V(simpson_weight(t)) * share;
    return V(1.0) - V(1.0 - simpson_weight(4)) * share;
  }

  // Stores the states of fractions within their bounds. A flux through a face uses either the value
  // at its centre or the mean of all its points; the bound applies to the larger excess of both.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_fractions(auto inside, const Cell& cell,
                                                 const Put& put) const {
    constexpr double most = 2.0;  // maximum excess over the difference from the nearer bound
    Departure<V> departure(dt_over_dx_, gas_.gamma, 1.0 + most, true);
    departure.find(cell);
    for (int first = k_hydro_variables; first < variables_;) {
      const int end = fractions_.end[first], last = end > first ? end : first + 1;
      if (end > first) {
        V factor(1.0);
        for (int n = first; n < last; ++n)
          factor = min(factor, put_fraction<V>(inside, departure, most, cell, n, put));
        const GroupSum<V> group(cell, first, last, fractions_);
        if (group.has_mixture || any(factor < V(1.0)))
          for (int p = 0; p < points; ++p)
            if (p != k_centre && (inside || direction(p).z != 0))
              scale_group<V>(cell, put, p, first, last, factor, group);
      }
      first = last;
    }
  }
  // Stores the states of one fraction, and returns the factor by which its excesses must be scaled.
  template <class V, class Cell, class Put>
  KOKKOS_FORCEINLINE_FUNCTION V put_fraction(auto inside, const Departure<V>& departure,
                                             double most, const Cell& cell, int n,
                                             const Put& put) const {
    V excess[points];
    Lines::template deviations<V>(
        std::true_type(),
        [&](int x, int y, int z) OCTANT_INLINE_LAMBDA { return cell(n, x, y, z); }, excess);
    const FractionRange<V> range(cell, n, most);
    OCTANT_UNROLL(27)
    for (int p = 0; p < points; ++p)
      if (p != k_centre) {
        const V value = range.clamp(range.mean + excess[p]);
        if (inside || direction(p).z != 0) put(p, n, value);
        excess[p] = value - range.mean;
      }
    if (!departure.may_exceed) return V(1.0);
    V rise(0.0), fall(0.0);
    const auto add_face = [&](const V& share, const auto& point) OCTANT_INLINE_LAMBDA {
      V mean_rise(0.0), mean_fall(0.0);
      OCTANT_UNROLL(9)
      for (int t = 0; t < 9; ++t) {
        const V weight(simpson_weight(t)), of = excess[point(t)];
        mean_rise = fused_multiply_add(weight, max(of, V(0.0)), mean_rise);
        mean_fall = fused_multiply_add(weight, max(-of, V(0.0)), mean_fall);
      }
      const V centre = excess[point(4)];
      rise = fused_multiply_add(share, max(centre, mean_rise), rise);
      fall = fused_multiply_add(share, max(V(-centre), mean_fall), fall);
    };
    const auto add_axis = [&]<int Axis>() OCTANT_INLINE_LAMBDA {
      add_face(departure.shares.share[lower_face(Axis)],
               [](int t) { return upper_point<Axis>(t) - 2 * step_along(Axis); });
      add_face(departure.shares.share[upper_face(Axis)],
               [](int t) { return upper_point<Axis>(t); });
    };
    add_axis.template operator()<0>();
    add_axis.template operator()<1>();
    add_axis.template operator()<2>();
    return range.factor(departure, rise, fall);
  }

  // Angular velocity of a cell's spin minus that of the velocities around it (half their curl),
  // times half the cell size; at most a quarter of the speed of sound. A cube in rigid rotation has
  // a spin per mass of h^2 / 6 times its angular velocity.
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> unresolved_rotation(const Cell& cell) const {
    const auto across = [&](int n, int x, int y, int z) OCTANT_INLINE_LAMBDA {
      return V(cell(n, x, y, z) - cell(n, -x, -y, -z));
    };
    constexpr int x = k_velocity_x, y = k_velocity_y, z = k_velocity_z;
    const V curl[3] = {across(z, 0, 1, 0) - across(y, 0, 0, 1),
                       across(x, 0, 0, 1) - across(z, 1, 0, 0),
                       across(y, 1, 0, 0) - across(x, 0, 1, 0)};  // differences across two cells
    const V most =
        V(0.25) * square_root(V(gas_.gamma) * cell(k_pressure, 0, 0, 0) / cell(k_density, 0, 0, 0));
    Vector<V> rotation;
    OCTANT_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      const V carried = V(rotation_per_spin_) * cell(spin_ + d, 0, 0, 0);
      const V seen = fused_multiply_add(V(0.125), curl[d], V(d == 2 ? frame_rotation_ : 0.0));
      rotation[d] = max(min(V(carried - seen), most), V(-most));
    }
    return rotation;
  }

  // Adds the rotation to the velocity component along an axis, at all points.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void add_rotation(auto inside, const Vector<V>& rotation,
                                                       V (&deviation)[points]) {
    constexpr int b = (Axis + 1) % 3, c = (Axis + 2) % 3;
    OCTANT_UNROLL(27)
    for (int p = 0; p < points; ++p) {
      const Direction at = direction(p);
      const int offset[3] = {at.x, at.y, at.z};
      if (!inside && at.z == 0) continue;
      if (offset[c] != 0) deviation[p] = deviation[p] + V(offset[c]) * rotation[b];
      if (offset[b] != 0) deviation[p] = deviation[p] - V(offset[b]) * rotation[c];
    }
  }

  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION void add_flux(const State<V>& l, const State<V>& r, const V& weight,
                                            State<V>& sum, V& mass_l, V& mass_r) const {
    constexpr int normal = k_velocity_x + Axis;
    const V rho_l = l[k_density], rho_r = r[k_density], p_l = l[k_pressure], p_r = r[k_pressure];
    const V v_l = l[normal], v_r = r[normal];
    const V scale = V(gas_.gamma) / (rho_l * rho_r);
    const V c_l = square_root(p_l * rho_r * scale), c_r = square_root(p_r * rho_l * scale);
    const V up = max(max(v_l + c_l, v_r + c_r), V(0.0));
    const V down = min(min(v_l - c_l, v_r - c_r), V(0.0));
    const V left = up * (weight / (up - down)), right = weight - left, d = left * down;
    const V with_l = left * v_l - d, with_r = fused_multiply_add(right, v_r, d);
    mass_l = with_l * rho_l, mass_r = with_r * rho_r;
    sum[k_mass] = sum[k_mass] + (mass_l + mass_r);
    OCTANT_UNROLL(3)
    for (int n = k_velocity_x; n <= k_velocity_z; ++n)
      sum[n] = fused_multiply_add(mass_l, l[n], fused_multiply_add(mass_r, r[n], sum[n]));
    const V force_l = left * p_l, force_r = right * p_r;
    sum[normal] = sum[normal] + (force_l + force_r);
    const auto energy = [&](const State<V>& w, const V& mass, const V& with,
                            const V& force) OCTANT_INLINE_LAMBDA {
      const V square = w[k_velocity_x] * w[k_velocity_x] + w[k_velocity_y] * w[k_velocity_y] +
                       w[k_velocity_z] * w[k_velocity_z];
      return V(0.5) * mass * square + V(1.0 / (gas_.gamma - 1.0)) * (with * w[k_pressure]) +
             force * w[normal];
    };
    sum[k_energy] =
        sum[k_energy] + (energy(l, mass_l, with_l, force_l) + energy(r, mass_r, with_r, force_r));
  }

  Gas gas_;
  int variables_;
  double dt_over_dx_;
  FractionGroups fractions_;
  int spin_;
  bool steepens_contacts_;
  double rotation_per_spin_;  // factor from spin per mass to angular velocity times half a cell
  double frame_rotation_;     // angular velocity of the frame, in the same unit
};

}  // namespace

class Ppm26 : public ThirteenLines<AtShocks> {
 public:
  static constexpr const char* name = "ppm26";
  using ThirteenLines::ThirteenLines;
};

class Ppm26Published : public ThirteenLines<Everywhere> {
 public:
  static constexpr const char* name = "ppm26_published";
  using ThirteenLines::ThirteenLines;
};

template SchemeOps ops_of_scheme<Ppm26>();
template SchemeOps ops_of_scheme<Ppm26Published>();

}  // namespace octant::hydro
