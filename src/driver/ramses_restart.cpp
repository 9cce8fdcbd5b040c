#include "driver/ramses_restart.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <sstream>

#include "core/error.hpp"
#include "core/log.hpp"
#include "decomp/partition.hpp"
#include "driver/checkpoints.hpp"
#include "driver/ramses_agreement.hpp"
#include "driver/ramses_delivery.hpp"
#include "driver/ramses_families.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/floors.hpp"
#include "hydro/gas_cell.hpp"
#include "io/hdf5_file.hpp"
#include "io/ramses_output.hpp"
#include "mesh/device.hpp"
#include "mesh/flagging.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

// Makes `stored` that of the values around it which is shown as `wanted`; whether there is one.
// Where not, it stays.
template <class Shown>
KOKKOS_INLINE_FUNCTION bool store_as_shown(double wanted, double& stored, const Shown& shown) {
  constexpr int k_tries = 4;
  const double guess = stored;
  double above = guess, below = guess;
  for (int n = 0; n < k_tries; ++n) {
    stored = above;
    if (shown() == wanted) return true;
    stored = below;
    if (shown() == wanted) return true;
    above = Kokkos::nextafter(above, 1e300);
    below = Kokkos::nextafter(below, -1e300);
  }
  stored = guess;
  return false;
}

// The variables of a cell in a file: density, velocity or momentum, pressure or energy, scalars.
struct FileCell {
  const double* first;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t variable) const {
    return first[variable * k_oct_cells];
  }
};

// Stores conserved variables as they are.
struct StoreConserved {
  hydro::Gas gas;
  int first_scalar, scalars;

  KOKKOS_INLINE_FUNCTION void operator()(double* state, std::int64_t stride,
                                         const FileCell& file) const {
    const hydro::GasCell at(state, stride, gas);
    const double density = file(hydro::k_mass);
    double velocity[3], speed2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      velocity[d] = file(hydro::k_momentum_x + d) / density;
      speed2 += velocity[d] * velocity[d];
    }
    at.set(density, velocity, (gas.gamma - 1.0) * (file(hydro::k_energy) - 0.5 * density * speed2));
    for (int n = 1; n < k_ramses_gas_fields; ++n) at[n] = file(n);
    for (int n = 0; n < scalars; ++n) at[first_scalar + n] = file(k_ramses_gas_fields + n);
  }
};

// Conserved variables that are changed until they show the primitive ones of a file.
struct ShownState {
  FileCell file;
  const hydro::Gas& gas;
  hydro::State<double> u;
  double entropy;

  KOKKOS_INLINE_FUNCTION double shown(int n) const {
    return hydro::physical_state(u, entropy, gas)[n];
  }
  KOKKOS_INLINE_FUNCTION bool is_shown() const {
    const auto w = hydro::physical_state(u, entropy, gas);
    bool all = w[hydro::k_pressure] == file(hydro::k_pressure);
    for (int n = hydro::k_velocity_x; n < hydro::k_velocity_x + 3; ++n)
      all = all && w[n] == file(n);
    return all;
  }
  // Makes variable n what the file has by what is stored; whether that is possible.
  KOKKOS_INLINE_FUNCTION bool adjust(double& stored, int n) {
    return store_as_shown(file(n), stored, [&] { return shown(n); });
  }
  KOKKOS_INLINE_FUNCTION void adjust_momenta() {
    for (int d = 0; d < 3; ++d) adjust(u[hydro::k_momentum_x + d], hydro::k_velocity_x + d);
  }
  // Where no energy gives the pressure, it may with other momenta of the same velocities.
  KOKKOS_INLINE_FUNCTION void adjust_energy() {
    constexpr int k_choices = 27;
    const double momentum[3] = {u[1], u[2], u[3]};
    for (int choice = 0; choice < k_choices; ++choice) {
      if (adjust(u[hydro::k_energy], hydro::k_pressure)) return;
      for (int d = 0, rest = choice; d < 3; ++d, rest /= 3) {
        const int velocity = hydro::k_velocity_x + d;
        double& own = u[hydro::k_momentum_x + d];
        if (rest % 3 > 0) own = Kokkos::nextafter(momentum[d], rest % 3 == 1 ? 1e300 : -1e300);
        if (shown(velocity) != file(velocity) || rest % 3 == 0) own = momentum[d];
      }
    }
  }
};

