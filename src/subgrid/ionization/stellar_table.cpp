#include "subgrid/ionization/stellar_table.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::subgrid::ionization {

namespace {

constexpr double k_megayear = 1e6 * constants::k_year;

// Adds `weight` times the rates `b` to `a`.
void add(StellarRates& a, double weight, const StellarRates& b) {
  for (int g = 0; g < k_source_groups; ++g) a[g] += weight * b[g];
}

}  // namespace

StellarTable::StellarTable(const StellarRates& rates, double lifetime)
    : ages_{0.0, lifetime}, metallicities_{0.0}, rates_{{rates, rates}} {
  integrate();
}

StellarTable::StellarTable(const std::string& path, int groups, const TextReader& read_text) {
  for (const auto& [place, numbers] : read_number_lines(path, "ionization.star_table", read_text)) {
    if (std::ssize(numbers) != 2 + groups)
      throw InputError(
          "{}: expected metallicity, age in Myr, and photons per s and solar mass in {} groups, "
          "but "
          "found {} numbers",
          place, groups, numbers.size());
    if (std::any_of(numbers.begin(), numbers.end(), [](double value) { return !(value >= 0.0); }))
      throw InputError("{}: expected numbers that are not negative", place);
    const double metallicity = numbers[0], age = numbers[1] * k_megayear;
    if (metallicities_.empty() || metallicity != metallicities_.back()) {
      if (!metallicities_.empty() && metallicity < metallicities_.back())
        throw InputError("{}: expected increasing metallicities", place);
      metallicities_.push_back(metallicity);
      rates_.emplace_back();
    }
    const std::size_t row = rates_.back().size();
    if (metallicities_.size() == 1) {
      if (row > 0 && age <= ages_.back()) throw InputError("{}: expected increasing ages", place);
      ages_.push_back(age);
    } else if (row >= ages_.size() || age != ages_[row]) {
      throw InputError("{}: expected the ages of the first metallicity", place);
    }
    StellarRates rates{};
    for (int g = 0; g < groups; ++g) rates[g] = numbers[2 + g] / constants::k_solar_mass;
    rates_.back().push_back(rates);
  }
  for (std::size_t n = 0; n < rates_.size(); ++n)
    if (rates_[n].size() != ages_.size())
      throw InputError("{} (ionization.star_table): metallicity {} has {} ages; expected {}", path,
                       metallicities_[n], rates_[n].size(), ages_.size());
  if (ages_.size() < 2)
    throw InputError("{} (ionization.star_table): expected at least two ages", path);
  integrate();
}

void StellarTable::integrate() {
  for (const std::vector<StellarRates>& rates : rates_) {
    std::vector<StellarRates> sums{StellarRates{}};
    add(sums[0], ages_[0], rates[0]);
    for (std::size_t n = 1; n < ages_.size(); ++n) {
      StellarRates sum = sums.back();
      const double half = 0.5 * (ages_[n] - ages_[n - 1]);
      add(sum, half, rates[n - 1]);
      add(sum, half, rates[n]);
      sums.push_back(sum);
    }
    sums_.push_back(std::move(sums));
  }
}

// Photons per gram until an age.
StellarRates StellarTable::until(double age, double metallicity) const {
  const TableInterval z = find_interval(metallicities_, metallicity), a = find_interval(ages_, age);
  StellarRates photons{};
  for (const auto& [row, weight] : {std::pair{z.below, 1.0 - z.weight}, {z.above, z.weight}}) {
    const std::vector<StellarRates>& rates = rates_[row];
    if (age <= ages_.front()) {
      add(photons, weight * std::max(age, 0.0), rates.front());
      continue;
    }
    // Integral of a linear function from the age below.
    const double span = std::min(age, ages_.back()) - ages_[a.below];
    add(photons, weight, sums_[row][a.below]);
    add(photons, weight * span * (1.0 - 0.5 * a.weight), rates[a.below]);
    add(photons, weight * span * 0.5 * a.weight, rates[a.above]);
  }
  return photons;
}

StellarRates StellarTable::photons(double begin, double end, double metallicity) const {
  StellarRates photons = until(end, metallicity);
  add(photons, -1.0, until(begin, metallicity));
  for (double& number : photons) number = std::max(number, 0.0);
  return photons;
}

}  // namespace octant::subgrid::ionization
