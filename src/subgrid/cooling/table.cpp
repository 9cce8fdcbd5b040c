#include "subgrid/cooling/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/expectations.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant::subgrid::cooling {

namespace {

const std::string k_rates = "/CoolingRates/";
const std::string k_redshifts = "/UVBRates/z";

std::vector<double> read_all(const Hdf5Reader& file, const std::string& dataset) {
  return file.read_on_root<double>(dataset);
}

// Redshifts of the ultraviolet background, in increasing order.
std::vector<double> read_redshifts(const Hdf5Reader& file) {
  auto redshifts = read_all(file, k_redshifts);
  const bool is_finite = std::ranges::all_of(redshifts, [](double z) { return std::isfinite(z); });
  if (redshifts.empty() || !is_finite || !std::ranges::is_sorted(redshifts))
    throw InputError("{}: {} must contain finite redshifts in increasing order", file.path(),
                     k_redshifts);
  return redshifts;
}

// Rates of the ultraviolet background, one for each of `count` redshifts.
std::vector<double> read_background(const Hdf5Reader& file, const std::string& name,
                                    std::size_t count) {
  auto rates = read_all(file, "/UVBRates/Chemistry/" + name);
  const auto is_rate = [](double rate) { return rate >= 0.0 && std::isfinite(rate); };
  if (rates.size() != count || !std::ranges::all_of(rates, is_rate))
    throw InputError(
        "{}: /UVBRates/Chemistry/{} has {} values, or negative or non-finite ones; expected a "
        "finite, non-negative rate for each of the {} redshifts",
        file.path(), name, rates.size(), count);
  return rates;
}

void require_finite(const CoolingTable& table, const std::string& what,
                    const std::vector<double>& values) {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    throw InputError("{}: {} contains non-finite values; regenerate or replace the file",
                     table.path, what);
}

void require_axis(const CoolingTable& table, const std::string& what,
                  const std::vector<double>& values) {
  require_finite(table, what, values);
  if (values.empty() || !std::is_sorted(values.begin(), values.end()))
    throw InputError("{}: the values of {} are not in increasing order; expected a Grackle table",
                     table.path, what);
}

// Requires a minimum distance between adjacent values, by whose distance rates are interpolated.
void require_spacing(const CoolingTable& table, const std::string& what,
                     const std::vector<double>& values) {
  constexpr double k_least = 1e-6;
  for (std::size_t n = 1; n < values.size(); ++n)
    if (!(values[n] - values[n - 1] >= k_least))
      throw InputError(
          "{}: {}: the decimal logarithms of the values {} and {} differ by less than {}; expected "
          "increasing values",
          table.path, what, n - 1, n, k_least);
}

void read_axes(const Hdf5Reader& file, CoolingTable& table) {
  const std::string of = k_rates + "Primordial/Cooling";
  const auto rank = file.attribute<std::int64_t>(of, "Rank");
  if (rank < 1 || rank > 3)
    throw InputError(
        "{}: {} has Rank = {}; expected 1 (temperature), 2 (density, temperature) or 3 (density, "
        "redshift, temperature)",
        table.path, of, rank);
  const auto axis = [&](const char* name) { return file.attribute<std::vector<double>>(of, name); };
  table.log_density = rank >= 2 ? axis("Parameter1") : std::vector<double>{0.0};
  table.redshift = rank == 3 ? axis("Parameter2") : std::vector<double>{0.0};
  table.log_temperature = axis("Temperature");
  if (std::any_of(table.log_temperature.begin(), table.log_temperature.end(),
                  [](double T) { return !(T > 0.0); }))
    throw InputError("{}: {} contains non-positive values of Temperature", table.path, of);
  for (double& T : table.log_temperature) T = std::log10(T);
  require_axis(table, "Parameter1 (log density)", table.log_density);
  // The files contain the last redshift twice: with the background and without.
  require_axis(table, "Parameter2 (redshift)", table.redshift);
  require_axis(table, "Temperature", table.log_temperature);
  require_spacing(table, "Parameter1 (log density)", table.log_density);
  require_spacing(table, "Temperature", table.log_temperature);
  if (table.log_temperature.size() < 2)
    throw InputError("{}: the table has fewer than two temperatures", table.path);
  const auto& n = table.log_density;
  for (std::size_t i = 2; i < n.size(); ++i)
    if (!(std::abs((n[i] - n[i - 1]) / (n[1] - n[0]) - 1.0) <= 1e-6))
      throw InputError("{}: the densities of Parameter1 are not evenly spaced", table.path);
}

// Replaces isolated NaNs by the mean of the values at the adjacent temperatures. The published
// table HM2012 has one in the heating by metals, at 1e-10 cm^-3.
void fill_isolated_gaps(const CoolingTable& table, const std::string& name,
                        std::vector<double>& values) {
  const std::size_t temperatures = table.log_temperature.size();
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::size_t k = n % temperatures;
    if (std::isfinite(values[n]) || k == 0 || k + 1 == temperatures) continue;
    const double mean = 0.5 * (values[n - 1] + values[n + 1]);
    if (!std::isfinite(mean)) continue;
    values[n] = mean;
    log::warn(
        "{}: {} has no finite value at T = {:.4g} K in row {}; used the mean of its neighbours",
        table.path, name, std::pow(10.0, table.log_temperature[k]), n / temperatures);
  }
}

