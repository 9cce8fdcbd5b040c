// Contact binaries: two equal stars with a common envelope.
//
// Both stars have the same matter and one enthalpy constant, so that pressure and density are
// continuous in the neck between them. Radii of stars of the same matter do not increase with their
// masses as those of Roche lobes do, so that the stars are equal. The density is expanded about the
// centre of mass.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "problems/scale_search.hpp"
#include "problems/spherical_star.hpp"
#include "problems/star_iterate.hpp"

namespace octant::problems {

namespace {

constexpr int k_contact_degree = 36;  // maximum degree of harmonics
constexpr int k_contact_radii = 240;  // intervals of radius
// End of the coordinates, beyond the outer Lagrangian point, in separations.
constexpr double k_contact_reach = 1.3;
constexpr int k_contact_colatitudes = 64, k_contact_azimuths = 128;  // angles of the stored tables

// Iteration for both stars. The density maxima are fixed: zero effective gravity there gives Omega.
// The enthalpy constant is C = Phi_1 + f (Phi_2 - Phi_1) with the effective potentials at the inner
// and at the outer Lagrangian point.
class ContactIterate {
 public:
  ContactIterate(const SynchronousBinary& binary, double separation, double central, double G)
      : binary_(binary),
        G_(G),
        separation_(separation),
        stars_(harmonics_, k_contact_radii, k_contact_reach * separation, 0.0, binary.matter[0],
               binary.mass, G) {
    const double size = 0.5 * separation;  // radius of the spheres of the initial guess
    stars_.begin([&](double x, double y, double z) {
      const double dx = std::abs(x) - 0.5 * separation;
      return central * (1.0 - (dx * dx + y * y + z * z) / (size * size));
    });
  }

  // Interface of ScaleSearch: the size is the separation.
  double size() const { return separation_; }
  void stretch(double separation) {
    separation_ = separation;
    stars_.stretch(k_contact_reach * separation);
  }
  double scale() const { return stars_.scale(); }

  // Iterates until convergence. Throws InputError if there are no such stars.
  void converge() {
    const double unit = G_ * binary_.mass / separation_;
    Convergence convergence;
    for (int n = 1; n <= k_max_scf_iterations; ++n) {
      ++iterations_;
      stars_.attract();
      rotation2_ = 2.0 / separation_ * slope(0.5 * separation_);
      if (!(rotation2_ > 0.0)) throw none();
      outer_point_ = find_outer_point();
      const double inner = effective_potential(0.0), outer = effective_potential(outer_point_);
      constant_ = inner + (binary_.filling[0] - 1.0) * (outer - inner);
      const double largest = stars_.balance(constant_, rotation2_);
      stars_.cut(outer_point_);
      if (!(largest > 0.0) || !(outer > inner)) throw none();
      if (convergence.reached({rotation2_ * separation_ * separation_ / unit, constant_ / unit,
                               (constant_ - effective_potential(0.5 * separation_)) / unit}))
        return;
    }
    throw none();
  }

  StarModel finished() const {
    StarModel model;
    model.angular_velocity = std::sqrt(rotation2_);
    model.iterations = iterations_;
    model.separation = separation_;
    model.filling = binary_.filling;
    stars_.add_energies(rotation2_, model);
    ModelStar both =
        stars_.finished(constant_, rotation2_, k_contact_colatitudes, k_contact_azimuths);
    both.profile.radii = static_cast<int>(outer_point_ / both.profile.reach * k_contact_radii);
    both.profile.reach = stars_.radius(both.profile.radii);
    both.enthalpy.resize((both.profile.radii + 1) * (k_contact_colatitudes + 1) *
                         (k_contact_azimuths + 1));
    both.mass = 0.5 * binary_.mass;
    both.volume = 0.5 * stars_.enclosed_volume();
    both.central_enthalpy = constant_ - effective_potential(0.5 * separation_);
    both.central_density = both.profile.matter.density(both.central_enthalpy);
    for (const int side : {-1, 1}) {
      both.profile.side = side;
      both.profile.centre = side * 0.5 * separation_;
      both.profile.size = both.profile.reach - 0.5 * separation_;
      model.stars.push_back(both);
    }
    return model;
  }

 private:
  double effective_potential(double x) const {
    return stars_.potential(x, 0.5 * M_PI, 0.0) - 0.5 * rotation2_ * x * x;
  }
  // Derivative of the potential along x, of fourth order.
  double slope(double x) const {
    const double h = stars_.radius(1);
    const auto at = [&](double place) { return stars_.potential(place, 0.5 * M_PI, 0.0); };
    return (8.0 * (at(x + h) - at(x - h)) - (at(x + 2.0 * h) - at(x - 2.0 * h))) / (12.0 * h);
  }
  // Returns x of the outer Lagrangian point, where the effective potential beyond the star is
  // largest.
  double find_outer_point() const {
    double lower = 0.8 * separation_, upper = k_contact_reach * separation_;
    for (int n = 0; n < 60; ++n) {  // golden-section search
      constexpr double k_golden = 0.3819660112501051;
      const double a = lower + k_golden * (upper - lower), b = upper - k_golden * (upper - lower);
      if (effective_potential(a) < effective_potential(b)) lower = a;
      else upper = b;
    }
    return 0.5 * (lower + upper);
  }
  InputError none() const {
    return InputError(
        "problem.filling = [{}, {}]: no contact binary with {} was found; expected values closer "
        "to 1",
        binary_.filling[0], binary_.filling[1], binary_.matter[0].text());
  }

  const SynchronousBinary& binary_;
  const EvenHarmonics harmonics_{k_contact_degree, false, true};
  double G_, separation_;
  StarIterate stars_;
  double rotation2_ = 0.0, constant_ = 0.0, outer_point_ = 0.0;
  int iterations_ = 0;
};

void check_contact(const SynchronousBinary& binary) {
  if (binary.filling[0] != binary.filling[1] || binary.filling[0] > 2.0)
    throw InputError(
        "problem.filling = [{}, {}]: stars in contact have a common surface; expected two equal "
        "numbers between 1, the inner Lagrangian point, and 2, the outer one",
        binary.filling[0], binary.filling[1]);
  if (binary.mass_ratio != 1.0)
    throw InputError(
        "problem.mass_ratio = {}: stars of the same matter that are in contact (problem.filling > "
        "1) have equal masses; expected 1",
        binary.mass_ratio);
  if (binary.matter[0].index != binary.matter[1].index)
    throw InputError(
        "problem.polytropic_index = [{}, {}]: stars in contact "
        "(problem.filling > 1) have a common "
        "envelope; expected equal indices",
        binary.matter[0].index, binary.matter[1].index);
}

}  // namespace

StarModel solve_contact_binary(const SynchronousBinary& binary, double G) {
  check_contact(binary);
  if (!binary.matter[0].is_given()) {
    ContactIterate stars(binary, binary.separation, 1.0, G);
    stars.converge();
    return stars.finished();
  }
  const SphericalStar star =
      stable_star(binary.matter[0], 0.5 * binary.mass, G, 0.0, "problem.mass (each star)");
  ContactIterate stars(binary, 2.5 * star.radius, star.central_enthalpy, G);
  if (!ScaleSearch(stars).find_root())
    throw InputError(
        "problem.mass = {}: no contact binary with {} was "
        "found; decrease it",
        binary.matter[0].text_of_mass(binary.mass), binary.matter[0].text());
  return stars.finished();
}

}  // namespace octant::problems
