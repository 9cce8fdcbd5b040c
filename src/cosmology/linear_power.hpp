// Linear matter power spectrum at z = 0.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "core/number_file.hpp"

namespace octant::cosmology {

// Transfer functions: Eisenstein & Hu (1998), with or without acoustic peaks, or a table.
enum class Transfer { eisenstein_hu, eisenstein_hu_smooth, table };
// Names of the transfer functions.
constexpr auto names_of(Transfer) {
  return std::array{"eisenstein_hu", "eisenstein_hu_smooth", "table"};
}

// Parameters of the power spectrum.
struct SpectrumOptions {
  double omega_m = 0.3, omega_b = 0.05, h = 0.7;
  double cmb_temperature = 2.7255;  // temperature of the cosmic microwave background in K
  double sigma_8 = 0.8;             // rms overdensity in spheres of 8 Mpc/h
  double spectral_index = 0.96;     // n_s of the primordial spectrum, P ~ k^n_s
  Transfer transfer = Transfer::eisenstein_hu;
  std::string table;  // file name, for Transfer::table
};

// Transfer function of Eisenstein & Hu (1998, ApJ 496, 605), T -> 1 at small k. k in 1/Mpc.
class EisensteinHu {
 public:
  EisensteinHu(double omega_m, double omega_b, double h, double cmb_temperature);

  // Transfer function of cold dark matter and baryons, with acoustic peaks: eq. 16.
  double operator()(double k) const;
  // Transfer function without acoustic peaks, with the suppression by baryons: eqs. 29-31.
  double smooth(double k) const;

 private:
  double dark_matter(double k) const;  // eqs. 17-20
  double baryons(double k) const;      // eqs. 21-24

  double f_b_, f_c_;             // baryon and dark matter fractions of matter
  double gamma_h_, theta_;       // omega_m h^2; CMB temperature / 2.7 K
  double k_equality_, k_silk_;   // 1/Mpc
  double sound_horizon_;         // Mpc
  double smooth_sound_horizon_;  // Mpc, the fit of eq. 26
  double alpha_gamma_;           // eq. 31
  double alpha_c_, beta_c_, alpha_b_, beta_b_, beta_node_;
};

// P(k) at z = 0, normalised to sigma_8.
class LinearPower {
 public:
  // Throws InputError if there are more baryons than matter, or the table cannot be read. A table
  // is a text file with k in h/Mpc, ascending, and P(k) at z = 0 in any unit on each line; text
  // after # is ignored. Interpolation is logarithmic; below the first k, P ~ k^n_s.
  LinearPower(const SpectrumOptions& options, const TextReader& read_text);

  // Power in (Mpc/h)^3 at k > 0 in h/Mpc. Throws InputError beyond the end of a table.
  double operator()(double k) const { return amplitude_ * shape(k); }

  // Rms overdensity in spheres of `radius` Mpc/h: sigma^2 = int dk k^2 P(k) W(k r)^2 / (2 pi^2),
  // W(x) = 3 (sin x - x cos x) / x^3.
  double sigma(double radius) const;

 private:
  double shape(double k) const;
  double table_shape(double k) const;

  SpectrumOptions options_;
  EisensteinHu eisenstein_hu_;
  std::vector<double> log_k_, log_power_;  // from the table
  double amplitude_ = 1.0;
};

}  // namespace octant::cosmology
