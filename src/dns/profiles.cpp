#include "dns/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/own_files.hpp"

namespace octant::dns {

namespace {

// Central moments, and terms of the budget of turbulent kinetic energy, at the centres or the upper
// faces of plane k.
class Profiles {
 public:
  Profiles(const Domain& domain, const Means& means, double viscosity)
      : d_(domain), m_(means), nu_(viscosity) {}

  double mean(const char* q, int k) const { return m_(q, k); }

  // Central moments <q'^2>, <q'^3>, <q'^4> of u, v and w at the positions of these components.
  double variance(char q, int k) const { return m(q, 2, k) - square(m(q, 1, k)); }
  double third(char q, int k) const {
    const double a = m(q, 1, k);
    return m(q, 3, k) - 3.0 * a * m(q, 2, k) + 2.0 * a * a * a;
  }
  double fourth(char q, int k) const {
    const double a = m(q, 1, k);
    return m(q, 4, k) - 4.0 * a * m(q, 3, k) + 6.0 * a * a * m(q, 2, k) - 3.0 * square(a * a);
  }
  static double square(double a) { return a * a; }

  // Returns the mean of two face values at the centre between them.
  template <class Face>
  static double at_centre(const Face& face, int k) {
    return 0.5 * (face(k - 1) + face(k));
  }

  // Returns a mean velocity at centres. Values beyond the ends of z are periodic or follow from the
  // boundary condition.
  double velocity(int component, int k) const {
    const int n = d_.grid.cells[2];
    const char* name = component == k_u ? "u" : "v";
    if (k >= 0 && k < n) return m_(name, k);
    if (d_.boundaries.periodic(2)) return m_(name, (k + n) % n);
    const int end = k < 0 ? 0 : 1, inside = k < 0 ? 0 : n - 1;
    if (d_.boundaries.velocity_condition(component, 2, end) == Condition::neumann)
      return m_(name, inside);
    return 2.0 * d_.boundaries.velocity(2, end)[component] - m_(name, inside);
  }
  double on_face(int component, int k) const {
    return 0.5 * (velocity(component, k) + velocity(component, k + 1));
  }
  double shear(int component, int k) const {  // at the upper face
    return (velocity(component, k + 1) - velocity(component, k)) / d_.grid.dz_face[k];
  }
  // Returns <u'w'> or <v'w'> at the upper face.
  double stress(int component, int k) const {
    return m_(component == k_u ? "uw" : "vw", k) - on_face(component, k) * m_("w", k);
  }

  double energy(int k) const {
    return 0.5 * (variance('u', k) + variance('v', k) +
                  at_centre([&](int f) { return variance('w', f); }, k));
  }
  double production(int k) const {
    return at_centre(
        [&](int f) { return -stress(k_u, f) * shear(k_u, f) - stress(k_v, f) * shear(k_v, f); }, k);
  }
  double dissipation(int k) const {
    return nu_ * (m_("gradients", k) + at_centre(
                                           [&](int f) {
                                             return m_("gradients_face", f) -
                                                    square(shear(k_u, f)) - square(shear(k_v, f));
                                           },
                                           k));
  }
  double turbulent_transport(int k) const {
    const auto flux = [&](int f) {
      const double u = on_face(k_u, f), v = on_face(k_v, f), w = m_("w", f);
      const double uu = m_("wuu", f) - 2.0 * u * m_("uw", f) + u * u * w;
      const double vv = m_("wvv", f) - 2.0 * v * m_("vw", f) + v * v * w;
      return 0.5 * (uu + vv + m_("www", f));
    };
    return -(flux(k) - flux(k - 1)) / d_.grid.dz_cell[k];
  }
  double pressure_transport(int k) const {
    return -(m_("pw", k) - m_("pw", k - 1)) / d_.grid.dz_cell[k];
  }
  double viscous_diffusion(int k) const {
    const int n = d_.grid.cells[2];
    const auto at = [&](int c) {
      if (c >= 0 && c < n) return energy(c);
      if (d_.boundaries.periodic(2)) return energy((c + n) % n);
      // Fluctuations are odd or even about a side, their squares even: no diffusion through it.
      return energy(c < 0 ? 0 : n - 1);
    };
    const auto flux = [&](int f) { return (at(f + 1) - at(f)) / d_.grid.dz_face[f]; };
    return nu_ * (flux(k) - flux(k - 1)) / d_.grid.dz_cell[k];
  }
  double total_stress(int k) const {
    return at_centre([&](int f) { return nu_ * shear(k_u, f) - stress(k_u, f); }, k);
  }

 private:
  // Returns <q^power>.
  double m(char q, int power, int k) const { return m_(std::string(power, q).c_str(), k); }

