// Equation of state in an HDF5 file: pressure, internal energy and sound speed at nodes of density
// and temperature.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "core/units.hpp"
#include "hydro/eos/eos_grid.hpp"
#include "io/input_files.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

// Contents of a file in cgs units. Fields are [density][temperature].
struct EosTable {
  std::string path;
  std::vector<double> density;      // g cm^-3, evenly spaced in the logarithm
  std::vector<double> temperature;  // K, evenly spaced in the logarithm
  std::vector<double> pressure;     // erg cm^-3
  std::vector<double> energy;       // erg g^-1
  std::vector<double> sound_speed;  // cm s^-1

  // Index of a node in the fields.
  std::size_t place(std::size_t i, std::size_t k) const { return i * temperature.size() + k; }
};

// Reads a table and checks its values. Throws InputError, with the file and the dataset, if
// datasets are missing or of the wrong shape; if values are not finite and positive; if the axes
// are not evenly spaced in the logarithm; if pressure or energy do not increase with temperature;
// and if the thermodynamic identities
//   rho^2 dE/drho = p - T dp/dT,  c^2 = dp/drho + T (dp/dT)^2 / (rho^2 dE/dT),
// with E per mass and derivatives at constant temperature or density, are violated by more than
// `tolerance` times p + rho E and c^2. Collective.
EosTable read_eos_table(const Communicator& communicator, const std::string& path,
                        double tolerance);

class TabulatedGas;

// Reads a table as read_eos_table() does, on the rank that may open files, and returns it in the
// form that kernels evaluate. `gamma` defines the thermal pressure. Local, see InputFiles::share().
std::shared_ptr<const TabulatedGas> read_tabulated_gas(InputFiles& files, const std::string& path,
                                                       double tolerance, const CodeUnits& units,
                                                       double gamma);

// Table in the form that kernels evaluate, in code units.
class TabulatedGas {
 public:
  // Interpolates a table to the nodes of the kernels. `gamma` defines the thermal pressure. Throws
  // InputError if the internal energy at some density does not increase with the pressure.
  TabulatedGas(const EosTable& table, const CodeUnits& units, double gamma);

  // Table for kernels, valid during the life of this object.
  const EosGrid& grid() const { return grid_; }
  // Lowest and highest temperature in K.
  std::pair<double, double> temperatures() const { return temperatures_; }
  // Pressures of the coldest and hottest isotherm of the table at a density, or at the nearest one
  // of the table, in code units; interpolated linearly in logarithms, for messages.
  std::pair<double, double> pressures_at(double density) const;

 private:
  // Sets the axes of the grid for these logarithms of the least and largest heat per mass.
  void set_axes(const EosTable& table, std::pair<double, double> heats);

  EosGrid grid_;
  std::pair<double, double> temperatures_;
  std::vector<double> densities_, coldest_, hottest_;  // of the table, in code units
  std::vector<double> nodes_;
  mesh::DeviceArray<const double> on_device_;  // empty where host and device share their memory
};

}  // namespace octant::hydro