// Reads a dataset [n_H][z][T], in which the axes of density and redshift may be absent.
std::vector<double> read_field(const Hdf5Reader& file, const CoolingTable& table,
                               const std::string& name) {
  const auto shape = file.shape(name);
  const auto size =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  const auto expected = static_cast<std::int64_t>(table.log_density.size() * table.redshift.size() *
                                                  table.log_temperature.size());
  if (size != expected || shape.back() != std::ssize(table.log_temperature))
    throw InputError("{}: {} has {} values, but its axes require {}", table.path, name, size,
                     expected);
  auto values = read_all(file, name);
  if (name.ends_with("Metals/Heating")) fill_isolated_gaps(table, name, values);
  require_finite(table, name, values);
  return values;
}

// Reads rates as log10. Rates of a missing dataset are zero.
std::vector<double> read_rates(const Hdf5Reader& file, const CoolingTable& table,
                               const std::string& name) {
  const auto values =
      table.log_density.size() * table.redshift.size() * table.log_temperature.size();
  if (!file.exists(name)) return std::vector<double>(values, k_no_rate);
  auto rates = read_field(file, table, name);
  if (std::any_of(rates.begin(), rates.end(), [](double rate) { return rate < 0.0; }))
    throw InputError("{}: {} contains negative rates; expected non-negative rates", table.path,
                     name);
  for (double& rate : rates) rate = rate > 0.0 ? std::log10(rate) : k_no_rate;
  return rates;
}

// Returns the mean molecular weight of hydrogen and helium in ionisation equilibrium with the
// ultraviolet background of the file.
std::vector<double> equilibrium_weights(const Hdf5Reader& file, const CoolingTable& table) {
  const char* const rates[] = {"k24", "k26", "k25"};  // HI, HeI and HeII
  const bool has_background = file.exists(k_redshifts);
  if (!has_background && table.redshift.size() > 1)
    throw InputError(
        "{}: the table has neither {}Primordial/MMW nor /UVBRates, from which the mean molecular "
        "weight is computed; use a table with at least one of the two",
        table.path, k_rates);
  std::vector<double> redshifts, photo[3];
  if (has_background) redshifts = read_redshifts(file);
  for (int s = 0; s < 3 && has_background; ++s)
    photo[s] = read_background(file, rates[s], redshifts.size());

  std::vector<double> weights(table.cooling.size());
  for (std::size_t z = 0; z < table.redshift.size(); ++z) {
    PhotoRates at_z;
    for (int s = 0; s < 3 && has_background; ++s)
      at_z.ionization[s] = at_redshift(redshifts, photo[s], table.redshift[z]);
    for (std::size_t k = 0; k < table.log_temperature.size(); ++k) {
      const IonizationRates collisions(std::pow(10.0, table.log_temperature[k]));
      for (std::size_t n = 0; n < table.log_density.size(); ++n)
        weights[table.index(n, z, k)] = equilibrium(k_grackle_composition, collisions, at_z,
                                                    std::pow(10.0, table.log_density[n]))
                                            .molecular_weight(k_grackle_composition);
    }
  }
  return weights;
}

// Duplicates the row of a table with a single density, which then covers all densities.
void repeat_single_row(CoolingTable& table) {
  if (table.log_density.size() > 1) return;
  table.log_density = {-20.0, 20.0};
  for (auto* field : {&table.cooling, &table.heating, &table.metal_cooling, &table.metal_heating,
                      &table.molecular_weight}) {
    const std::vector<double> row = *field;
    field->insert(field->end(), row.begin(), row.end());
  }
}

}  // namespace