// Stores what is shown as the primitive variables are, to the bit where there is such a thing.
struct StorePrimitive {
  hydro::Gas gas;
  int first_scalar, scalars;

  KOKKOS_INLINE_FUNCTION void operator()(double* state, std::int64_t stride,
                                         const FileCell& file) const {
    const hydro::GasCell at(state, stride, gas);
    const double density = file(0), velocity[3] = {file(1), file(2), file(3)};
    at.set(density, velocity, file(hydro::k_pressure));
    ShownState s{file, gas, hydro::load_state<double>(state, static_cast<int>(stride)),
                 gas.dual_energy ? at[hydro::k_entropy] : 0.0};
    bool is_shown = s.is_shown();
    if (!is_shown) s.adjust_momenta();
    if (gas.dual_energy) {
      if (!is_shown) s.adjust(s.entropy, hydro::k_pressure);
      const double least = hydro::entropy_at(density, gas.pressure_floor, gas);
      if (!(s.entropy >= least)) {
        s.entropy = least;
        is_shown = false;
      }
      at[hydro::k_entropy] = s.entropy;
    }
    if (!is_shown) s.adjust_energy();
    for (int n = 1; n < k_ramses_gas_fields; ++n) at[n] = s.u[n];
    for (int n = 0; n < scalars; ++n) {
      const double concentration = file(k_ramses_gas_fields + n);
      double& stored = at[first_scalar + n];
      stored = density * concentration;
      store_as_shown(concentration, stored, [&] { return stored / density; });
    }
  }
};

// Puts octs into blocks of a level.
template <class Store>
void write_octs(mesh::Mesh& mesh, int level, const ArrivedOcts& octs, const Store& store) {
  const auto places = octs.places.on_device();
  const auto values = octs.values.on_device();
  const int N = mesh.geometry().block_size();
  const mesh::BlockLayout layout = mesh.layout();
  const int variables = k_ramses_gas_fields + store.scalars;
  double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  Kokkos::parallel_for(
      "put octs into blocks", places.size() * k_oct_cells, KOKKOS_LAMBDA(const std::int64_t index) {
        const std::int64_t oct = index / k_oct_cells, cell = index % k_oct_cells;
        const OctPlace& place = places(oct);
        store(blocks + place.slot * layout.stride_slot + place.cell(cell, N),
              layout.stride_variable, FileCell{&values(oct * variables * k_oct_cells + cell)});
      });
}

// Gives cells of a level without positive energy that of the pressure's floor, or where this is not
// known before all gas is there, a pressure of this share of their kinetic energy.
constexpr double k_least_share = 1e-14;
void raise_to_floor(mesh::Mesh& mesh, const hydro::HydroOptions& options, int level,
                    const std::vector<mesh::Cell>& cells) {
  if (cells.empty()) return;
  const auto broken = mesh::to_device("cells without energy", cells);
  const hydro::Gas gas = options.gas();
  const mesh::BlockLayout layout = mesh.layout();
  double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  Kokkos::parallel_for(
      "give cells energy", cells.size(), KOKKOS_LAMBDA(const std::int64_t n) {
        const hydro::GasCell at(blocks + layout.offset(broken(n)), layout.stride_variable, gas);
        const auto u = hydro::load_state<double>(&at[0], static_cast<int>(layout.stride_variable));
        const double moving = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[hydro::k_mass];
        const double pressure = max(gas.pressure_floor, k_least_share * moving);
        at[hydro::k_energy] = hydro::energy_at(u, pressure, gas);
      });
}

int variables_of(const RamsesFacts& facts, const AmrSimulation& simulation) {
  return facts.has_gas
             ? k_ramses_gas_fields + static_cast<int>(simulation.options().hydro.scalars.size())
             : 0;
}

