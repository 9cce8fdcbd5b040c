#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <tuple>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "decomp/partition.hpp"
#include "mesh/flagging.hpp"
#include "ramses/import.hpp"
#include "ramses/ramses.hpp"

namespace octant {

void refuse_ramses(const RamsesFacts& attributes, const std::string& what) {
  throw InputError("--restart {}: {}", attributes.folder, what);
}

double ramses_time(const RamsesFacts& attributes, const cosmology::Universe* universe) {
  if (!universe) return attributes.time;
  const double time = universe->time(attributes.scale_factor);
  return std::abs(attributes.time - time) > 1e-11 * std::abs(time) ? time : attributes.time;
}

namespace {

bool differ(double a, double b, double tolerance) {
  return std::abs(a - b) > tolerance * std::abs(b);
}

void check_units(const RamsesFacts& attributes, const AmrOptions& options) {
  constexpr double k_tolerance = 1e-6;
  const UnitOptions& units = options.physical;
  if (units.has_physical_units() && (differ(units.length, attributes.unit_length, k_tolerance) ||
                                     differ(units.density, attributes.unit_density, k_tolerance) ||
                                     differ(units.time, attributes.unit_time, k_tolerance)))
    refuse_ramses(attributes,
                  fmt::format("the units of length, density and time of the output are {}, "
                              "{} and {} (cgs), but those in [units] are {}, {} and {}",
                              attributes.unit_length, attributes.unit_density, attributes.unit_time,
                              units.length, units.density, units.time));
  if (options.gravity.enabled && differ(options.gravity.constant, 1.0, k_tolerance))
    refuse_ramses(attributes,
                  fmt::format("G = 1 in the units of the output, but gravity.constant = {}",
                              options.gravity.constant));
}

// Both codes use supercomoving units, so only the cosmology and the box can differ. Physical
// constants of RAMSES have three digits.
void check_universe(const RamsesFacts& attributes, const cosmology::Universe& universe) {
  constexpr double k_megaparsec = 1e6 * constants::k_parsec, k_tolerance = 1e-3;
  const cosmology::CosmologyOptions& o = universe.options();
  const double box =
      attributes.unit_length / attributes.scale_factor / k_megaparsec * attributes.hubble / 100.0;
  const std::tuple<const char*, double, double> expected[] = {
      {"omega_m", attributes.omega_m, o.omega_m},
      {"omega_lambda", attributes.omega_lambda, o.omega_lambda},
      {"omega_b", attributes.omega_b, o.omega_b},
      {"h", attributes.hubble / 100.0, o.h},
      {"box", box, o.box}};
  for (const auto& [name, theirs, ours] : expected)
    if (differ(theirs, ours, k_tolerance))
      refuse_ramses(
          attributes,
          fmt::format("the cosmology of the output has {} = {:.6g}, but cosmology.{} = {}", name,
                      theirs, name, ours));
  if (attributes.box_length != 1.0)
    refuse_ramses(attributes, fmt::format("a cosmological box must have the length 1, not {}",
                                          attributes.box_length));
  const double time = universe.time(attributes.scale_factor);
  if (differ(attributes.time, time, k_tolerance) && std::abs(attributes.time - time) > k_tolerance)
    refuse_ramses(attributes,
                  fmt::format("at a = {}, the conformal time of this run is {}, but that of "
                              "the output is {}: check that radiation and dark energy agree",
                              attributes.scale_factor, time, attributes.time));
}

// Returns true for variables of the hydrostatic equilibrium that RAMSES subtracts before each step
// (strict_equilibrium). They are the last variables and are ignored.
bool is_of_equilibrium(const std::string& variable) { return variable.starts_with("equilibrium_"); }

void check_gas(const RamsesFacts& attributes, const RamsesHead& head,
               const hydro::HydroOptions& options) {
  const std::vector<std::string> expected(std::begin(k_ramses_gas), std::end(k_ramses_gas));
  const auto& names = attributes.variables;
  if (!names.empty() &&
      std::search(names.begin(), names.end(), expected.begin(), expected.end()) != names.begin())
    refuse_ramses(attributes,
                  fmt::format("the gas variables of the output are {}; expected {}, followed by "
                              "scalars: magnetic fields and further pressures are not supported",
                              fmt::join(names, ", "), fmt::join(expected, ", ")));
  if (names.empty() && head.variables > k_ramses_gas_fields)
    refuse_ramses(attributes,
                  fmt::format("hydro_file_descriptor.txt is missing: the gas has {} "
                              "variables, and those beyond the first {} can be scalars or "
                              "further pressures; copy that file into the directory",
                              head.variables, k_ramses_gas_fields));
  if (options.has_cold_curve() || options.is_real())
    refuse_ramses(
        attributes,
        fmt::format("hydro.equation_of_state = \"{}\" is not supported with RAMSES files; "
                    "expected \"ideal\"",
                    name_of(options.eos.kind)));
  if (std::abs(head.gamma - options.gamma) > 1e-6)
    refuse_ramses(attributes,
                  fmt::format("the gas of the output has gamma = {}, but hydro.gamma = {}",
                              head.gamma, options.gamma));
  const auto scalars = static_cast<int>(options.scalars.size());
  const auto further = head.variables - k_ramses_gas_fields -
                       static_cast<int>(std::ranges::count_if(names, is_of_equilibrium));
  if (further != scalars)
    refuse_ramses(attributes,
                  fmt::format("the output has {} scalars in addition to density, velocity and "
                              "pressure ({}), but this run has {}: set hydro.scalars = {}",
                              further, fmt::join(names, ", "), scalars, further));
}

// Checks the grid of a run against an output. Like the following checks, throws InputError that
// names the difference, on the ranks that call it.
RamsesLevels check_ramses_grid(const RamsesFacts& attributes, const AmrSimulation& simulation) {
  const mesh::MeshOptions& mesh = simulation.options().mesh;
  const int cells = mesh.base_cells[0];
  for (int axis = 0; axis < 3; ++axis) {
    if (mesh.base_cells[axis] != cells || !std::has_single_bit(static_cast<unsigned>(cells)) ||
        cells > std::ldexp(1.0, attributes.coarsest_level))
      refuse_ramses(attributes,
                    fmt::format("mesh.base_cells must be a power of two, the same along all axes, "
                                "and at most 2^levelmin = {}",
                                std::ldexp(1.0, attributes.coarsest_level)));
    const double length = mesh.upper[axis] - mesh.lower[axis];
    if (std::abs(length - attributes.box_length) > 1e-9 * attributes.box_length)
      refuse_ramses(attributes,
                    fmt::format("the box of the output has the length {}, but mesh.upper - "
                                "mesh.lower = {}: set mesh.upper to mesh.lower + {}",
                                attributes.box_length, length, attributes.box_length));
  }
  return {std::countr_zero(static_cast<unsigned>(cells))};
}

// Checks the presence of gas, the cosmology, and the units.
void check_ramses_physics(const RamsesFacts& attributes, const AmrOptions& options) {
  if (options.hydro.enabled != attributes.has_gas)
    refuse_ramses(
        attributes,
        fmt::format("the output contains {} (hydro_{}.out*), but hydro.enabled = {}",
                    attributes.has_gas ? "gas" : "no gas", attributes.number, !attributes.has_gas));
  if (attributes.is_cosmological() == (options.universe != nullptr))
    return options.universe ? check_universe(attributes, *options.universe)
                            : check_units(attributes, options);
  refuse_ramses(
      attributes,
      fmt::format("the output is {}, with aexp = {} and H0 = {}, but cosmology.enabled = {}",
                  attributes.is_cosmological() ? "cosmological" : "not cosmological",
                  attributes.scale_factor, attributes.hubble, options.universe != nullptr));
}

// Checks the header of a domain.
void check_ramses_head(const RamsesFacts& attributes, const RamsesHead& head,
                       const AmrSimulation& simulation) {
  const AmrOptions& options = simulation.options();
  const mesh::Geometry& geometry = simulation.mesh().geometry();
  for (int axis = 0; axis < 3; ++axis) {
    if (head.coarse_cells[axis] < 1 || head.coarse_cells[axis] > 3)
      refuse_ramses(attributes,
                    fmt::format("the coarse grid of the output has {} cells along {}; only "
                                "one cell, plus one for each wall, is supported",
                                head.coarse_cells[axis], "xyz"[axis]));
    const bool walls = head.coarse_cells[axis] > 1;
    if (walls == geometry.periodic(axis))
      refuse_ramses(
          attributes,
          fmt::format("along {}, the box of the output {}, which contradicts mesh.boundary",
                      "xyz"[axis], walls ? "has walls" : "is periodic"));
  }
  if (attributes.has_gas) check_gas(attributes, head, options.hydro);
}

int variables_of(const RamsesFacts& attributes, const AmrSimulation& simulation) {
  return attributes.has_gas
             ? k_ramses_gas_fields + static_cast<int>(simulation.options().hydro.scalars.size())
             : 0;
}

class TreeReader {
 public:
  TreeReader(AmrSimulation& simulation, const RamsesFacts& attributes, RamsesLevels levels,
             RamsesSource& source)
      : simulation_(simulation),
        mesh_(simulation.mesh()),
        facts_(attributes),
        source_(source),
        levels_(levels),
        delivery_(mesh_, attributes, source, levels, variables_of(attributes, simulation)) {
    const Communicator& ranks = mesh_.communicator();
    const std::vector<RamsesHead> heads = source.heads();
    finest_ = ranks.max(heads.empty() ? 0 : heads.front().levels);
    ranks.collective_try([&] {
      for (const RamsesHead& head : heads) {
        check_ramses_head(attributes, head, simulation);
        if (head.levels != finest_ || finest_ < levels.base)
          refuse_ramses(attributes, fmt::format("one domain has levels up to {}, another up to {}: "
                                                "files of different outputs are mixed",
                                                head.levels, finest_));
      }
    });
  }