double at_redshift(const std::vector<double>& redshifts, const std::vector<double>& values,
                   double z) {
  if (z > redshifts.back()) return 0.0;
  const auto above = std::upper_bound(redshifts.begin(), redshifts.end(), z) - redshifts.begin();
  if (above == 0) return values.front();
  if (above == std::ssize(redshifts)) return values.back();
  const double f = (z - redshifts[above - 1]) / (redshifts[above] - redshifts[above - 1]);
  return values[above - 1] + f * (values[above] - values[above - 1]);
}

CoolingTable read_cooling_table(const Communicator& communicator, const std::string& path) {
  const Hdf5Reader file(communicator, path);
  if (file.has_attribute("/", "old_style") || file.exists("/old_style"))
    throw InputError(
        "{}: tables in the old format, with an axis of electron fractions, are not supported; use "
        "a table of Grackle 2 or later",
        path);
  CoolingTable table;
  table.path = path;
  read_axes(file, table);
  const std::string primordial = k_rates + "Primordial/", metals = k_rates + "Metals/";
  report_unread(file, k_rates.substr(0, k_rates.size() - 1), {"Primordial", "Metals"});
  report_unread(file, k_rates + "Primordial", {"Cooling", "Heating", "MMW"});
  report_unread(file, k_rates + "Metals", {"Cooling", "Heating"});
  table.cooling = read_rates(file, table, primordial + "Cooling");
  if (std::all_of(table.cooling.begin(), table.cooling.end(),
                  [](double rate) { return rate == k_no_rate; }))
    throw InputError("{}: {}Cooling is 0 everywhere; expected a Grackle table", table.path,
                     primordial);
  table.heating = read_rates(file, table, primordial + "Heating");
  table.has_metals = file.exists(metals + "Cooling");
  table.metal_cooling = read_rates(file, table, metals + "Cooling");
  table.metal_heating = read_rates(file, table, metals + "Heating");
  table.molecular_weight = file.exists(primordial + "MMW")
                               ? read_field(file, table, primordial + "MMW")
                               : equilibrium_weights(file, table);
  if (std::any_of(table.molecular_weight.begin(), table.molecular_weight.end(),
                  [](double mu) { return !(mu > 0.0); }))
    throw InputError("{}: {}MMW contains non-positive values", path, primordial);
  if (file.exists(k_redshifts) && file.exists("/UVBRates/Chemistry/k24")) {
    table.background_redshift = read_redshifts(file);
    table.hydrogen_ionization = read_background(file, "k24", table.background_redshift.size());
  }
  repeat_single_row(table);
  return table;
}

namespace {

// Interpolation position on the redshift axis, linear in log(1 + z) as in Grackle and clamped.
struct RedshiftPosition {
  std::size_t below;
  double fraction;
};

RedshiftPosition find_redshift(const std::vector<double>& redshifts, double z) {
  if (redshifts.size() < 2 || z <= redshifts.front()) return {0, 0.0};
  const auto above = std::upper_bound(redshifts.begin(), redshifts.end(), z) - redshifts.begin();
  if (above == std::ssize(redshifts)) return {redshifts.size() - 2, 1.0};
  const auto below = static_cast<std::size_t>(above - 1);
  return {below, std::log((1.0 + z) / (1.0 + redshifts[below])) /
                     std::log((1.0 + redshifts[below + 1]) / (1.0 + redshifts[below]))};
}

// Interpolates or extrapolates log10 of a rate in a row to the temperature T.
double at_temperature(const std::vector<double>& log_T, const double* row, int stride, double T) {
  const double x = std::log10(T);
  const auto above = std::upper_bound(log_T.begin(), log_T.end(), x) - log_T.begin();
  const auto k = std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(log_T) - 2);
  const double f = (x - log_T[k]) / (log_T[k + 1] - log_T[k]);
  return row[k * stride] + f * (row[(k + 1) * stride] - row[k * stride]);
}

// Extends the axis log10 T at its last spacing to the maximum temperature.
std::vector<double> extended(std::vector<double> log_T, double maximum) {
  const double spacing = log_T.back() - log_T[log_T.size() - 2];
  while (log_T.back() < std::log10(maximum)) log_T.push_back(log_T.back() + spacing);
  return log_T;
}

// Values of a table at one redshift, [n_H][T][LogValue].
struct TableAtRedshift {
  std::vector<double> log_T;
  std::vector<double> values;
  std::size_t rows;

  const double* at(std::size_t row, std::size_t k) const {
    return &values[(row * log_T.size() + k) * k_log_values];
  }
};

