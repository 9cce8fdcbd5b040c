#include "hydro/eos/eos_lookup.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/number_file.hpp"
#include "hydro/eos/eos_table.hpp"

namespace octant::hydro {

namespace {

// Limits of the resolution of the grid, in nodes per factor of 2 in density and in thermal energy.
// A grid that would not fit into the cache of a processor is coarsened.
constexpr double k_fewest_per_octave = 16.0, k_most_per_octave = 32.0;
constexpr int k_most_reductions = 2;  // by a factor of 2 each
constexpr std::int64_t k_most_nodes = std::int64_t{1} << 20;

// Value of the polynomial of fifth degree through the six points around `at`. Beyond the points,
// the line through the two outermost ones is continued over a distance of at most `reach`, on the
// lower side only if `continues_down`.
double interpolated(std::span<const double> x, std::span<const double> y, double at, double reach,
                    bool continues_down) {
  constexpr std::ptrdiff_t k_points = 6;
  const auto line = [&](std::size_t end, std::size_t next, double distance) {
    return y[end] + distance * (y[end] - y[next]) / (x[end] - x[next]);
  };
  if (at <= x.front()) return continues_down ? line(0, 1, at - x.front()) : y.front();
  if (at >= x.back()) return line(x.size() - 1, x.size() - 2, std::min(at - x.back(), reach));
  const auto above = std::upper_bound(x.begin(), x.end(), at) - x.begin();
  const auto first = std::clamp<std::ptrdiff_t>(above - k_points / 2, 0, std::ssize(x) - k_points);
  double sum = 0.0;
  for (std::ptrdiff_t n = first; n < first + k_points; ++n) {
    double weight = 1.0;
    for (std::ptrdiff_t m = first; m < first + k_points; ++m)
      if (m != n) weight *= (at - x[m]) / (x[n] - x[m]);
    sum += weight * y[n];
  }
  return sum;
}

// Value at `at` of the cubic polynomials between the points whose slopes keep monotone data
// monotone (Fritsch & Butland 1984, SIAM J. Sci. Stat. Comput. 5, 300); beyond the points, the
// value of the outermost one. For points with uneven spacing.
double monotone(std::span<const double> x, std::span<const double> y, double at) {
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const auto low = static_cast<std::size_t>(std::ranges::upper_bound(x, at) - x.begin()) - 1;
  const auto rise = [&](std::size_t n) { return (y[n + 1] - y[n]) / (x[n + 1] - x[n]); };
  const auto slope = [&](std::size_t n) {
    if (n == 0 || n + 1 == x.size()) return rise(n == 0 ? 0 : n - 1);
    const double below = rise(n - 1), above = rise(n);
    if (!(below * above > 0.0)) return 0.0;
    const double share = (1.0 + (x[n + 1] - x[n]) / (x[n + 1] - x[n - 1])) / 3.0;
    return below * above / (share * above + (1.0 - share) * below);
  };
  const double h = x[low + 1] - x[low], t = (at - x[low]) / h;
  const double bend = t * (1.0 - t);
  const double line = y[low] + t * (y[low + 1] - y[low]);
  return line +
         bend * h * ((1.0 - t) * (slope(low) - rise(low)) - t * (slope(low + 1) - rise(low)));
}

// Axis of nodes from `least` to `largest`, with one more node on each side.
GridAxis axis_between(double least, double largest, double per_octave) {
  const double first = std::floor(per_octave * ApproximateLog<double>(least).value) - 1.0;
  const double last = std::ceil(per_octave * ApproximateLog<double>(largest).value) + 1.0;
  return {per_octave, first, std::max(static_cast<int>(last - first) + 1, 4)};
}

double nodes_per_octave(const std::vector<double>& axis) {
  const double spacing = std::log2(axis[1] / axis[0]);
  return std::clamp(std::ceil(1.0 / spacing), k_fewest_per_octave, k_most_per_octave);
}

// Isochore in code units, per mass.
struct Isochore {
  double cold_pressure, cold_energy, cold_modulus;              // at the lowest temperature
  std::vector<double> log_excess, log_thermal, ratio, modulus;  // at other temperatures
};

// Logarithms of the least and largest value on an axis.
using LogRange = std::pair<double, double>;

// All isochores of a table, whose logarithms and ratios are interpolated in density.
class Isochores {
 public:
  Isochores(const EosTable& table, const CodeUnits& units, double gamma) {
    const std::size_t hot = table.temperature.size() - 1;
    const double per_mass = units.velocity() * units.velocity();
    log_excess_ = ratio_ = exponent_ = std::vector(hot, std::vector<double>());
    for (std::size_t i = 0; i < table.density.size(); ++i) {
      const double rho = table.density[i];
      const std::size_t cold = table.place(i, 0);
      log_density_.push_back(std::log(rho / units.density()));
      log_pressure_.push_back(std::log(table.pressure[cold] / (rho * per_mass)));
      log_energy_.push_back(std::log(table.energy[cold] / per_mass));
      const auto exponent = [&](std::size_t at) {
        return table.sound_speed[at] * table.sound_speed[at] * rho / table.pressure[at];
      };
      cold_exponent_.push_back(exponent(cold));
      for (std::size_t k = 0; k < hot; ++k) {
        const std::size_t at = table.place(i, k + 1);
        const double excess = (table.pressure[at] - table.pressure[cold]) / rho;
        const double thermal = (gamma - 1.0) * (table.energy[at] - table.energy[cold]);
        log_excess_[k].push_back(std::log(excess / per_mass));
        ratio_[k].push_back(thermal / excess);
        exponent_[k].push_back(exponent(at));
      }
    }
  }

