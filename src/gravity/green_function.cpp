#include "gravity/green_function.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/error.hpp"
#include "pencil/fft.hpp"
#include "pencil/field.hpp"

namespace octant::gravity {

GreenFunction::GreenFunction(const pencil::Cells& cells, double cell_size, Laplacian laplacian) {
  for (int axis = 0; axis < 3; ++axis) {
    const double step = 2.0 * M_PI / cells[axis];  // phase of mode 1 per cell
    fundamental_[axis] = step / cell_size;
    for (int n = 0; n <= cells[axis] / 2; ++n) {
      const double sine = std::sin(0.5 * step * n);
      eigenvalues_[axis].push_back(laplacian == Laplacian::discrete ? -4.0 * sine * sine
                                                                    : -std::pow(step * n, 2));
    }
  }
}

double GreenFunction::wave_number(const pencil::Mode& mode) const {
  return std::hypot(mode.x * fundamental_[0], mode.y * fundamental_[1], mode.z * fundamental_[2]);
}

namespace {

// Times and weights of the integral over t by the double-exponential rule t = exp(pi/2 sinh s)
// (Takahasi & Mori 1974). At both ends the terms are below the rounding error of the sum.
struct Node {
  double time, weight;
};
std::vector<Node> nodes() {
  constexpr double step = 1.0 / 12, first = -3.7, last = 4.6;
  std::vector<Node> nodes;
  for (int n = 0; first + n * step <= last; ++n) {
    const double s = first + n * step, t = std::exp(0.5 * M_PI * std::sinh(s));
    nodes.push_back({t, step * t * 0.5 * M_PI * std::cosh(s)});
  }
  return nodes;
}

// Heat kernel K_t(n) for n = 0 .. last: by Miller's downward recurrence of Bessel functions,
// normalised to a sum of 1 over all n, or as a Gaussian at late times.
std::vector<double> heat(double t, int last) {
  // minimum time for the Gaussian, which has a relative error of 1 / (16 t)
  constexpr double long_time = 1e7;
  std::vector<double> k(last + 1);
  if (t > long_time) {
    for (int n = 0; n <= last; ++n) k[n] = std::exp(-0.25 / t * n * n) / std::sqrt(4.0 * M_PI * t);
    return k;
  }
  // Values beyond `start` are below rounding.
  const int start = std::max(last, static_cast<int>(10.0 * std::sqrt(2.0 * t))) + 30;
  double above = 0.0, here = 1e-300, sum = 0.0;
  for (int n = start; n >= 0; --n) {
    if (n <= last) k[n] = here;
    sum += n > 0 ? 2.0 * here : here;
    const double below = above + n / t * here;  // I_(n-1) = I_(n+1) + 2 n / x I_n, x = 2 t
    above = here;
    here = below;
    if (here > 1e250) {  // rescaling prevents overflow for small t
      for (double* value : {&above, &here, &sum}) *value *= 1e-300;
      for (int m = n; m <= last; ++m) k[m] *= 1e-300;
    }
  }
  for (double& value : k) value /= sum;
  return k;
}

}  // namespace

IsolatedGreen::IsolatedGreen(const pencil::Cells& cells) {
  const std::vector<Node> times = nodes();
  for (int axis = 0; axis < 3; ++axis) {
    const int n = cells[axis];
    // The DCT-I transforms a sequence that is even about 0 and n.
    const auto transform = pencil::make_transform(pencil::TransformKind::dct1, n + 1);
    factors_[axis].assign(n + 1, std::vector<double>(times.size()));
    pencil::Buffer lines(static_cast<std::size_t>(n + 1) * pencil::k_lines);
    for (std::size_t first = 0; first < times.size(); first += pencil::k_lines) {
      const std::size_t count = std::min<std::size_t>(times.size() - first, pencil::k_lines);
      for (std::size_t t = 0; t < count; ++t) {
        const std::vector<double> values = heat(times[first + t].time, n);
        for (int j = 0; j <= n; ++j) lines.data()[j * pencil::k_lines + t] = values[j];
      }
      transform->execute(lines.data(), pencil::k_lines);
      for (std::size_t t = 0; t < count; ++t) {
        const double weight = axis == 0 ? -times[first + t].weight : 1.0;
        for (int k = 0; k <= n; ++k)
          factors_[axis][k][first + t] = weight * lines.data()[k * pencil::k_lines + t];
      }
    }
  }
}

std::vector<double> IsolatedGreen::column(int x, int y) const {
  const auto &along_x = factors_[0][x], &along_y = factors_[1][y];
  std::vector<double> product(along_x.size());
  for (std::size_t t = 0; t < product.size(); ++t) product[t] = along_x[t] * along_y[t];
  std::vector<double> modes;
  modes.reserve(factors_[2].size());
  for (const std::vector<double>& along_z : factors_[2]) {
    double sums[4] = {};
    std::size_t t = 0;
    for (; t + 4 <= product.size(); t += 4)
      for (int lane = 0; lane < 4; ++lane) sums[lane] += product[t + lane] * along_z[t + lane];
    for (; t < product.size(); ++t) sums[0] += product[t] * along_z[t];
    modes.push_back((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return modes;
}

double IsolatedGreen::operator()(const pencil::Mode& mode) {
  if (mode.x != x_ || mode.y != y_) {
    x_ = mode.x, y_ = mode.y;
    const int y = std::abs(y_);
    auto& kept = columns_[std::int64_t{x_} * std::ssize(factors_[1]) + y];
    if (kept.empty()) kept = column(x_, y);
    present_ = kept.data();
  }
  return present_[std::abs(mode.z)];
}

namespace {

void check_ascending(const std::vector<double>& values, const std::string& location,
                     const char* what) {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n] <= 0.0 || (n > 0 && values[n] <= values[n - 1]))
      throw InputError("{}: {} must be positive and strictly increasing", location, what);
}

}  // namespace

TransferTable::TransferTable(const std::string& path, double unit, const TextReader& read_text) {
  std::vector<double> wave_numbers;
  for (auto& [location, values] : read_number_lines(path, "gravity.transfer", read_text)) {
    if (scale_factors_.empty()) {
      scale_factors_ = std::move(values);
      check_ascending(scale_factors_, location, "the scale factors of the first line");
      continue;
    }
    if (values.size() != scale_factors_.size() + 1)
      throw InputError(
          "{}: expected a wavenumber and {} transfer factors, one per scale factor of the first "
          "line, "
          "but found {} numbers",
          location, scale_factors_.size(), values.size());
    wave_numbers.push_back(values.front());
    check_ascending(wave_numbers, location, "wavenumbers");
    log_k_.push_back(std::log(values.front() * unit));
    factors_.emplace_back(values.begin() + 1, values.end());
  }
  if (factors_.empty())
    throw InputError(
        "'{}' (gravity.transfer): expected a line of scale factors, followed by lines with a wave "
        "number and its factors",
        path);
}

double TransferTable::operator()(double k, double a) const {
  const TableInterval row = find_interval(log_k_, std::log(k));
  const TableInterval column = find_interval(scale_factors_, a);
  const auto at = [&](std::size_t n) {
    return column.between(factors_[n][column.below], factors_[n][column.above]);
  };
  return row.between(at(row.below), at(row.above));
}

}  // namespace octant::gravity
