#include "subgrid/cooling/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/hdf5_file.hpp"
#include "io/unread_members.hpp"

namespace octant::subgrid::cooling {

namespace {

const std::string k_rates = "/CoolingRates/";

std::vector<double> read_all(const Hdf5Reader& file, const std::string& dataset) {
  return file.read<double>(dataset, {0, file.shape(dataset).at(0)});
}

void require_finite(const CoolingTable& table, const std::string& what,
                    const std::vector<double>& values) {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    throw InputError("{}: {} has non-finite values; download the file again", table.path, what);
}

void require_axis(const CoolingTable& table, const std::string& what,
                  const std::vector<double>& values) {
  require_finite(table, what, values);
  if (values.empty() || !std::is_sorted(values.begin(), values.end()))
    throw InputError("{}: {} does not ascend; expected a table of Grackle", table.path, what);
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
    throw InputError("{}: {} has a Temperature that is not positive", table.path, of);
  for (double& T : table.log_temperature) T = std::log10(T);
  require_axis(table, "Parameter1 (log density)", table.log_density);
  require_axis(table, "Parameter2 (redshift)", table.redshift);
  require_axis(table, "Temperature", table.log_temperature);
  if (table.log_temperature.size() < 2)
    throw InputError("{}: it has fewer than two temperatures", table.path);
  // Files give their last redshift twice: with the background, and without.
  const auto& n = table.log_density;
  for (std::size_t i = 2; i < n.size(); ++i)
    if (std::abs((n[i] - n[i - 1]) / (n[1] - n[0]) - 1.0) > 1e-6)
      throw InputError("{}: the densities of Parameter1 are not evenly spaced", table.path);
}

// HM2012 as it is published has one NaN among the heating by metals, at 1e-10 cm^-3: a value that
// is missing between two temperatures becomes their mean.
void mend_lone_gaps(const CoolingTable& table, const std::string& name,
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

// A dataset of [n_H][z][T], however many of these axes it has.
std::vector<double> read_field(const Hdf5Reader& file, const CoolingTable& table,
                               const std::string& name) {
  const auto shape = file.shape(name);
  const auto size =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  const auto expected = static_cast<std::int64_t>(table.log_density.size() * table.redshift.size() *
                                                  table.log_temperature.size());
  if (size != expected || shape.back() != std::ssize(table.log_temperature))
    throw InputError("{}: {} has {} values; its axes say {}", table.path, name, size, expected);
  auto values = read_all(file, name);
  if (name.ends_with("Metals/Heating")) mend_lone_gaps(table, name, values);
  require_finite(table, name, values);
  return values;
}

// log10 of rates; a dataset that is missing means none.
std::vector<double> read_rates(const Hdf5Reader& file, const CoolingTable& table,
                               const std::string& name) {
  const auto values =
      table.log_density.size() * table.redshift.size() * table.log_temperature.size();
  if (!file.exists(name)) return std::vector<double>(values, k_no_rate);
  auto rates = read_field(file, table, name);
  if (std::any_of(rates.begin(), rates.end(), [](double rate) { return rate < 0.0; }))
    throw InputError("{}: {} holds negative rates; expected rates of 0 or more", table.path, name);
  for (double& rate : rates) rate = rate > 0.0 ? std::log10(rate) : k_no_rate;
  return rates;
}

// The mean molecular weight of hydrogen and helium in equilibrium with the file's background.
std::vector<double> equilibrium_weights(const Hdf5Reader& file, const CoolingTable& table) {
  const std::string group = "/UVBRates/";
  const char* const rates[] = {"k24", "k26", "k25"};  // of HI, HeI and HeII
  const bool has_background = file.exists(group + "z");
  if (!has_background && table.redshift.size() > 1)
    throw InputError(
        "{}: it has neither {}Primordial/MMW nor /UVBRates, from which the mean molecular weight "
        "would follow; give a table that has either",
        table.path, k_rates);
  std::vector<double> redshifts, photo[3];
  if (has_background) redshifts = read_all(file, group + "z");
  for (int s = 0; s < 3 && has_background; ++s)
    photo[s] = read_all(file, group + "Chemistry/" + rates[s]);

  std::vector<double> weights(table.cooling.size());
  for (std::size_t z = 0; z < table.redshift.size(); ++z) {
    PhotoRates at_z;
    for (int s = 0; s < 3 && has_background; ++s)
      at_z.ionization[s] = at_redshift(redshifts, photo[s], table.redshift[z]);
    for (std::size_t k = 0; k < table.log_temperature.size(); ++k) {
      const IonizationRates collisions(std::pow(10.0, table.log_temperature[k]));
      for (std::size_t n = 0; n < table.log_density.size(); ++n)
        weights[table.place(n, z, k)] = equilibrium(k_grackle_composition, collisions, at_z,
                                                    std::pow(10.0, table.log_density[n]))
                                            .molecular_weight(k_grackle_composition);
    }
  }
  return weights;
}

// One row serves all densities.
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
        "{}: tables of the old style, with an axis of electron fractions, are not read; give one "
        "of Grackle 2 or later",
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
    throw InputError("{}: {}Cooling is 0 everywhere; expected rates of a table of Grackle",
                     table.path, primordial);
  table.heating = read_rates(file, table, primordial + "Heating");
  table.has_metals = file.exists(metals + "Cooling");
  table.metal_cooling = read_rates(file, table, metals + "Cooling");
  table.metal_heating = read_rates(file, table, metals + "Heating");
  table.molecular_weight = file.exists(primordial + "MMW")
                               ? read_field(file, table, primordial + "MMW")
                               : equilibrium_weights(file, table);
  if (std::any_of(table.molecular_weight.begin(), table.molecular_weight.end(),
                  [](double mu) { return !(mu > 0.0); }))
    throw InputError("{}: {}MMW holds values that are not positive", path, primordial);
  if (file.exists("/UVBRates/z") && file.exists("/UVBRates/Chemistry/k24")) {
    table.background_redshift = read_all(file, "/UVBRates/z");
    table.hydrogen_ionization = read_all(file, "/UVBRates/Chemistry/k24");
  }
  repeat_single_row(table);
  return table;
}

}  // namespace octant::subgrid::cooling