class TreeReader {
 public:
  TreeReader(AmrSimulation& simulation, const RamsesFacts& facts, RamsesLevels levels,
             RamsesSource& source)
      : simulation_(simulation),
        mesh_(simulation.mesh()),
        facts_(facts),
        source_(source),
        levels_(levels),
        delivery_(mesh_, facts, source, levels, variables_of(facts, simulation)) {
    const Communicator& ranks = mesh_.communicator();
    const std::vector<RamsesHead> heads = source.heads();
    finest_ = ranks.max(heads.empty() ? 0 : heads.front().levels);
    ranks.agree([&] {
      for (const RamsesHead& head : heads) {
        check_ramses_head(facts, head, simulation);
        if (head.levels != finest_ || finest_ < levels.base)
          refuse_ramses(facts,
                        fmt::format("a domain has levels up to {}, another up to {}: files of "
                                    "several outputs are mixed",
                                    head.levels, finest_));
      }
    });
  }

  void read() {
    share_out_base();
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
        refuse_ramses(facts_,
                      fmt::format("it has octs of level {}: mesh.max_level must be at least {}",
                                  level + 1, levels_.of_mesh(level) + 1));
      refine(wanted);
    }
    if (facts_.has_gas) raise_broken_cells();
    mesh_.restrict_all();
    simulation_.matter().adapt_to_mesh();
    report();
  }

 private:
  // The octants that are refined now, by level and slot.
  mesh::OctantMasks present_octants() const {
    mesh::OctantMasks masks(mesh_.geometry().max_level() + 1);
    for (int level = 0; level <= mesh_.geometry().max_level(); ++level) {
      masks[level].assign(mesh_.blocks(level).slots(), 0);
      for (const int slot : mesh_.blocks(level).own())
        masks[level][slot] = mesh_.blocks(level).refined(slot);
    }
    return masks;
  }

  // Refines the octants of these masks and what they need around them, and shares out the blocks.
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

  // Who shall own these blocks of this rank, for the same number on all ranks. What the run itself
  // shares out in the end is the same where blocks cost the same: they need not move again.
  std::vector<int> even_owners(int level) const {
    std::vector<CostItem> items;
    for (const int slot : mesh_.blocks(level).own())
      items.push_back({morton_decode(mesh_.blocks(level).key(slot)), level, 1.0});
    return partition(simulation_.options().balance.decomposition, mesh_.communicator(),
                     {mesh_.geometry().extent(0)}, items);
  }

  // Shares out the base level while its blocks are empty.
  void share_out_base() {
    std::vector<Key> keys;
    for (const int slot : mesh_.blocks(0).own()) keys.push_back(mesh_.blocks(0).key(slot));
    auto own = route<Key>(mesh_.communicator(), even_owners(0), keys).items;
    std::ranges::sort(own);
    const std::vector<std::uint8_t> refined(own.size(), 0);
    mesh_.replace_blocks({{std::move(own), refined}});
  }

  // Reads the octs of a level, puts their values into blocks, and adds the octants that hold
  // refined cells. Returns how many cells are refined, over all ranks.
  std::int64_t read_level(int level, std::int64_t expected, mesh::OctantMasks& wanted) {
    std::int64_t counts[2] = {0, 0};  // octs, refined cells
    counts[0] = delivery_.deliver_level(level, [&](const ArrivedOcts& octs) {
      counts[1] += store(octs, levels_.of_mesh(level), wanted);
    });
    mesh_.communicator().sum_in_place(std::span<std::int64_t>(counts));
    if (counts[0] != expected)
      refuse_ramses(facts_,
                    fmt::format("its domains own {} octs of level {}, but {} cells of level {} are "
                                "refined: files are missing, or of several outputs",
                                counts[0], level, expected, level - 1));
    return counts[1];
  }

  // Returns how many cells of these octs are refined.
  std::int64_t store(const ArrivedOcts& octs, int level, mesh::OctantMasks& wanted) {
    const int N = mesh_.geometry().block_size();
    const mesh::CellRange& cells = mesh_.cells(level);
    std::int64_t refined = 0;
    for (std::size_t n = 0; n < octs.places.size(); ++n) {
      const OctPlace& place = octs.places[n];
      refined += std::popcount(place.refined);
      for (int cell = 0; cell < k_oct_cells; ++cell)
        if (place.refined >> cell & 1)
          wanted[level][place.slot] |= static_cast<std::uint8_t>(
              1 << cells.octant_of(static_cast<int>(place.cell(cell, N))));
    }
    if (facts_.has_gas) write_gas(level, octs);
    return refined;
  }

  void write_gas(int level, const ArrivedOcts& octs) {
    const hydro::HydroOptions& options = simulation_.options().hydro;
    const int scalars = static_cast<int>(options.scalars.size());
    if (source_.is_conserved())
      write_octs(mesh_, level, octs,
                 StoreConserved{options.gas(), options.first_scalar(), scalars});
    else
      write_octs(mesh_, level, octs,
                 StorePrimitive{options.gas(), options.first_scalar(), scalars});
  }

  // RAMSES floors pressures when it reads cells, not when it writes them: cold fast gas may have
  // less energy than none.
  void raise_broken_cells() {
    std::int64_t raised = 0;
    for (int level = 0; level <= mesh_.finest_level(); ++level) {
      const auto cells = hydro::broken_cells(
          mesh_.layout(), mesh_.fields(level).blocks(LevelFields::k_now), mesh_.cells(level));
      raise_to_floor(mesh_, simulation_.options().hydro, level, cells);
      raised += std::ssize(cells);
    }
    if (const std::int64_t all = mesh_.communicator().sum(raised); all > 0)
      log::warn("{}: raised {} cells without positive internal energy to hydro.pressure_floor",
                facts_.folder, all);
  }

  void report() const {
    std::int64_t octants = 0;
    for (int level = 0; level < mesh_.finest_level(); ++level)
      for (const int slot : mesh_.blocks(level).own())
        octants += std::popcount(static_cast<unsigned>(mesh_.blocks(level).refined(slot)));
    const int half = mesh_.geometry().octant_size();
    const std::int64_t cells = mesh_.communicator().sum(octants) * half * half * half;
    log::info(
        "{}: {} files; refined {} cells beyond the RAMSES tree for blocks of {}^3 and their ghost "
        "zones",
        facts_.folder, facts_.domains, cells - refined_cells_, mesh_.geometry().block_size());
  }

  AmrSimulation& simulation_;
  mesh::Mesh& mesh_;
  const RamsesFacts& facts_;
  RamsesSource& source_;
  RamsesLevels levels_;
  OctDelivery delivery_;
  int finest_ = 0;
  std::int64_t refined_cells_ = 0;  // of the file
};

}  // namespace