  void read() {
    distribute_base();
    for (int level = 1; level < levels_.base; ++level) source_.next_level();
    std::int64_t refined = 0;
    for (int level = levels_.base; level <= finest_; ++level) {
      const std::int64_t expected =
          level == levels_.base ? std::int64_t{1} << 3 * (level - 1) : refined;
      mesh::OctantMasks wanted = present_octants();
      refined = read_level(level, expected, wanted);
      refined_cells_ += refined;
      if (refined == 0) continue;
      if (levels_.of_mesh(level) == mesh_.geometry().max_level())
        refuse_ramses(
            facts_,
            fmt::format("the output has octs of level {}: mesh.max_level must be at least {}",
                        level + 1, levels_.of_mesh(level) + 1));
      refine(wanted);
    }
    if (facts_.has_gas) raise_cells();
    mesh_.restrict_all();
    simulation_.matter().adapt_to_mesh();
    report();
  }

 private:
  // Octants that are currently refined, by level and slot.
  mesh::OctantMasks present_octants() const {
    mesh::OctantMasks masks(mesh_.geometry().max_level() + 1);
    for (int level = 0; level <= mesh_.geometry().max_level(); ++level) {
      masks[level].assign(mesh_.blocks(level).slots(), 0);
      for (const int slot : mesh_.blocks(level).own())
        masks[level][slot] = mesh_.blocks(level).refined(slot);
    }
    return masks;
  }