  const Domain& d_;
  const Means& m_;
  double nu_;
};

double root(double a) { return std::sqrt(std::max(0.0, a)); }

// Returns a / b, or 0 if b is not positive, as without fluctuations.
double ratio(double a, double b) { return b > 0.0 ? a / b : 0.0; }

using Column = std::pair<std::string, std::vector<double>>;

std::vector<Column> columns(const Domain& d, const Means& means, double viscosity) {
  const Profiles p(d, means, viscosity);
  std::vector<Column> all;
  const auto put = [&](const std::string& name, const auto& value) {
    std::vector<double> values;
    for (int k = 0; k < d.grid.cells[2]; ++k) values.push_back(value(k));
    all.emplace_back(name, values);
  };
  const auto put_faces = [&](const std::string& name, const auto& value) {
    put(name, [&](int k) { return Profiles::at_centre(value, k); });
  };
  put("z", [&](int k) { return d.grid.centre[k]; });
  put("u", [&](int k) { return p.mean("u", k); });
  put("v", [&](int k) { return p.mean("v", k); });
  put_faces("w", [&](int k) { return p.mean("w", k); });
  put("u_rms", [&](int k) { return root(p.variance('u', k)); });
  put("v_rms", [&](int k) { return root(p.variance('v', k)); });
  put("w_rms", [&](int k) {
    return root(Profiles::at_centre([&](int f) { return p.variance('w', f); }, k));
  });
  put("p_rms", [&](int k) { return root(p.mean("pp", k) - Profiles::square(p.mean("p", k))); });
  put("uv", [&](int k) { return p.mean("uv", k) - p.mean("u", k) * p.mean("v", k); });
  put_faces("uw", [&](int k) { return p.stress(k_u, k); });
  put_faces("vw", [&](int k) { return p.stress(k_v, k); });
  for (const char q : {'u', 'v'}) {
    put(fmt::format("{}_skewness", q), [&](int k) {
      const double s = p.variance(q, k);
      return ratio(p.third(q, k), s * root(s));
    });
    put(fmt::format("{}_flatness", q),
        [&](int k) { return ratio(p.fourth(q, k), Profiles::square(p.variance(q, k))); });
  }
  put("w_skewness", [&](int k) {
    const double s = Profiles::at_centre([&](int f) { return p.variance('w', f); }, k);
    return ratio(Profiles::at_centre([&](int f) { return p.third('w', f); }, k), s * root(s));
  });
  put("w_flatness", [&](int k) {
    const double s = Profiles::at_centre([&](int f) { return p.variance('w', f); }, k);
    return ratio(Profiles::at_centre([&](int f) { return p.fourth('w', f); }, k), s * s);
  });
  put("vorticity_x_rms", [&](int k) {
    return root(Profiles::at_centre(
        [&](int f) {
          return p.mean("enstrophy_x", f) - Profiles::square(p.mean("vorticity_x", f));
        },
        k));
  });
  put("vorticity_y_rms", [&](int k) {
    return root(Profiles::at_centre(
        [&](int f) {
          return p.mean("enstrophy_y", f) - Profiles::square(p.mean("vorticity_y", f));
        },
        k));
  });
  put("vorticity_z_rms", [&](int k) {
    return root(p.mean("enstrophy_z", k) - Profiles::square(p.mean("vorticity_z", k)));
  });
  put("t", [&](int k) { return p.mean("t", k); });
  put("t_rms", [&](int k) { return root(p.mean("tt", k) - Profiles::square(p.mean("t", k))); });
  put_faces("wt", [&](int k) { return p.mean("wt", k); });
  put("total_stress", [&](int k) { return p.total_stress(k); });
  put("energy", [&](int k) { return p.energy(k); });
  put("production", [&](int k) { return p.production(k); });
  put("dissipation", [&](int k) { return p.dissipation(k); });
  put("turbulent_transport", [&](int k) { return p.turbulent_transport(k); });
  put("pressure_transport", [&](int k) { return p.pressure_transport(k); });
  put("viscous_diffusion", [&](int k) { return p.viscous_diffusion(k); });
  return all;
}

}  // namespace

void write_profiles(const Communicator& communicator, const Domain& domain, const Means& means,
                    double viscosity, const std::string& path) {
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    const std::vector<Column> all = columns(domain, means, viscosity);
    std::string text;
    for (std::size_t c = 0; c < all.size(); ++c) text += (c > 0 ? "," : "") + all[c].first;
    text += '\n';
    for (int k = 0; k < domain.grid.cells[2]; ++k) {
      for (std::size_t c = 0; c < all.size(); ++c)
        text += fmt::format("{}{}", c > 0 ? "," : "", all[c].second[k]);
      text += '\n';
    }
    write_own_file(path, text);
  });
}

}  // namespace octant::dns