  // Isochore at a density in code units.
  Isochore at(double density) const {
    const double x = std::log(density);
    const auto value = [&](const std::vector<double>& y) {
      return interpolated(log_density_, y, x, std::numeric_limits<double>::infinity(), true);
    };
    const double pressure = std::exp(value(log_pressure_));
    Isochore found{
        pressure, std::exp(value(log_energy_)), pressure * value(cold_exponent_), {}, {}, {}, {}};
    for (std::size_t k = 0; k < ratio_.size(); ++k) {
      found.log_excess.push_back(value(log_excess_[k]));
      found.ratio.push_back(value(ratio_[k]));
      found.log_thermal.push_back(found.log_excess.back() + std::log(found.ratio.back()));
      const double modulus = (pressure + std::exp(found.log_excess.back())) * value(exponent_[k]);
      found.modulus.push_back((modulus - found.cold_modulus) / std::exp(found.log_thermal.back()));
    }
    return found;
  }

  // Range of q / rho and pi / rho in the table.
  LogRange log_heats() const {
    LogRange range = k_nothing;
    for (std::size_t i = 0; i < log_density_.size(); ++i) {
      const auto extend = [&](std::size_t k) {
        const double excess = log_excess_[k][i], thermal = excess + std::log(ratio_[k][i]);
        range = {std::min({range.first, excess, thermal}),
                 std::max({range.second, excess, thermal})};
      };
      extend(0), extend(ratio_.size() - 1);
    }
    return range;
  }

 private:
  static constexpr LogRange k_nothing{std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity()};