  // Refines the octants of these masks and those required by nesting, and balances the blocks.
  void refine(const mesh::OctantMasks& wanted) {
    mesh::FlagMasks flags(wanted.size());
    for (std::size_t level = 0; level < wanted.size(); ++level)
      for (const std::uint8_t octants : wanted[level]) {
        std::uint64_t cells = 0;
        for (int o = 0; o < 8; ++o)
          if (octants >> o & 1)
            cells |= mesh::octant_mask(2u << (o & 1), 2u << (o >> 1 & 1), 2u << (o >> 2));
        flags[level].push_back(cells);
      }
    mesh_.regrid(flags);
    std::vector<std::vector<int>> owners(wanted.size());
    for (int level = 0; level <= mesh_.finest_level(); ++level) owners[level] = even_owners(level);
    mesh_.migrate(owners);
  }

  // New owners of this rank's blocks, with equal numbers of blocks per rank. If all blocks cost the
  // same, the run's load balance gives the same owners, and the blocks do not migrate again.
  std::vector<int> even_owners(int level) const {
    std::vector<CostItem> items;
    for (const int slot : mesh_.blocks(level).own())
      items.push_back({morton_decode(mesh_.blocks(level).key(slot)), level, 1.0});
    const BalanceOptions& balance = simulation_.options().balance;
    return partition(balance.decomposition, mesh_.communicator(), {mesh_.geometry().extent(0)},
                     items, balance.tolerance);
  }

