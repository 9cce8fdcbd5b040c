#include "cosmology/linear_power.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <sstream>

#include "core/error.hpp"
#include "core/number_file.hpp"

namespace octant::cosmology {

namespace {

double square(double x) { return x * x; }
double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x) / x; }

// Fourier transform of a homogeneous sphere of radius 1.
double top_hat(double x) {
  if (x < 1e-2) return 1.0 - x * x / 10.0;
  return 3.0 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
}

// Pressureless transfer function: Eisenstein & Hu (1998), eqs. 19-20 with q from eq. 10.
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386.0 / (1.0 + 69.9 * std::pow(q, 1.08));
  const double l = std::log(std::numbers::e + 1.8 * beta * q);
  return l / (l + c * q * q);
}

struct Table {
  std::vector<double> log_k, log_power;
};

Table read_table(const std::string& path, const TextReader& read_text) {
  const std::optional<std::string> text = read_text(path);
  if (!text) throw InputError("cannot read the power spectrum '{}' (initial.table)", path);
  std::istringstream file(*text);
  Table table;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream columns(line.substr(0, line.find('#')));
    double k = 0.0, power = 0.0;
    if (columns >> std::ws; columns.eof()) continue;
    if (!(columns >> k >> power) || !(k > 0.0) || !(power > 0.0) || !(columns >> std::ws).eof())
      throw InputError("{}:{}: expected two positive numbers, k in h/Mpc and P(k), found '{}'",
                       path, number, line);
    if (!table.log_k.empty() && std::log(k) <= table.log_k.back())
      throw InputError("{}:{}: k = {} is not larger than that of the previous line", path, number,
                       k);
    table.log_k.push_back(std::log(k));
    table.log_power.push_back(std::log(power));
  }
  if (table.log_k.size() < 2)
    throw InputError("'{}' contains {} values of the power spectrum; at least 2 are required", path,
                     table.log_k.size());
  return table;
}

}  // namespace

EisensteinHu::EisensteinHu(double omega_m, double omega_b, double h, double cmb_temperature)
    : f_b_(omega_b / omega_m),
      f_c_(1.0 - f_b_),
      gamma_h_(omega_m * h * h),
      theta_(cmb_temperature / 2.7) {
  const double om = omega_m * h * h, ob = omega_b * h * h;
  const double theta2 = theta_ * theta_, theta4 = theta2 * theta2;

  // Matter-radiation equality and the drag epoch, eqs. 2-6.
  const double z_equality = 2.50e4 * om / theta4;
  k_equality_ = 7.46e-2 * om / theta2;
  const double b1 = 0.313 * std::pow(om, -0.419) * (1.0 + 0.607 * std::pow(om, 0.674));
  const double b2 = 0.238 * std::pow(om, 0.223);
  const double z_drag = 1291.0 * std::pow(om, 0.251) / (1.0 + 0.659 * std::pow(om, 0.828)) *
                        (1.0 + b1 * std::pow(ob, b2));
  const auto momentum_ratio = [&](double z) { return 31.5 * ob / theta4 * (1000.0 / z); };
  const double r_drag = momentum_ratio(z_drag), r_equality = momentum_ratio(z_equality);
  // The sound horizon without baryons is the limit in which both ratios vanish together.
  sound_horizon_ =
      2.0 / (3.0 * k_equality_) *
      (ob > 0.0 ? std::sqrt(6.0 / r_equality) *
                      std::log((std::sqrt(1.0 + r_drag) + std::sqrt(r_drag + r_equality)) /
                               (1.0 + std::sqrt(r_equality)))
                : std::sqrt(6.0) * (std::sqrt(1.0 + z_equality / z_drag) - 1.0));
  k_silk_ = 1.6 * std::pow(ob, 0.52) * std::pow(om, 0.73) * (1.0 + std::pow(10.4 * om, -0.95));

  // Dark matter, eqs. 11-12.
  const double a1 = std::pow(46.9 * om, 0.670) * (1.0 + std::pow(32.1 * om, -0.532));
  const double a2 = std::pow(12.0 * om, 0.424) * (1.0 + std::pow(45.0 * om, -0.582));
  alpha_c_ = std::pow(a1, -f_b_) * std::pow(a2, -f_b_ * f_b_ * f_b_);
  const double c1 = 0.944 / (1.0 + std::pow(458.0 * om, -0.708));
  const double c2 = std::pow(0.395 * om, -0.0266);
  beta_c_ = 1.0 / (1.0 + c1 * (std::pow(f_c_, c2) - 1.0));

  // Baryons, eqs. 14-15 and 23-24.
  const double y = (1.0 + z_equality) / (1.0 + z_drag), root = std::sqrt(1.0 + y);
  const double g = y * (-6.0 * root + (2.0 + 3.0 * y) * std::log((root + 1.0) / (root - 1.0)));
  alpha_b_ = 2.07 * k_equality_ * sound_horizon_ * std::pow(1.0 + r_drag, -0.75) * g;
  beta_b_ = 0.5 + f_b_ + (3.0 - 2.0 * f_b_) * std::sqrt(square(17.2 * om) + 1.0);
  beta_node_ = 8.41 * std::pow(om, 0.435);

  // Smooth transfer function, eqs. 26 and 31.
  smooth_sound_horizon_ = 44.5 * std::log(9.83 / om) / std::sqrt(1.0 + 10.0 * std::pow(ob, 0.75));
  alpha_gamma_ =
      1.0 - 0.328 * std::log(431.0 * om) * f_b_ + 0.38 * std::log(22.3 * om) * f_b_ * f_b_;
}

