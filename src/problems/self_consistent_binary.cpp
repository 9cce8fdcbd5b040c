#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "problems/spherical_star.hpp"
#include "problems/star_convergence.hpp"
#include "problems/star_iterate.hpp"

namespace octant::problems {

double inner_lagrangian_point(double mass_ratio) {
  // Root of the force on corotating matter, in units of the separation and the total mass.
  const double first = 1.0 / (1.0 + mass_ratio), second = 1.0 - first;
  double lower = 0.0, upper = 1.0;
  for (int n = 0; n < 100; ++n) {
    const double x = 0.5 * (lower + upper);
    const double force = -first / (x * x) + second / ((1.0 - x) * (1.0 - x)) + (x - second);
    (force < 0.0 ? lower : upper) = x;
  }
  return 0.5 * (lower + upper);
}

namespace {

constexpr int k_degree_of_two = 14;  // maximum degree of harmonics
constexpr int k_radii_of_two = 160;
// Outer end of the coordinates about a star of two, in radii of the star.
constexpr double k_margin = 1.05;
constexpr int k_angles_of_two = 64;  // angles of the stored tables

using Both = std::array<double, 2>;

// Returns the distances of the inner Lagrangian point from both stars.
Both distances_to_point(const SynchronousBinary& binary, double separation) {
  const double to_point = inner_lagrangian_point(binary.mass_ratio) * separation;
  return {to_point, separation - to_point};
}

InputError equilibrium_not_found(const SynchronousBinary& binary, const char* why) {
  if (binary.filling[0] == 0.0 && binary.filling[1] == 0.0)
    return InputError(
        "problem.separation = {:.6g}: no equilibrium of two stars with {} and masses of {} and {} "
        "was found{}; decrease the separation",
        binary.separation, binary.matter[0].text(),
        binary.matter[0].text_of_mass(binary.mass / (1.0 + binary.mass_ratio)),
        binary.matter[0].text_of_mass(binary.mass * binary.mass_ratio / (1.0 + binary.mass_ratio)),
        why);
  return InputError(
      "problem.filling = [{}, {}], problem.mass_ratio = {}: no equilibrium of two stars with {} "
      "and {} was found{}; decrease the filling factors",
      binary.filling[0], binary.filling[1], binary.mass_ratio, binary.matter[0].text(),
      binary.matter[1].text(), why);
}

void check_filling(const SynchronousBinary& binary) {
  for (int s = 0; s < 2; ++s)
    if (binary.filling[s] > 1.0)
      throw InputError(
          "problem.filling = [{}, {}]: star {} is larger than its Roche lobe; expected at most "
          "1, or two equal numbers above 1 for a contact binary",
          binary.filling[0], binary.filling[1], s + 1);
}

// Iteration for two stars that orbit each other. The density maxima are fixed: zero effective
// gravity there gives Omega and the axis. Each surface passes through a point on the line between
// the centres.
class BinaryIterate {
 public:
  // `surface` are the distances of the surfaces from the centres, towards the companion; `central`
  // is the initial guess of the central enthalpies.
  BinaryIterate(const SynchronousBinary& binary, double separation, const Both& surface,
                const Both& central, const EvenHarmonics& harmonics, double G)
      : binary_(binary), G_(G), separation_(separation), surface_(surface) {
    const double shares = 1.0 + binary.mass_ratio;
    const double mass[2] = {binary.mass / shares, binary.mass * binary.mass_ratio / shares};
    const double first_centre = -separation * binary.mass_ratio / shares;
    for (int s = 0; s < 2; ++s) {
      stars_.emplace_back(harmonics, k_radii_of_two, reach(s), first_centre + s * separation,
                          binary.matter[s], mass[s], G);
      stars_[s].begin(surface_[s], surface_[s], central[s]);
    }
  }

  // Changes separation and surfaces.
  void place(double separation, const Both& surface) {
    const double growth = separation / separation_;
    separation_ = separation;
    surface_ = surface;
    for (int s = 0; s < 2; ++s) {
      stars_[s].move(stars_[s].centre() * (growth - 1.0));
      stars_[s].stretch(reach(s));
    }
  }