  // Distributes the base level before its blocks contain data.
  void distribute_base() {
    std::vector<Key> keys;
    for (const int slot : mesh_.blocks(0).own()) keys.push_back(mesh_.blocks(0).key(slot));
    auto own = route<Key>(mesh_.communicator(), even_owners(0), keys).items;
    std::ranges::sort(own);
    const std::vector<std::uint8_t> refined(own.size(), 0);
    mesh_.replace_blocks({{std::move(own), refined}});
  }

  // Reads the octs of a level, stores their values in blocks, and marks the octants that contain
  // refined cells. Returns the number of refined cells over all ranks.
  std::int64_t read_level(int level, std::int64_t expected, mesh::OctantMasks& wanted) {
    std::int64_t counts[2] = {0, 0};  // octs, refined cells
    counts[0] = delivery_.deliver_level(level, [&](const ArrivedOcts& octs) {
      counts[1] += store(octs, levels_.of_mesh(level), wanted);
    });
    mesh_.communicator().sum_in_place(std::span<std::int64_t>(counts));
    if (counts[0] != expected)
      refuse_ramses(facts_,
                    fmt::format("the domains own {} octs of level {}, but {} cells of level {} are "
                                "refined: files are missing, or belong to different outputs",
                                counts[0], level, expected, level - 1));
    return counts[1];
  }

  // Returns the number of refined cells of these octs.
  std::int64_t store(const ArrivedOcts& octs, int level, mesh::OctantMasks& wanted) {
    const int N = mesh_.geometry().block_size();
    const mesh::CellRange& cells = mesh_.cells(level);
    std::int64_t refined = 0;
    for (std::size_t n = 0; n < octs.places.size(); ++n) {
      const OctPosition& place = octs.places[n];
      refined += std::popcount(place.refined);
      for (int cell = 0; cell < k_oct_cells; ++cell)
        if (place.refined >> cell & 1)
          wanted[level][place.slot] |= static_cast<std::uint8_t>(
              1 << cells.octant_of(static_cast<int>(place.cell(cell, N))));
    }
    if (facts_.has_gas) write_gas(simulation_, level, octs, source_.is_conserved());
    return refined;
  }

  void raise_cells() {
    const std::int64_t raised = mesh_.communicator().sum(apply_pressure_floor(simulation_));
    if (raised > 0)
      log::warn(
          "{}: raised the pressure of {} cells without positive total energy to "
          "hydro.pressure_floor, or to 1e-14 of their kinetic energy density",
          facts_.folder, raised);
  }

  void report() const {
    std::int64_t octants = 0;
    for (int level = 0; level < mesh_.finest_level(); ++level)
      for (const int slot : mesh_.blocks(level).own())
        octants += std::popcount(static_cast<unsigned>(mesh_.blocks(level).refined(slot)));
    const int half = mesh_.geometry().octant_size();
    const std::int64_t cells = mesh_.communicator().sum(octants) * half * half * half;
    log::info(
        "{}: read {} files; refined {} cells that were leaves in RAMSES, as required by blocks of "
        "{}^3 cells and their ghost zones",
        facts_.folder, facts_.domains, cells - refined_cells_, mesh_.geometry().block_size());
  }

  AmrSimulation& simulation_;
  mesh::Mesh& mesh_;
  const RamsesFacts& facts_;
  RamsesSource& source_;
  RamsesLevels levels_;
  OctDelivery delivery_;
  int finest_ = 0;
  std::int64_t refined_cells_ = 0;  // in the file
};

}  // namespace

std::vector<particles::Kind> ramses_kinds(const Communicator& communicator,
                                          const std::string& path) {
  return kinds_of_families(read_ramses_facts(communicator, path));
}

RamsesRestart read_ramses(AmrSimulation& simulation, const std::string& path, int chunk_files) {
  const Communicator& ranks = simulation.mesh().communicator();
  const RamsesFacts attributes = read_ramses_facts(ranks, path);
  check_ramses_physics(attributes, simulation.options());
  const RamsesLevels levels = check_ramses_grid(attributes, simulation);
  const auto source = open_ramses(ranks, attributes, chunk_files);
  TreeReader(simulation, attributes, levels, *source).read();
  read_ramses_particles(simulation, attributes, *source);
  const double time = ramses_time(attributes, simulation.options().universe.get());
  simulation.begin_from(time, attributes.coarse_steps);
  return {.progress = {.last_snapshot_time = time, .last_cutout_time = time},
          .add_half_kick = find_half_kick(simulation, attributes, levels, *source, chunk_files)};
}

}  // namespace octant
