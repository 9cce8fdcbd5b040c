#include "hydro/eos/eos_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/hdf5_file.hpp"

namespace octant::hydro {

namespace {

constexpr std::size_t k_fewest_nodes = 8;  // along each axis
// Largest relative difference of the logarithmic spacing of two nodes from the mean.
constexpr double k_uneven = 1e-6;

// Reads an axis, which must be evenly spaced in the logarithm.
std::vector<double> read_axis(const Hdf5Reader& file, const std::string& name) {
  const auto shape = file.shape(name);
  if (shape.size() != 1 || shape[0] < static_cast<std::int64_t>(k_fewest_nodes))
    throw InputError("'{}': {} has shape {}; expected one axis of at least {} values", file.path(),
                     name, shape, k_fewest_nodes);
  auto values = read_finite_on_root(file, name, 0.0);
  const double step =
      std::log(values.back() / values.front()) / static_cast<double>(values.size() - 1);
  for (std::size_t n = 1; n < values.size(); ++n)
    if (!(step > 0.0) || !(std::abs(std::log(values[n] / values[n - 1]) / step - 1.0) <= k_uneven))
      throw InputError(
          "'{}': {}: the values {} and {} are {} and {}; expected increasing values with a "
          "constant ratio, whose logarithm varies by less than {} of itself; write the values with "
          "at least 10 significant digits",
          file.path(), name, n - 1, n, values[n - 1], values[n], k_uneven);
  return values;
}

std::vector<double> read_field(const Hdf5Reader& file, const EosTable& table,
                               const std::string& name) {
  const auto rows = std::ssize(table.density);
  require_shape(file, name, {rows, std::ssize(table.temperature)});
  return read_finite_on_root(file, name, 0.0);
}

void require_format(const Hdf5Reader& file) {
  constexpr const char* k_format = "octant equation of state";
  const bool has_format = file.has_attribute("/", "format") && file.has_attribute("/", "version");
  if (!has_format || file.attribute<std::string>("/", "format") != k_format)
    throw InputError(
        "'{}': expected the attributes format = \"{}\" and version = 1 of an equation of state",
        file.path(), k_format);
  if (const auto version = file.attribute<std::int64_t>("/", "version"); version != 1)
    throw InputError("'{}': version {} of the format is not supported; expected 1", file.path(),
                     version);
}

[[noreturn]] void refuse(const EosTable& table, std::size_t i, std::size_t k,
                         const std::string& problem) {
  throw InputError("'{}': at the density {} g/cm^3 and the temperature {} K, {}", table.path,
                   table.density[i], table.temperature[k], problem);
}

void require_increase(const EosTable& table, const std::vector<double>& field, const char* name) {
  for (std::size_t i = 0; i < table.density.size(); ++i)
    for (std::size_t k = 1; k < table.temperature.size(); ++k)
      if (!(field[table.place(i, k)] > field[table.place(i, k - 1)]))
        refuse(table, i, k,
               fmt::format("{} does not exceed that of the temperature below; expected values that "
                           "increase with temperature",
                           name));
}

// Derivatives of the logarithms of a field with respect to those of density and temperature, to
// fourth order.
struct LogSlopes {
  double density, temperature;