  // Iterates until convergence. Throws InputError if there are no such stars.
  void converge() {
    Convergence convergence;
    for (int n = 1; n <= k_max_scf_iterations; ++n) {
      ++iterations_;
      const std::vector<double> values = next();
      if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) break;
      if (convergence.reached(values)) return;
    }
    throw equilibrium_not_found(binary_, "");
  }
  // Factors of the densities.
  Both scales() const { return {stars_[0].scale(), stars_[1].scale()}; }

  StarModel finished() const {
    StarModel model;
    model.angular_velocity = std::sqrt(rotation2_);
    model.iterations = iterations_;
    model.separation = separation_;
    const Both distance = distances_to_point(binary_, separation_);
    for (int s = 0; s < 2; ++s) {
      model.filling[s] = surface_[s] / distance[s];
      const double inner = surface_[s] * (1.0 - 2.0 / k_radii_of_two);
      if (constant_[s] <= effective_potential(s, inner))
        throw equilibrium_not_found(binary_, ": the stars overlap");
      stars_[s].add_energies(rotation2_, model);
      model.stars.push_back(
          stars_[s].finished(constant_[s], rotation2_, k_angles_of_two, k_angles_of_two));
    }
    return model;
  }

 private:
  // Maximum radius of the coordinates about star s.
  double reach(int s) const {
    return std::min(k_margin * surface_[s], distances_to_point(binary_, separation_)[s]);
  }

  // Updates the gas from the potential of the last densities. Returns the quantities that must
  // converge, in units of the binary.
  std::vector<double> next() {
    const double unit = G_ * binary_.mass / separation_;
    for (StarIterate& star : stars_) star.attract();
    for (int s = 0; s < 2; ++s) stars_[s].add_potential_of(stars_[1 - s]);
    const double slope[2] = {stars_[0].slope_at_centre(), stars_[1].slope_at_centre()};
    rotation2_ = (slope[1] - slope[0]) / separation_;
    if (!(rotation2_ > 0.0)) throw equilibrium_not_found(binary_, "");
    const double shift = slope[0] / rotation2_ - stars_[0].centre();
    for (StarIterate& star : stars_) star.move(shift);
    std::vector<double> values{rotation2_ * separation_ * separation_ / unit, shift / separation_};
    for (int s = 0; s < 2; ++s) {
      constant_[s] = effective_potential(s, surface_[s]);
      const double largest = stars_[s].balance(constant_[s], rotation2_);
      if (!(largest > 0.0)) throw equilibrium_not_found(binary_, "");
      values.push_back(constant_[s] / unit);
      values.push_back(largest / unit);
    }
    return values;
  }

  // Effective potential at distance r from the centre of star s towards the companion.
  double effective_potential(int s, double r) const {
    const double x = stars_[s].centre() + (s == 0 ? r : -r);
    return stars_[s].potential(r, 0.5 * M_PI, s == 0 ? 0.0 : M_PI) - 0.5 * rotation2_ * x * x;
  }

  const SynchronousBinary& binary_;
  double G_, separation_;
  Both surface_;  // distance of the surface towards the companion
  std::vector<StarIterate> stars_;
  double constant_[2] = {}, rotation2_ = 0.0;
  int iterations_ = 0;
};

// Search for the sizes of stars of given matter: the logarithms of the distances of the surfaces
// from the centres, or of the separation in place of that of the star whose filling is given, are
// varied until both factors of density are 1, by Broyden's method (1965, Math. Comp. 19, 577).
class SizeSearch {
 public:
  SizeSearch(const SynchronousBinary& binary, double G) : binary_(binary) {
    for (int s = 0; s < 2; ++s)
      if (binary.filling[s] > 0.0) filled_ = s;
    const double shares = 1.0 + binary.mass_ratio;
    const Both mass = {binary.mass / shares, binary.mass * binary.mass_ratio / shares};
    const char* const names[2] = {"problem.mass (first star)", "problem.mass (second star)"};
    for (int s = 0; s < 2; ++s) {
      const SphericalStar star = stable_star(binary.matter[s], mass[s], G, 0.0, names[s]);
      first_[s] = star.radius;
      central_[s] = star.central_enthalpy;
    }
    // The surface towards the companion is about 1.2 radii from the centre of a full star.
    if (filled_ >= 0)
      first_[filled_] *= 1.2 / (binary.filling[filled_] * distances_to_point(binary, 1.0)[filled_]);
    limit();
  }