  // [density]
  std::vector<double> log_density_, log_pressure_, log_energy_, cold_exponent_;
  std::vector<std::vector<double>> log_excess_, ratio_, exponent_;  // [temperature][density]
};

// Throws unless pressure and energy of an isochore are increasing functions of the temperature.
void require_order(const EosTable& table, const Isochore& isochore, double density) {
  const auto ascends = [](const std::vector<double>& x) {
    return std::ranges::adjacent_find(x, [](double a, double b) { return !(a < b); }) == x.end();
  };
  if (ascends(isochore.log_excess) && ascends(isochore.log_thermal)) return;
  throw InputError(
      "'{}': pressure or energy, interpolated to the density {} g/cm^3, does not increase with "
      "temperature; use a table with closer densities or smoother values",
      table.path, density);
}

// Sets the nodes of one density. Returns false if the pressure is not an increasing function of the
// energy, or a sound speed is not positive.
bool fill_row(const EosGrid& grid, int i, const Isochore& row, double* nodes) {
  const auto value = [&](const std::vector<double>& x, const std::vector<double>& y, double at) {
    return interpolated(x, y, at, 3.0 * std::numbers::ln2 / grid.heat.per_log, false);
  };
  double* const isotherm = nodes + EosGrid::k_isotherm_values * i;
  isotherm[EosGrid::k_pressure_per_mass] = row.cold_pressure;
  isotherm[EosGrid::k_energy_per_mass] = row.cold_energy;
  isotherm[EosGrid::k_modulus_per_mass] = row.cold_modulus;
  isotherm[EosGrid::k_hottest_per_mass] = std::exp(row.log_thermal.back());
  double* const ratios = nodes + grid.ratios() + i * grid.heat.nodes;
  double* const inverse_ratios = nodes + grid.inverse_ratios() + i * grid.heat.nodes;
  double* const moduli = nodes + grid.moduli() + i * grid.heat.nodes;
  for (int j = 0; j < grid.heat.nodes; ++j) {
    const double heat = grid.heat.at(j), log_heat = std::log(heat);
    ratios[j] = 1.0 / value(row.log_thermal, row.ratio, log_heat);
    inverse_ratios[j] = value(row.log_excess, row.ratio, log_heat);
    moduli[j] = monotone(row.log_thermal, row.modulus, log_heat);
    const bool ascends = j == 0 || heat * ratios[j] > grid.heat.at(j - 1) * ratios[j - 1];
    if (!(ratios[j] > 0.0) || !(inverse_ratios[j] > 0.0) || !ascends) return false;
    if (!(row.cold_modulus + heat * moduli[j] > 0.0)) return false;
  }
  return row.cold_modulus > 0.0 && moduli[grid.heat.nodes - 1] > 0.0;
}

// Least and largest rho c^2 / p at the nodes and on the coldest isotherm.
std::pair<double, double> bounds_of_exponent(const EosGrid& grid,
                                             const std::vector<double>& nodes) {
  std::pair bounds{std::numeric_limits<double>::infinity(), 0.0};
  for (int i = 0; i < grid.density.nodes; ++i) {
    const double* const isotherm = nodes.data() + EosGrid::k_isotherm_values * i;
    for (int j = -1; j < grid.heat.nodes; ++j) {
      const double heat = j < 0 ? 0.0 : grid.heat.at(j);
      const int at = i * grid.heat.nodes + std::max(j, 0);
      const double pressure =
          isotherm[EosGrid::k_pressure_per_mass] + heat * nodes[grid.ratios() + at];
      const double modulus =
          isotherm[EosGrid::k_modulus_per_mass] + heat * nodes[grid.moduli() + at];
      bounds.first = std::min(bounds.first, modulus / pressure);
      bounds.second = std::max(bounds.second, modulus / pressure);
    }
  }
  return bounds;
}

}  // namespace

double argument_of_log(double value) {
  const double exponent = std::floor(value), rest = value - exponent;
  double u = rest;
  for (int step = 0; step < 8; ++step) {
    const double excess = u * (10.0 + u * (u - 4.0)) / 7.0 - rest;
    u -= excess * 7.0 / (10.0 + u * (3.0 * u - 8.0));
  }
  return std::ldexp((1.0 + u) / std::numbers::sqrt2, static_cast<int>(exponent));
}

void TabulatedGas::set_axes(const EosTable& table, LogRange heats) {
  double along_density = nodes_per_octave(table.density);
  double along_heat = nodes_per_octave(table.temperature);
  for (int reductions = 0;; ++reductions) {
    grid_.density = axis_between(grid_.least_density, grid_.largest_density, along_density);
    grid_.heat = axis_between(std::exp(heats.first), std::exp(heats.second), along_heat);
    if (std::int64_t{grid_.density.nodes} * grid_.heat.nodes <= k_most_nodes) return;
    if (reductions == k_most_reductions) break;
    along_density /= 2.0, along_heat /= 2.0;
  }
  throw InputError(
      "'{}': its densities and temperatures require {} x {} nodes; expected at most {} in all: use "
      "a table with smaller ranges",
      table.path, grid_.density.nodes, grid_.heat.nodes, k_most_nodes);
}

TabulatedGas::TabulatedGas(const EosTable& table, const CodeUnits& units, double gamma) {
  const Isochores isochores(table, units, gamma);
  temperatures_ = {table.temperature.front(), table.temperature.back()};
  for (std::size_t i = 0; i < table.density.size(); ++i) {
    densities_.push_back(table.density[i] / units.density());
    coldest_.push_back(table.pressure[table.place(i, 0)] / units.energy_density());
    hottest_.push_back(table.pressure[table.place(i + 1, 0) - 1] / units.energy_density());
  }
  grid_.least_density = table.density.front() / units.density();
  grid_.largest_density = table.density.back() / units.density();
  set_axes(table, isochores.log_heats());
  nodes_.resize(static_cast<std::size_t>(grid_.values()));
  for (int i = 0; i < grid_.density.nodes; ++i) {
    const double rho = grid_.density.at(i);
    const Isochore row = isochores.at(rho);
    require_order(table, row, rho * units.density());
    if (!fill_row(grid_, i, row, nodes_.data()))
      throw InputError(
          "'{}': at the density {} g/cm^3, the pressure is not an increasing function of the "
          "energy, or the sound speed is not positive; use a table with closer nodes",
          table.path, rho * units.density());
  }
  // Interpolation may exceed the values at the nodes by about 1e-4.
  constexpr double k_margin = 1e-3;
  const auto [least, largest] = bounds_of_exponent(grid_, nodes_);
  grid_.smallest_exponent = least * (1.0 - k_margin);
  grid_.largest_exponent = largest * (1.0 + k_margin);
  const auto begin = nodes_.begin();
  grid_.smallest_ratio =
      std::ranges::min(std::span(begin + grid_.ratios(), begin + grid_.inverse_ratios()));
  grid_.on_host = nodes_.data();
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, mesh::DeviceSpace>::accessible) {
    on_device_ = mesh::to_device("equation of state", nodes_);
    grid_.on_device = on_device_.data();
  } else {
    grid_.on_device = nodes_.data();
  }
}

std::pair<double, double> TabulatedGas::pressures_at(double density) const {
  const TableInterval at = find_interval(densities_, density);
  const auto value = [&](const std::vector<double>& pressures) {
    return std::exp(at.between(std::log(pressures[at.below]), std::log(pressures[at.above])));
  };
  return {value(coldest_), value(hottest_)};
}

}  // namespace octant::hydro