std::vector<particles::Kind> kinds_of_restart(const Communicator& communicator,
                                              const std::string& wish,
                                              const std::string& directory) {
  std::vector<particles::Kind> kinds;
  if (wish.empty()) return kinds;
  try {
    const std::string path = find_checkpoint(communicator, wish, directory);
    if (is_ramses_output(communicator, path))
      return kinds_of_families(read_ramses_facts(communicator, path));
    const Hdf5Reader file(communicator, path);
    if (!file.has_attribute("/header", k_further_kinds)) return kinds;
    std::istringstream names(file.attribute<std::string>("/header", k_further_kinds));
    for (std::string name; names >> name;)
      for (const particles::Kind& kind : known_ramses_kinds())
        if (kind.name == name) kinds.push_back(kind);
  } catch (const InputError&) {
    // Whoever reads the state says what is wrong.
  }
  return kinds;
}

RamsesRestart read_ramses(AmrSimulation& simulation, const std::string& path, int chunk_files) {
  const Communicator& ranks = simulation.mesh().communicator();
  const RamsesFacts facts = read_ramses_facts(ranks, path);
  check_ramses_physics(facts, simulation.options());
  const RamsesLevels levels = check_ramses_grid(facts, simulation);
  const auto source = open_ramses(ranks, facts, chunk_files);
  TreeReader(simulation, facts, levels, *source).read();
  read_ramses_particles(simulation, facts, *source);
  const double time = ramses_time(facts, simulation.options().universe.get());
  simulation.begin_from(time, facts.coarse_steps);
  return {.progress = {.last_snapshot_time = time, .last_cutout_time = time},
          .owed = OwedKick(simulation, facts, levels, *source, chunk_files)};
}

}  // namespace octant::driver
