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

// Processes in the order in which they act on a level.
using Processes =
    InOrder<class Turbulence, class Sources, class Braking, class Heating, class Cooling,
            class Ionization, class StarFormation, class Supernovae, class BlackHoles>;

std::vector<std::unique_ptr<Process>> make_processes() { return Processes::make(); }

GasVariable metals(double initial) {
  return {.name = "metals", .initial = initial, .description = "metal mass fraction"};
}

int ProcessSetup::first_passive_scalar() const {
  return hydro::k_hydro_variables + gas.dual_energy;
}

int ProcessSetup::passive_scalars() const {
  int count = 0;
  while (count < std::ssize(scalars) && scalars[count] == hydro::passive_scalar_name(count))
    ++count;
  return count;
}

int ProcessSetup::variable(const std::string& scalar) const {
  const auto found = std::find(scalars.begin(), scalars.end(), scalar);
  OCTANT_REQUIRE(found != scalars.end(), "no process adds a scalar \"{}\"", scalar);
  return hydro::k_hydro_variables + gas.dual_energy + static_cast<int>(found - scalars.begin());
}

void SyncPoint::fill_ghosts(std::size_t n) const {
  mesh.set_inflow_time(levels[n].number, time);
  mesh.fill_ghosts(levels[n].number, mesh::LevelFields::k_now, n == 0 ? arrived : 1.0);
}

particles::Particles& SyncPoint::kind(const std::string& name) const {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(),
                   [&](const particles::Particles& kind) { return kind.name() == name; });
  OCTANT_REQUIRE(found != kinds.end(), "no process adds particles of type \"{}\"", name);
  return *found;
}

double Process::longest_step(const GasLevel& /*level*/) const {
  return std::numeric_limits<double>::infinity();
}

}  // namespace octant::subgrid