// Difference between linear and logarithmic interpolation of a cooling and a heating rate halfway
// between two temperatures, relative to the sum of the rates.
double error_of_chord(const double* low, const double* high, int cool, int heat) {
  double error = 0.0, sum = 0.0;
  for (const int f : {cool, heat}) {
    const double a = std::pow(10.0, low[f]), b = std::pow(10.0, high[f]), middle = std::sqrt(a * b);
    error += std::abs(0.5 * (a + b) - middle);
    sum += middle;
  }
  return sum > 0.0 ? error / sum : 0.0;
}

// Number of subintervals between temperatures k and k + 1 that limits the interpolation error at
// all densities to k_chord_error.
int intervals_between(const TableAtRedshift& table, std::size_t k, int most) {
  constexpr double k_chord_error = 0.004;
  double error = 0.0;
  for (std::size_t n = 0; n < table.rows; ++n) {
    const double *low = table.at(n, k), *high = table.at(n, k + 1);
    error = std::max({error, error_of_chord(low, high, k_cool, k_heat),
                      error_of_chord(low, high, k_metal_cool, k_metal_heat)});
  }
  // The error falls with the square of the number of subintervals.
  return std::clamp(static_cast<int>(std::ceil(std::sqrt(error / k_chord_error))), 1, most);
}

// Adds temperatures where rates are steep, with at most `most` subintervals per interval, because
// rates are linear in the internal energy between temperatures, whereas those of Grackle are linear
// in logarithms. All densities have the same temperatures.
TableAtRedshift with_more_temperatures(const TableAtRedshift& table, int most) {
  std::vector<int> intervals;
  TableAtRedshift fine{.log_T = {}, .values = {}, .rows = table.rows};
  for (std::size_t k = 0; k + 1 < table.log_T.size(); ++k) {
    const int count = intervals.emplace_back(intervals_between(table, k, most));
    for (int i = 0; i < count; ++i)
      fine.log_T.push_back(table.log_T[k] + (table.log_T[k + 1] - table.log_T[k]) * i / count);
  }
  fine.log_T.push_back(table.log_T.back());
  for (std::size_t n = 0; n < table.rows; ++n) {
    for (std::size_t k = 0; k + 1 < table.log_T.size(); ++k) {
      const double *low = table.at(n, k), *high = table.at(n, k + 1);
      for (int i = 0; i < intervals[k]; ++i)
        for (int f = 0; f < k_log_values; ++f)
          fine.values.push_back(low[f] + (high[f] - low[f]) * i / intervals[k]);
    }
    const double* last = table.at(n, table.log_T.size() - 1);
    fine.values.insert(fine.values.end(), last, last + k_log_values);
  }
  return fine;
}

// Returns the table at one redshift, with temperatures extended to options.maximum_temperature.
TableAtRedshift at_one_redshift(const CoolingTable& table, const TableOptions& options,
                                double redshift) {
  const RedshiftPosition z = find_redshift(table.redshift, redshift);
  const bool one = table.redshift.size() < 2;
  const std::size_t stored = table.log_temperature.size();
  const std::vector<double>* fields[] = {&table.cooling, &table.heating, &table.metal_cooling,
                                         &table.metal_heating, &table.molecular_weight};
  TableAtRedshift result{.log_T = extended(table.log_temperature, options.maximum_temperature),
                         .values = {},
                         .rows = table.log_density.size()};
  const auto& log_T = result.log_T;
  result.values.resize(result.rows * log_T.size() * k_log_values);
  for (std::size_t n = 0; n < result.rows; ++n)
    for (std::size_t k = 0; k < log_T.size(); ++k) {
      const std::size_t from = std::min(k, stored - 1);
      // Bremsstrahlung is proportional to the square root of T.
      const double beyond = 0.5 * (log_T[k] - log_T[from]);
      for (int f = 0; f < k_log_values; ++f) {
        const double low = (*fields[f])[table.index(n, z.below, from)];
        const double high = one ? low : (*fields[f])[table.index(n, z.below + 1, from)];
        const bool cools = f == k_cool || f == k_metal_cool;
        result.values[(n * log_T.size() + k) * k_log_values + f] =
            low + z.fraction * (high - low) + (cools ? beyond : 0.0);
      }
    }
  return result;
}

}  // namespace

RateGas table_gas(const TableOptions& options) {
  return {.hydrogen_per_gram = k_grackle_composition.hydrogen / constants::k_proton_mass,
          .nuclei = k_grackle_composition.nuclei(),
          .min_electrons = k_grackle_composition.hydrogen * options.residual_electrons,
          .metals_count = 1.0};
}