double EisensteinHu::dark_matter(double k) const {
  const double q = k / (13.41 * k_equality_);
  const double f = 1.0 / (1.0 + square(square(k * sound_horizon_ / 5.4)));
  return f * pressureless(q, 1.0, beta_c_) + (1.0 - f) * pressureless(q, alpha_c_, beta_c_);
}

double EisensteinHu::baryons(double k) const {
  const double q = k / (13.41 * k_equality_), ks = k * sound_horizon_;
  const double node = beta_node_ / ks;
  const double shifted = ks / std::cbrt(1.0 + node * node * node);  // k s-tilde, eq. 22
  const double damping = std::exp(-std::pow(k / k_silk_, 1.4));
  const double ratio = beta_b_ / ks;
  return (pressureless(q, 1.0, 1.0) / (1.0 + square(ks / 5.2)) +
          alpha_b_ / (1.0 + ratio * ratio * ratio) * damping) *
         sinc(shifted);
}

double EisensteinHu::operator()(double k) const {
  if (f_b_ == 0.0) return dark_matter(k);
  return f_b_ * baryons(k) + f_c_ * dark_matter(k);
}

double EisensteinHu::smooth(double k) const {
  const double ks = 0.43 * k * smooth_sound_horizon_;
  const double gamma =
      gamma_h_ * (alpha_gamma_ + (1.0 - alpha_gamma_) / (1.0 + square(square(ks))));
  const double q = k * theta_ * theta_ / gamma;
  const double l = std::log(2.0 * std::numbers::e + 1.8 * q);
  return l / (l + (14.2 + 731.0 / (1.0 + 62.5 * q)) * q * q);
}

LinearPower::LinearPower(const SpectrumOptions& options, const TextReader& read_text)
    : options_(options),
      eisenstein_hu_(options.omega_m, options.omega_b, options.h, options.cmb_temperature) {
  if (!(options.omega_m > 0.0) || !(options.omega_b >= 0.0) || options.omega_b > options.omega_m)
    throw InputError("cosmology.omega_b = {} must lie between 0 and cosmology.omega_m = {}",
                     options.omega_b, options.omega_m);
  if (options.transfer == Transfer::table) {
    Table table = read_table(options.table, read_text);
    log_k_ = std::move(table.log_k);
    log_power_ = std::move(table.log_power);
  }
  amplitude_ = square(options.sigma_8 / sigma(8.0));
}

double LinearPower::shape(double k) const {
  if (!log_k_.empty()) return table_shape(k);
  const double k_physical = k * options_.h;
  const double transfer = options_.transfer == Transfer::eisenstein_hu_smooth
                              ? eisenstein_hu_.smooth(k_physical)
                              : eisenstein_hu_(k_physical);
  return std::pow(k, options_.spectral_index) * transfer * transfer;
}

double LinearPower::table_shape(double k) const {
  const double x = std::log(k);
  if (x <= log_k_.front())
    return std::exp(log_power_.front() + options_.spectral_index * (x - log_k_.front()));
  if (x > log_k_.back() + 1e-9)
    throw InputError(
        "the power spectrum '{}' ends at k = {:.6g} h/Mpc, but {:.6g} is required: provide a "
        "longer table, or use a larger box or fewer cells",
        options_.table, std::exp(log_k_.back()), k);
  const auto above = std::lower_bound(log_k_.begin(), log_k_.end() - 1, x);
  const auto n = static_cast<std::size_t>(above - log_k_.begin());
  const double t = (x - log_k_[n - 1]) / (log_k_[n] - log_k_[n - 1]);
  return std::exp((1.0 - t) * log_power_[n - 1] + t * log_power_[n]);
}

double LinearPower::sigma(double radius) const {
  // Simpson's rule in ln k; 256 intervals per factor e resolve the oscillations of W up to k r =
  // 100, beyond which the integrand is negligible.
  constexpr int k_per_e_fold = 256;
  const double lower = std::log(1e-6 / radius);
  double upper = std::log(100.0 / radius);
  if (!log_k_.empty()) upper = std::min(upper, log_k_.back());
  const int intervals = 2 * std::max(1, static_cast<int>((upper - lower) * k_per_e_fold / 2));
  const double step = (upper - lower) / intervals;
  double sum = 0.0;
  for (int n = 0; n <= intervals; ++n) {
    const double k = n == intervals ? std::exp(upper) : std::exp(lower + n * step);
    const double weight = n == 0 || n == intervals ? 1.0 : (n % 2 == 1 ? 4.0 : 2.0);
    sum += weight * k * k * k * (*this)(k)*square(top_hat(k * radius));
  }
  return std::sqrt(sum * step / 3.0 / (2.0 * square(std::numbers::pi)));
}

}  // namespace octant::cosmology
