#include "subgrid/supernovae/population.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/hdf5_file.hpp"

namespace octant::subgrid {

namespace {

// Maximum returned mass fraction: star particles retain at least a tenth of their initial mass.
constexpr double k_max_returned = 0.9;

std::vector<double> read_axis(const Hdf5Reader& file, const std::string& name, double least) {
  const auto shape = file.shape("/" + name);
  if (shape.size() != 1 || shape.front() == 0)
    throw InputError("{}: {} is not a one-dimensional array of numbers", file.path(), name);
  auto values = file.read_on_root<double>("/" + name);
  for (std::size_t n = 0; n < values.size(); ++n)
    if (!std::isfinite(values[n]) || values[n] < least || (n > 0 && values[n] <= values[n - 1]))
      throw InputError("{}: {} is {} at index {}; expected increasing values, starting at {}",
                       file.path(), name, values[n], n, least);
  return values;
}

std::vector<double> read_field(const Hdf5Reader& file, const std::string& name, std::int64_t rows,
                               std::int64_t columns) {
  if (file.shape("/" + name) != std::vector<std::int64_t>{rows, columns})
    throw InputError("{}: {} does not have the shape [metallicity][age], {} x {}", file.path(),
                     name, rows, columns);
  return file.read_on_root<double>("/" + name);
}

}  // namespace

PopulationTable::PopulationTable(const Communicator& communicator, const std::string& path) {
  const Hdf5Reader file(communicator, path);
  for (const std::string name :
       {"age", "metallicity", "ejected_mass", "ejected_metals", "supernovae"})
    if (!file.exists("/" + name))
      throw InputError(
          "{}: the dataset {} is missing; expected age, metallicity, ejected_mass, ejected_metals "
          "and supernovae (docs/supernovae.md)",
          path, name);
  report_unread(file, "/", {"age", "metallicity", "ejected_mass", "ejected_metals", "supernovae"});
  age_ = read_axis(file, "age", 1e-30);
  metallicity_ = read_axis(file, "metallicity", 0.0);
  for (const double age : age_) log_age_.push_back(std::log(age));
  const auto rows = std::ssize(metallicity_), columns = std::ssize(age_);
  mass_ = read_field(file, "ejected_mass", rows, columns);
  metals_ = read_field(file, "ejected_metals", rows, columns);
  supernovae_ = read_field(file, "supernovae", rows, columns);
  require(path, "ejected_mass", mass_);
  require(path, "ejected_metals", metals_);
  require(path, "supernovae", supernovae_);
  const double most = *std::max_element(mass_.begin(), mass_.end());
  if (most > k_max_returned)
    throw InputError("{}: ejected_mass reaches {}; expected at most {} of the initial stellar mass",
                     path, most, k_max_returned);
  for (std::size_t n = 0; n < mass_.size(); ++n)
    if (metals_[n] > mass_[n])
      throw InputError("{}: ejected_metals is {} where ejected_mass is {}", path, metals_[n],
                       mass_[n]);
}

// Throws InputError if a field is not finite, or decreases with age.
void PopulationTable::require(const std::string& path, const char* name,
                              const std::vector<double>& field) const {
  for (std::size_t n = 0; n < field.size(); ++n) {
    const std::size_t age = n % age_.size();
    const double before = age > 0 ? field[n - 1] : 0.0;
    if (!std::isfinite(field[n]) || field[n] < before)
      throw InputError(
          "{}: {} is {} at metallicity {} and age {}; expected values that do not decrease with "
          "age",
          path, name, field[n], n / age_.size(), age);
  }
}

PopulationTable::Place PopulationTable::place(double metallicity) const {
  if (metallicity_.size() == 1 || metallicity <= metallicity_.front()) return {0, 0.0};
  const auto above = std::upper_bound(metallicity_.begin(), metallicity_.end(), metallicity);
  const auto row = static_cast<std::size_t>(
      std::min(above - metallicity_.begin(), std::ssize(metallicity_) - 1) - 1);
  const double share =
      (metallicity - metallicity_[row]) / (metallicity_[row + 1] - metallicity_[row]);
  return {row, std::min(share, 1.0)};
}

double PopulationTable::at(const std::vector<double>& field, const Place& z,
                           std::size_t age) const {
  const double below = field[z.row * age_.size() + age];
  return z.share == 0.0 ? below
                        : below + z.share * (field[(z.row + 1) * age_.size() + age] - below);
}

StellarYields PopulationTable::until(double megayears, double metallicity) const {
  if (megayears < age_.front()) return {};
  const Place z = place(metallicity);
  const auto next = static_cast<std::size_t>(std::upper_bound(age_.begin(), age_.end(), megayears) -
                                             age_.begin());
  const auto value = [&](const std::vector<double>& field) {
    const double before = at(field, z, next - 1);
    if (next == age_.size()) return before;
    const double share =
        (std::log(megayears) - log_age_[next - 1]) / (log_age_[next] - log_age_[next - 1]);
    return before + share * (at(field, z, next) - before);
  };
  return {value(mass_), value(metals_), value(supernovae_)};
}

double PopulationTable::age_of(double returned_mass, double metallicity) const {
  const double wanted = returned_mass - k_rounding;
  if (!(wanted > 0.0)) return 0.0;
  const Place z = place(metallicity);
  double before = 0.0;
  for (std::size_t n = 0; n < age_.size(); ++n) {
    const double mass = at(mass_, z, n);
    if (mass >= wanted) {
      if (n == 0) return age_.front();
      const double share = (wanted - before) / (mass - before);
      return std::exp(log_age_[n - 1] + share * (log_age_[n] - log_age_[n - 1]));
    }
    before = mass;
  }
  return age_.back();
}

}  // namespace octant::subgrid
