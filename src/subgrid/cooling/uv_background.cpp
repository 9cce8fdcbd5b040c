#include "subgrid/cooling/uv_background.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "io/hdf5_file.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::subgrid::cooling {

namespace {

// Reads a dataset with one number per redshift.
std::vector<double> read_numbers(const Hdf5Reader& file, const std::string& path,
                                 const std::string& dataset, std::size_t count) {
  if (!file.exists(dataset))
    throw InputError(
        "{}: {} is missing; expected a table of Grackle with an ultraviolet background", path,
        dataset);
  const auto numbers = file.read_on_root<double>(dataset);
  if (count > 0 && numbers.size() != count)
    throw InputError("{}: {} has {} values; expected one for each of the {} redshifts", path,
                     dataset, numbers.size(), count);
  if (std::any_of(numbers.begin(), numbers.end(),
                  [](double value) { return !(value >= 0.0 && std::isfinite(value)); }))
    throw InputError("{}: {} contains negative or non-finite values", path, dataset);
  return numbers;
}

}  // namespace

PhotoRates UvBackgroundTable::at(double z) const {
  PhotoRates rates;
  for (int s = 0; s < 3; ++s) {
    rates.ionization[s] = at_redshift(redshift, ionization[s], z);
    rates.heating[s] = at_redshift(redshift, heating[s], z);
  }
  return rates;
}

UvBackgroundTable read_uv_background(const Communicator& communicator, const std::string& path) {
  const Hdf5Reader file(communicator, path);
  const std::string group = "/UVBRates/";
  const char* const rates[] = {"k24", "k26", "k25"};
  const char* const heats[] = {"piHI", "piHeI", "piHeII"};
  UvBackgroundTable table{.path = path, .redshift = {}, .ionization = {}, .heating = {}};
  table.redshift = read_numbers(file, path, group + "z", 0);
  const std::size_t count = table.redshift.size();
  if (count == 0 || !std::is_sorted(table.redshift.begin(), table.redshift.end()))
    throw InputError("{}: {}z is not in increasing order", path, group);
  for (int s = 0; s < 3; ++s) {
    table.ionization[s] = read_numbers(file, path, group + "Chemistry/" + rates[s], count);
    table.heating[s] = read_numbers(file, path, group + "Photoheating/" + heats[s], count);
    for (double& heat : table.heating[s]) heat *= constants::k_electron_volt;
  }
  return table;
}

}  // namespace octant::subgrid::cooling