  LogSlopes(const EosTable& table, const std::vector<double>& field, std::size_t i, std::size_t k) {
    const auto slope = [&](std::size_t stride, const std::vector<double>& axis) {
      const double* const at = field.data() + table.place(i, k);
      const auto across = [&](std::ptrdiff_t n) {
        const auto offset = n * static_cast<std::ptrdiff_t>(stride);
        return std::log(at[offset] / at[-offset]);
      };
      return (8.0 * across(1) - across(2)) / (12.0 * std::log(axis[1] / axis[0]));
    };
    density = slope(table.temperature.size(), table.density);
    temperature = slope(1, table.temperature);
  }
};

// Throws unless the thermodynamic identities hold at nodes with two neighbours on all sides.
void require_consistency(const EosTable& table, double tolerance) {
  const std::size_t rows = table.density.size(), columns = table.temperature.size();
  for (std::size_t i = 2; i + 2 < rows; ++i)
    for (std::size_t k = 2; k + 2 < columns; ++k) {
      const std::size_t at = table.place(i, k);
      const double rho = table.density[i], p = table.pressure[at], energy = table.energy[at];
      const LogSlopes of_p(table, table.pressure, i, k), of_energy(table, table.energy, i, k);
      const double error = rho * energy * of_energy.density - p * (1.0 - of_p.temperature);
      if (!(std::abs(error) <= tolerance * (p + rho * energy)))
        refuse(table, i, k,
               fmt::format("rho^2 dE/drho differs from p - T dp/dT by {} of p + rho E; "
                           "hydro.eos_table_tolerance allows {}",
                           std::abs(error) / (p + rho * energy), tolerance));
      const double square = table.sound_speed[at] * table.sound_speed[at];
      const double push = p * of_p.temperature / rho;
      const double expected =
          p / rho * of_p.density + push * push / (energy * of_energy.temperature);
      if (!(std::abs(expected - square) <= tolerance * square))
        refuse(table, i, k,
               fmt::format("the squared sound speed {} cm^2/s^2 differs from that of pressure and "
                           "energy, {}, by more than hydro.eos_table_tolerance = {}",
                           square, expected, tolerance));
    }
}

// Fields of a table in a fixed order, for packed() and unpacked().
constexpr std::vector<double> EosTable::*k_arrays[] = {&EosTable::density, &EosTable::temperature,
                                                       &EosTable::pressure, &EosTable::energy,
                                                       &EosTable::sound_speed};

// Returns the sizes of the axes and then all numbers of a table, as bytes.
std::string packed(const EosTable& table) {
  std::string bytes;
  const auto append = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  for (const std::uint64_t size : {table.density.size(), table.temperature.size()})
    append(&size, sizeof size);
  for (const auto array : k_arrays)
    append((table.*array).data(), (table.*array).size() * sizeof(double));
  return bytes;
}

// Returns the table of packed().
EosTable unpacked(const std::string& path, const std::string& bytes) {
  const char* next = bytes.data();
  const auto read = [&](void* to, std::size_t size) {
    std::memcpy(to, next, size);
    next += size;
  };
  std::uint64_t rows = 0, columns = 0;
  read(&rows, sizeof rows);
  read(&columns, sizeof columns);
  EosTable table{.path = path,
                 .density = std::vector<double>(rows),
                 .temperature = std::vector<double>(columns),
                 .pressure = std::vector<double>(rows * columns),
                 .energy = std::vector<double>(rows * columns),
                 .sound_speed = std::vector<double>(rows * columns)};
  for (const auto array : k_arrays)
    read((table.*array).data(), (table.*array).size() * sizeof(double));
  return table;
}

}  // namespace

std::shared_ptr<const TabulatedGas> read_tabulated_gas(InputFiles& files, const std::string& path,
                                                       double tolerance, const CodeUnits& units,
                                                       double gamma) {
  const std::string bytes = files.derived(path, [&](const Communicator& alone) {
    return packed(read_eos_table(alone, path, tolerance));
  });
  return std::make_shared<const TabulatedGas>(unpacked(path, bytes), units, gamma);
}

EosTable read_eos_table(const Communicator& communicator, const std::string& path,
                        double tolerance) {
  const Hdf5Reader file(communicator, path);
  require_format(file);
  EosTable table{.path = path,
                 .density = read_axis(file, "/density"),
                 .temperature = read_axis(file, "/temperature"),
                 .pressure = {},
                 .energy = {},
                 .sound_speed = {}};
  table.pressure = read_field(file, table, "/pressure");
  table.energy = read_field(file, table, "/energy");
  table.sound_speed = read_field(file, table, "/sound_speed");
  require_increase(table, table.pressure, "the pressure");
  require_increase(table, table.energy, "the energy");
  require_consistency(table, tolerance);
  return table;
}

}  // namespace octant::hydro
