#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

template <class... Kinds>
struct InOrder {
  static std::vector<std::unique_ptr<Process>> make() {
    std::vector<std::unique_ptr<Process>> processes;
    (processes.push_back(make_process<Kinds>()), ...);
    return processes;
  }
};

// In the order in which they act on a level.
using Processes = InOrder<class Heating, class Cooling>;

std::vector<std::unique_ptr<Process>> make_processes() { return Processes::make(); }

int Setting::variable(const std::string& scalar) const {
  const auto found = std::find(scalars.begin(), scalars.end(), scalar);
  OCTANT_REQUIRE(found != scalars.end(), "no process brings a scalar \"{}\"", scalar);
  return hydro::k_hydro_variables + gas.dual_energy + static_cast<int>(found - scalars.begin());
}

double Process::longest_step(const GasLevel& /*level*/) const {
  return std::numeric_limits<double>::infinity();
}

}  // namespace octant::subgrid