TableSlice slice_at(const CoolingTable& table, const TableOptions& options, double redshift) {
  const TableAtRedshift fine = with_more_temperatures(at_one_redshift(table, options, redshift),
                                                      options.temperature_refinement);
  const auto& [log_T, values, rows] = fine;
  std::vector<double> at_cmb(2 * rows), temperature(log_T.size());
  for (std::size_t n = 0; n < rows; ++n)
    for (int metals = 0; metals < 2; ++metals)
      at_cmb[2 * n + metals] = at_temperature(
          log_T, &values[n * log_T.size() * k_log_values + (metals ? k_metal_cool : k_cool)],
          k_log_values, k_cmb_temperature_today * (1.0 + redshift));
  std::transform(log_T.begin(), log_T.end(), temperature.begin(),
                 [](double x) { return std::pow(10.0, x); });

  std::vector<ThermalValues> thermal(log_T.size());
  std::transform(temperature.begin(), temperature.end(), thermal.begin(), [&](double T) {
    const double exchange =
        options.compton ? compton_per_electron(T, redshift) / constants::k_proton_mass : 0.0;
    return ThermalValues{internal_energy(T, k_grackle_metal_weight, options.gamma), exchange};
  });

  TableSlice slice;
  slice.thermal = mesh::to_device("cooling by temperature", thermal);
  slice.gas = table_gas(options);
  slice.values = mesh::to_device("cooling table", values);
  slice.temperature = mesh::to_device("cooling temperatures", temperature);
  slice.at_cmb = mesh::to_device("cooling at the background", at_cmb);
  slice.rows = {table.log_density.front(), 1.0 / (table.log_density[1] - table.log_density[0]),
                static_cast<int>(rows)};
  slice.temperatures = static_cast<int>(log_T.size());
  slice.options = options;
  slice.redshift = redshift;
  if (!table.hydrogen_ionization.empty())
    slice.shielding_density = shielding_density(
        at_redshift(table.background_redshift, table.hydrogen_ionization, redshift));
  return slice;
}

void set_search_hints(Nodes& nodes) {
  const int rows = nodes.rows.rows, temperatures = nodes.temperatures;
  const auto values = on_host(TransferKind::tables, nodes.values);
  const auto energy = [&](int row, int k) {
    return values((std::int64_t{row} * temperatures + k) * k_node_values + k_internal);
  };
  double least = energy(0, 0), most = energy(0, temperatures - 1), min_end_energy = most;
  for (int row = 1; row < rows; ++row) {
    least = std::min(least, energy(row, 0));
    most = std::max(most, energy(row, temperatures - 1));
    min_end_energy = std::min(min_end_energy, energy(row, temperatures - 1));
  }
  nodes.safe_energy = 0.99 * min_end_energy;
  NodeHints& hints = nodes.hints;
  hints.first = NodeHints::bin_of(least);
  hints.bins = static_cast<int>(NodeHints::bin_of(most) - hints.first) + 1;
  std::vector<std::uint16_t> above;
  for (int row = 0; row < rows; row += NodeHints::k_rows)
    for (int bin = 0, k = 0; bin < hints.bins; ++bin) {
      while (k < temperatures && energy(row, k) <= hints.least(bin)) ++k;
      above.push_back(static_cast<std::uint16_t>(k));
    }
  hints.above = mesh::to_device("cooling node hints", above);
}

Nodes refined_nodes(const TableSlice& slice) {
  const int refinement = slice.options.refinement, temperatures = slice.temperatures;
  Nodes nodes;
  nodes.rows = {slice.rows.first, slice.rows.per_dex * refinement,
                (slice.rows.rows - 1) * refinement + 1};
  nodes.temperatures = temperatures;
  const auto values = mesh::uninitialised<double>(
      "cooling nodes", std::int64_t{nodes.rows.rows} * temperatures * k_node_values);
  const RowAxis axis = nodes.rows;
  mesh::for_items(
      "cooling nodes", axis.rows * temperatures, KOKKOS_LAMBDA(int node) {
        const int row = node / temperatures;
        const int coarse =
            row / refinement < slice.rows.rows - 1 ? row / refinement : slice.rows.rows - 2;
        const TablePosition position{
            coarse, static_cast<double>(row - coarse * refinement) / refinement, true};
        const double n_H = power_of_ten(axis.first + row / axis.per_dex);
        slice.evaluate(position, n_H, node % temperatures,
                       &values(std::int64_t{node} * k_node_values));
      });
  nodes.values = values;
  nodes.thermal = slice.thermal;
  nodes.gas = slice.gas;
  set_search_hints(nodes);
  return nodes;
}

}  // namespace octant::subgrid::cooling
