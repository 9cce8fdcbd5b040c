#include "radiation/opacity_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::radiation {

OpacityTable::OpacityTable(const std::string& path, const CodeUnits* units,
                           const TextReader& read_text) {
  if (units) {
    density_unit_ = 1.0 / units->density();
    opacity_unit_ = units->density() * units->length;
    density_unit_name_ = " g/cm^3";
    temperature_unit_name_ = " K";
  }
  read(path, read_text);
  set_grid();
}

void OpacityTable::read(const std::string& path, const TextReader& read_text) {
  for (const NumberLine& line : read_number_lines(path, "radiation.opacity_table", read_text))
    add_line(line.location, line.numbers);
  if (densities_.size() < 2 || temperatures_.size() < 2)
    throw InputError(
        "{} (radiation.opacity_table): expected at least two densities with at least two "
        "temperatures each, found {} and {}",
        path, densities_.size(), temperatures_.size());
  if (opacities_[0].size() != densities_.size() * temperatures_.size())
    throw InputError(
        "{} (radiation.opacity_table): the last density, {}, has {} temperatures; expected {}",
        path, densities_.back(),
        opacities_[0].size() - (densities_.size() - 1) * temperatures_.size(),
        temperatures_.size());
}

void OpacityTable::add_line(const std::string& location, const std::vector<double>& numbers) {
  if (numbers.size() != 2 + OpacityGrid::k_means)
    throw InputError(
        "{}: expected density, temperature, Planck mean and Rosseland mean, found {} numbers",
        location, numbers.size());
  if (std::ranges::any_of(numbers, [](double value) { return !(value > 0.0); }))
    throw InputError("{}: expected positive numbers", location);
  const double density = numbers[0], temperature = numbers[1];
  if (densities_.empty() || density != densities_.back()) {
    if (!densities_.empty() && density < densities_.back())
      throw InputError("{}: the density {} is less than {}; expected increasing densities",
                       location, density, densities_.back());
    if (opacities_[0].size() != densities_.size() * temperatures_.size())
      throw InputError(
          "{}: the density {} has {} temperatures; expected the {} temperatures of the first "
          "density",
          location, densities_.back(),
          opacities_[0].size() - (densities_.size() - 1) * temperatures_.size(),
          temperatures_.size());
    densities_.push_back(density);
  }
  const std::size_t row = opacities_[0].size() - (densities_.size() - 1) * temperatures_.size();
  if (densities_.size() == 1) {
    if (!temperatures_.empty() && temperature <= temperatures_.back())
      throw InputError(
          "{}: the temperature {} does not exceed {}; expected increasing temperatures", location,
          temperature, temperatures_.back());
    temperatures_.push_back(temperature);
  } else if (row >= temperatures_.size() || temperature != temperatures_[row]) {
    throw InputError("{}: the temperature is {}; expected those of the first density", location,
                     temperature);
  }
  for (int mean = 0; mean < OpacityGrid::k_means; ++mean)
    opacities_[mean].push_back(numbers[2 + mean]);
}

void OpacityTable::set_grid() {
  const auto add = [&](const std::vector<double>& values, double unit) {
    for (const double value : values) numbers_.push_back(std::log(value * unit));
  };
  add(densities_, density_unit_);
  add(temperatures_, 1.0);
  for (const auto& opacities : opacities_) add(opacities, opacity_unit_);
  grid_.densities = static_cast<int>(densities_.size());
  grid_.temperatures = static_cast<int>(temperatures_.size());
  grid_.on_host = numbers_.data();
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, mesh::DeviceSpace>::accessible) {
    on_device_ = mesh::to_device("opacities", numbers_);
    grid_.on_device = on_device_.data();
  } else {
    grid_.on_device = numbers_.data();
  }
}

std::string OpacityTable::ranges() const {
  return fmt::format("densities from {} to {}{}, and temperatures from {} to {}{}",
                     densities_.front(), densities_.back(), density_unit_name_,
                     temperatures_.front(), temperatures_.back(), temperature_unit_name_);
}

}  // namespace octant::radiation
