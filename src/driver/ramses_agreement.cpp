#include "driver/ramses_agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant::driver {

void refuse_ramses(const RamsesFacts& facts, const std::string& what) {
  throw InputError("--restart {}: {}", facts.folder, what);
}

namespace {

bool differ(double a, double b, double tolerance) {
  return std::abs(a - b) > tolerance * std::abs(b);
}

void check_units(const RamsesFacts& facts, const AmrOptions& options) {
  constexpr double k_tolerance = 1e-6;
  const UnitOptions& units = options.physical;
  if (units.given() && (differ(units.length, facts.unit_length, k_tolerance) ||
                        differ(units.density, facts.unit_density, k_tolerance) ||
                        differ(units.time, facts.unit_time, k_tolerance)))
    refuse_ramses(facts,
                  fmt::format("its units of length, density and time are {}, {} and {} (cgs), but "
                              "[units] says {}, {} and {}",
                              facts.unit_length, facts.unit_density, facts.unit_time, units.length,
                              units.density, units.time));
  if (options.gravity.enabled && differ(options.gravity.constant, 1.0, k_tolerance))
    refuse_ramses(facts, fmt::format("in its units G is 1, but gravity.constant is {}",
                                     options.gravity.constant));
}

// Both codes have supercomoving units: the universe and the box are all that can differ. RAMSES's
// constants of nature have three digits.
void check_universe(const RamsesFacts& facts, const cosmology::Universe& universe) {
  constexpr double k_megaparsec = 1e6 * constants::k_parsec, k_tolerance = 1e-3;
  const cosmology::CosmologyOptions& o = universe.options();
  const double box = facts.unit_length / facts.scale_factor / k_megaparsec * facts.hubble / 100.0;
  const std::tuple<const char*, double, double> expected[] = {
      {"omega_m", facts.omega_m, o.omega_m},
      {"omega_lambda", facts.omega_lambda, o.omega_lambda},
      {"omega_b", facts.omega_b, o.omega_b},
      {"h", facts.hubble / 100.0, o.h},
      {"box", box, o.box}};
  for (const auto& [name, theirs, ours] : expected)
    if (differ(theirs, ours, k_tolerance))
      refuse_ramses(facts, fmt::format("its universe has {} = {:.6g}, but cosmology.{} is {}", name,
                                       theirs, name, ours));
  if (facts.box_length != 1.0)
    refuse_ramses(facts,
                  fmt::format("the box of a universe has the length 1, not {}", facts.box_length));
  const double time = universe.time(facts.scale_factor);
  if (differ(facts.time, time, k_tolerance) && std::abs(facts.time - time) > k_tolerance)
    refuse_ramses(facts,
                  fmt::format("at a = {} this universe has the conformal time {}, the output {}: "
                              "have they the same radiation and dark energy?",
                              facts.scale_factor, time, facts.time));
}

// Variables that say what gas at rest would be, which RAMSES takes away before it steps
// (strict_equilibrium); they come last, and are passed by.
bool is_of_equilibrium(const std::string& variable) { return variable.starts_with("equilibrium_"); }

void check_gas(const RamsesFacts& facts, const RamsesHead& head,
               const hydro::HydroOptions& options) {
  const std::vector<std::string> expected(std::begin(k_ramses_gas), std::end(k_ramses_gas));
  const auto& names = facts.variables;
  if (!names.empty() && std::ranges::search(names, expected).begin() != names.begin())
    refuse_ramses(facts,
                  fmt::format("its variables are {}; Octant goes on from {}, and scalars after "
                              "them: it has neither magnetic fields nor other pressures",
                              fmt::join(names, ", "), fmt::join(expected, ", ")));
  if (std::abs(head.gamma - options.gamma) > 1e-6)
    refuse_ramses(facts, fmt::format("its gas has gamma = {}, but hydro.gamma is {}", head.gamma,
                                     options.gamma));
  const auto scalars = static_cast<int>(options.scalars.size());
  const auto further = head.variables - k_ramses_gas_fields -
                       static_cast<int>(std::ranges::count_if(names, is_of_equilibrium));
  if (further != scalars)
    refuse_ramses(
        facts,
        fmt::format("it has {} scalars beside density, velocity and pressure ({}), but the gas "
                    "has {} here: set hydro.scalars = {}",
                    further, fmt::join(names, ", "), scalars, further));
}

}  // namespace

RamsesLevels check_ramses_grid(const RamsesFacts& facts, const AmrSimulation& simulation) {
  const mesh::MeshOptions& mesh = simulation.options().mesh;
  const int cells = mesh.base_cells[0];
  for (int axis = 0; axis < 3; ++axis) {
    if (mesh.base_cells[axis] != cells || !std::has_single_bit(static_cast<unsigned>(cells)) ||
        cells > std::ldexp(1.0, facts.coarsest_level))
      refuse_ramses(facts,
                    fmt::format("mesh.base_cells must be a power of two, the same along all axes, "
                                "and at most 2^levelmin = {}",
                                std::ldexp(1.0, facts.coarsest_level)));
    const double length = mesh.upper[axis] - mesh.lower[axis];
    if (std::abs(length - facts.box_length) > 1e-9 * facts.box_length)
      refuse_ramses(facts, fmt::format("its box is {} long, but mesh.upper - mesh.lower is {}: "
                                       "set mesh.upper to mesh.lower + {}",
                                       facts.box_length, length, facts.box_length));
  }
  return {std::countr_zero(static_cast<unsigned>(cells))};
}

void check_ramses_physics(const RamsesFacts& facts, const AmrOptions& options) {
  if (options.hydro.enabled != facts.has_gas)
    refuse_ramses(facts,
                  fmt::format("it holds {} (hydro_{}.out*), but hydro.enabled is {}",
                              facts.has_gas ? "gas" : "no gas", facts.number, !facts.has_gas));
  if (facts.is_cosmological() == (options.universe != nullptr))
    return options.universe ? check_universe(facts, *options.universe)
                            : check_units(facts, options);
  refuse_ramses(facts,
                fmt::format("its universe {}: it has aexp = {} and H0 = {}, but cosmology.enabled "
                            "is {}",
                            facts.is_cosmological() ? "expands" : "does not expand",
                            facts.scale_factor, facts.hubble, options.universe != nullptr));
}

double ramses_time(const RamsesFacts& facts, const cosmology::Universe* universe) {
  if (!universe) return facts.time;
  const double time = universe->time(facts.scale_factor);
  return differ(facts.time, time, 1e-11) ? time : facts.time;
}

void check_ramses_head(const RamsesFacts& facts, const RamsesHead& head,
                       const AmrSimulation& simulation) {
  const AmrOptions& options = simulation.options();
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  for (int axis = 0; axis < 3; ++axis) {
    if (head.coarse_cells[axis] < 1 || head.coarse_cells[axis] > 3)
      refuse_ramses(facts,
                    fmt::format("its coarse grid has {} cells along {}; one, and one more for each "
                                "wall, can be read",
                                head.coarse_cells[axis], "xyz"[axis]));
    const bool walls = head.coarse_cells[axis] > 1;
    if (walls == geometry.periodic(axis))
      refuse_ramses(facts, fmt::format("along {} its box {}, but mesh.boundary says otherwise",
                                       "xyz"[axis], walls ? "has walls" : "is periodic"));
  }
  if (facts.has_gas) check_gas(facts, head, options.hydro);
}

}  // namespace octant::driver