  const Both& central() const { return central_; }
  double separation() const {
    return filled_ < 0 ? binary_.separation : first_[filled_] * std::exp(unknown_[filled_]);
  }
  Both surface() const {
    Both surface;
    const Both distance = distances_to_point(binary_, separation());
    for (int s = 0; s < 2; ++s)
      surface[s] =
          s == filled_ ? binary_.filling[s] * distance[s] : first_[s] * std::exp(unknown_[s]);
    return surface;
  }

  // Varies the sizes until the factors are 1. Throws InputError if a star does not fit.
  void run(BinaryIterate& stars) {
    constexpr int k_most = 60;
    double slope[2][2] = {{-1.5, 0.0}, {0.0, -1.5}};
    Both value = evaluate(stars);
    for (int n = 0; n < k_most && !is_root(value); ++n) {
      const Both last = unknown_;
      const double determinant = slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
      Both change = {(slope[0][1] * value[1] - slope[1][1] * value[0]) / determinant,
                     (slope[1][0] * value[0] - slope[0][0] * value[1]) / determinant};
      constexpr double k_largest = 0.2;
      for (int s = 0; s < 2; ++s) unknown_[s] += std::clamp(change[s], -k_largest, k_largest);
      limit();
      double square = 0.0;
      for (int s = 0; s < 2; ++s) {
        change[s] = unknown_[s] - last[s];
        square += change[s] * change[s];
      }
      if (!(square > 0.0)) break;
      stars.place(separation(), surface());
      const Both next = evaluate(stars);
      for (int s = 0; s < 2; ++s) {
        const double rest = next[s] - value[s] - slope[s][0] * change[0] - slope[s][1] * change[1];
        for (int t = 0; t < 2; ++t) slope[s][t] += rest * change[t] / square;
      }
      value = next;
    }
    if (!is_root(value)) throw misfit(value);
  }

 private:
  static bool is_root(const Both& value) {
    return std::abs(value[0]) < k_scale_tolerance && std::abs(value[1]) < k_scale_tolerance;
  }
  static Both evaluate(BinaryIterate& stars) {
    stars.converge();
    const Both scales = stars.scales();
    return {std::log(scales[0]), std::log(scales[1])};
  }
  // Keeps the surfaces within the Roche lobes.
  void limit() {
    const Both distance = distances_to_point(binary_, separation());
    for (int s = 0; s < 2; ++s)
      if (s != filled_) unknown_[s] = std::min(unknown_[s], std::log(distance[s] / first_[s]));
  }
  // Error for the star that is most in need of space, if any is.
  InputError misfit(const Both& value) const {
    const int s = filled_ < 0 ? (value[0] < value[1] ? 1 : 0) : 1 - filled_;
    if (!(value[s] > 0.0)) return equilibrium_not_found(binary_, "");
    if (filled_ < 0)
      return InputError(
          "problem.separation = {:.6g}: star {} of mass {} is larger than its Roche lobe; "
          "increase the separation",
          binary_.separation, s + 1,
          binary_.matter[s].text_of_mass(binary_.mass * (s == 0 ? 1.0 : binary_.mass_ratio) /
                                         (1.0 + binary_.mass_ratio)));
    return InputError(
        "problem.filling = [{}, {}]: star {} is larger than its Roche lobe; give the filling of "
        "this star and 0 for the other one",
        binary_.filling[0], binary_.filling[1], s + 1);
  }

  const SynchronousBinary& binary_;
  int filled_ = -1;  // star whose filling is given; -1: the separation is given
  // Sizes at the beginning, and logarithms of the present ones over those.
  Both first_{}, unknown_{};
  Both central_{};
};

}  // namespace

StarModel solve_binary(const SynchronousBinary& binary, double G) {
  if (binary.filling[0] > 1.0 && binary.filling[1] > 1.0) return solve_contact_binary(binary, G);
  check_filling(binary);
  const EvenHarmonics harmonics(k_degree_of_two, false);
  if (binary.matter[0].is_given()) {
    SizeSearch search(binary, G);
    BinaryIterate stars(binary, search.separation(), search.surface(), search.central(), harmonics,
                        G);
    search.run(stars);
    return stars.finished();
  }
  const Both distance = distances_to_point(binary, binary.separation);
  BinaryIterate stars(binary, binary.separation,
                      {binary.filling[0] * distance[0], binary.filling[1] * distance[1]},
                      {1.0, 1.0}, harmonics, G);
  stars.converge();
  return stars.finished();
}

}  // namespace octant::problems
