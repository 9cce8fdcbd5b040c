#include "driver/ramses_restart.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <span>
#include <sstream>

#include "comm/router.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "decomp/partition.hpp"
#include "driver/checkpoints.hpp"
#include "driver/ramses_agreement.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/floors.hpp"
#include "hydro/gas_cell.hpp"
#include "io/hdf5_file.hpp"
#include "io/ramses_output.hpp"
#include "mesh/device.hpp"
#include "mesh/flagging.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

constexpr int k_cells = 8;  // of an oct

// The kinds that an output can bring.
std::vector<particles::Kind> known_kinds() {
  return {particles::dark_matter(), subgrid::stars(), subgrid::sinks()};
}

std::vector<particles::Kind> kinds_of_families(const RamsesFacts& facts) {
  std::vector<particles::Kind> kinds;
  if (facts.families.contains("DM")) kinds.push_back(particles::dark_matter());
  if (facts.families.contains("star")) kinds.push_back(subgrid::stars());
  if (facts.has_sinks) kinds.push_back(subgrid::sinks());
  return kinds;
}

// That a rank reads and sends. No power of two, or the columns of variables would fall into the
// same sets of a cache.
constexpr std::int64_t k_octs_at_once = 5000;

// Octs under way to the owner of their block: a head, then eight cells of every variable.
struct OctHead {
  Key block;
  std::uint32_t refined;
  std::int32_t first_cell;  // of the block: the oct's lower corner
};

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

// Octs that have come to the owner of their block: where the first cell of each lies, and what its
// cells hold, [oct][variable][cell].
struct ArrivedOcts {
  mesh::DeviceTable<std::int64_t> first_cells{"octs"};
  mesh::DeviceTable<double> values{"values of octs"};
};

// Puts octs into blocks of a level. Conserved variables are stored as they are; of primitive ones,
// what is shown as they are, to the bit where there is such a thing.
void write_octs(mesh::Mesh& mesh, const hydro::HydroOptions& options, int level, ArrivedOcts& octs,
                bool conserved) {
  octs.first_cells.upload();
  octs.values.upload();
  const auto first_cells = octs.first_cells.on_device();
  const auto from = octs.values.on_device();
  const hydro::Gas gas = options.gas();
  const int first_scalar = options.first_scalar();
  const int N = mesh.geometry().block_size();
  const std::int64_t stride = mesh.layout().stride_variable;
  const std::int64_t variables = k_ramses_gas_fields + std::ssize(options.scalars);
  double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  Kokkos::parallel_for(
      "put octs into blocks", first_cells.size() * k_cells,
      KOKKOS_LAMBDA(const std::int64_t index) {
        const std::int64_t oct = index / k_cells, cell = index % k_cells;
        const std::int64_t inside = ((cell >> 2) * N + (cell >> 1 & 1)) * N + (cell & 1);
        const auto value = [&](std::int64_t n) {
          return from((oct * variables + n) * k_cells + cell);
        };
        const hydro::GasCell at(blocks + first_cells(oct) + inside, stride, gas);
        const double density = value(0);
        double velocity[3], pressure = value(4);
        for (int d = 0; d < 3; ++d) velocity[d] = value(1 + d) / (conserved ? density : 1.0);
        if (conserved) {
          const double speed2 =
              velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
          pressure = (gas.gamma - 1.0) * (value(4) - 0.5 * density * speed2);
        }
        at.set(density, velocity, pressure);
        if (conserved) {
          for (int n = 1; n < k_ramses_gas_fields; ++n) at[n] = value(n);
          for (std::int64_t n = k_ramses_gas_fields; n < variables; ++n)
            at[first_scalar + static_cast<int>(n) - k_ramses_gas_fields] = value(n);
          return;
        }
        // Variable n as it is shown.
        const auto shown = [&](int n) {
          const auto u = hydro::load_state<double>(&at[0], static_cast<int>(stride));
          return hydro::physical_state(u, gas.dual_energy ? at[hydro::k_entropy] : 0.0, gas)[n];
        };
        // Makes it what the file has, by what is stored as m; whether that is possible.
        const auto adjust = [&](int m, int n) {
          return store_as_shown(value(n), at[m], [&] { return shown(n); });
        };
        for (int d = 0; d < 3; ++d) adjust(hydro::k_momentum_x + d, hydro::k_velocity_x + d);
        if (gas.dual_energy) {
          adjust(hydro::k_entropy, hydro::k_pressure);
          const double least = hydro::entropy_at(density, gas.pressure_floor, gas);
          if (!(at[hydro::k_entropy] >= least)) at[hydro::k_entropy] = least;
        }
        // Where no energy gives the pressure, it may with other momenta of the same velocities.
        const double momentum[3] = {at[1], at[2], at[3]};
        for (int choice = 0; choice < 27 && !adjust(hydro::k_energy, hydro::k_pressure); ++choice)
          for (int d = 0, rest = choice; d < 3; ++d, rest /= 3) {
            double& own = at[hydro::k_momentum_x + d];
            if (rest % 3 > 0) own = Kokkos::nextafter(momentum[d], rest % 3 == 1 ? 1e300 : -1e300);
            if (shown(hydro::k_velocity_x + d) != value(1 + d) || rest % 3 == 0) own = momentum[d];
          }
        for (std::int64_t n = k_ramses_gas_fields; n < variables; ++n) {
          double& stored = at[first_scalar + static_cast<int>(n) - k_ramses_gas_fields];
          stored = density * value(n);
          store_as_shown(value(n), stored, [&] { return stored / density; });
        }
      });
  Kokkos::fence();
}

// Gives cells of a level without positive energy that of the pressure's floor.
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
        at[hydro::k_energy] = hydro::energy_at(u, gas.pressure_floor, gas);
      });
  Kokkos::fence();
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
        variables_(facts.has_gas
                       ? k_ramses_gas_fields + std::ssize(simulation.options().hydro.scalars)
                       : 0),
        router_(mesh_.communicator()) {
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
    const Communicator& ranks = mesh_.communicator();
    source_.next_level();
    std::int64_t counts[2] = {0, 0};  // octs, refined cells
    for (int round = 0; round < source_.rounds(); ++round) {
      const std::int64_t count = source_.count(round), most = ranks.max(count);
      counts[0] += count;
      for (std::int64_t first = 0; first < most; first += k_octs_at_once) {
        const std::int64_t begin = std::min(first, count);
        source_.read(round, {begin, std::min(k_octs_at_once, count - begin)}, octs_);
        counts[1] += store(send_to_owners(level), levels_.of_mesh(level), wanted);
      }
    }
    ranks.sum_in_place(std::span<std::int64_t>(counts));
    if (counts[0] != expected)
      refuse_ramses(facts_,
                    fmt::format("its domains own {} octs of level {}, but {} cells of level {} are "
                                "refined: files are missing, or of several outputs",
                                counts[0], level, expected, level - 1));
    return counts[1];
  }

  std::size_t item_bytes() const { return sizeof(OctHead) + k_cells * variables_ * sizeof(double); }

  // Sends the octs that were read, and returns those that came.
  const std::vector<std::byte>& send_to_owners(int level) {
    const auto count = static_cast<std::size_t>(octs_.size());
    std::vector<Key> blocks;  // of octs that follow each other, once
    std::vector<std::size_t> block_of(count);
    leaving_.resize(count * item_bytes());
    for (std::size_t oct = 0; oct < count; ++oct) {
      const Key block = pack(oct);
      if (blocks.empty() || block != blocks.back()) blocks.push_back(block);
      block_of[oct] = blocks.size() - 1;
    }
    const auto owners = mesh_.tree().owners(levels_.of_mesh(level), blocks);
    mesh_.communicator().agree([&] {
      if (std::ranges::find(owners, -1) != owners.end())
        refuse_ramses(facts_,
                      fmt::format("an oct of level {} lies in no refined cell of level {}: files "
                                  "are missing, or of several outputs",
                                  level, level - 1));
    });
    std::vector<int> targets(count);
    for (std::size_t oct = 0; oct < count; ++oct) targets[oct] = owners[block_of[oct]];
    return router_.route(targets, leaving_, item_bytes()).items;
  }

  // Returns the block.
  Key pack(std::size_t oct) {
    const int N = mesh_.geometry().block_size();
    BlockCoordinates block;
    std::array<int, 3> cell;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t first = 2 * octs_.places[oct][axis];
      block[axis] = static_cast<BlockCoordinate>(first / N);
      cell[axis] = static_cast<int>(first % N);
    }
    const OctHead head{morton_encode(block), octs_.refined[oct],
                       (cell[2] * N + cell[1]) * N + cell[0]};
    std::byte* to = leaving_.data() + oct * item_bytes();
    std::memcpy(to, &head, sizeof(OctHead));
    to += sizeof(OctHead);
    const auto count = static_cast<std::size_t>(octs_.size());
    for (std::int64_t n = 0; n < variables_ * k_cells; ++n)
      std::memcpy(to + n * sizeof(double), &octs_.values[n * count + oct], sizeof(double));
    return head.block;
  }

  // Returns how many cells of these octs are refined.
  std::int64_t store(const std::vector<std::byte>& items, int level, mesh::OctantMasks& wanted) {
    const std::size_t count = items.size() / item_bytes();
    const int N = mesh_.geometry().block_size(), half = N / 2;
    const std::size_t width = item_bytes() - sizeof(OctHead);
    arrived_.first_cells.resize(count);
    arrived_.values.resize(count * width / sizeof(double));
    std::int64_t* const starts = arrived_.first_cells.write(0, count);
    double* const values = arrived_.values.write(0, arrived_.values.size());
    std::int64_t refined = 0;
    for (std::size_t n = 0; n < count; ++n) {
      OctHead head;
      const std::byte* from = items.data() + n * item_bytes();
      std::memcpy(&head, from, sizeof(OctHead));
      const int slot = mesh_.blocks(level).find(head.block)->slot;
      starts[n] = slot * mesh_.layout().stride_slot + head.first_cell;
      std::memcpy(values + n * width / sizeof(double), from + sizeof(OctHead), width);
      refined += std::popcount(head.refined);
      for (int cell = 0; cell < k_cells; ++cell) {
        if (!(head.refined >> cell & 1)) continue;
        const int i = head.first_cell % N + (cell & 1),
                  j = head.first_cell / N % N + (cell >> 1 & 1),
                  k = head.first_cell / (N * N) + (cell >> 2);
        wanted[level][slot] |=
            static_cast<std::uint8_t>(1 << (i / half + 2 * (j / half) + 4 * (k / half)));
      }
    }
    // A file may have levels without octs beyond those of the mesh.
    if (count > 0 && facts_.has_gas)
      write_octs(mesh_, simulation_.options().hydro, level, arrived_, source_.is_conserved());
    return refined;
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
      log::warn("{}: {} cells of no positive total energy were raised to hydro.pressure_floor",
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
        "{}: {} files; {} cells were refined beyond its tree, for blocks of {}^3 and what "
        "sweeps read around them",
        facts_.folder, facts_.domains, cells - refined_cells_, mesh_.geometry().block_size());
  }

  AmrSimulation& simulation_;
  mesh::Mesh& mesh_;
  const RamsesFacts& facts_;
  RamsesSource& source_;
  RamsesLevels levels_;
  std::int64_t variables_;  // of the file
  int finest_ = 0;
  std::int64_t refined_cells_ = 0;  // of the file
  // Of the octs that are being read, kept from one time to the next.
  RamsesOcts octs_;
  std::vector<std::byte> leaving_;
  Router router_;
  ArrivedOcts arrived_;
};

// Those of a family, as particles of a kind.
particles::ParticleBatch batch_of(const RamsesParticles& all, RamsesFamily family,
                                  const particles::Kind& kind, const mesh::Geometry& geometry) {
  particles::ParticleBatch batch;
  std::map<std::string, std::vector<double>> columns;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all.family[n] != family) continue;
    std::array<double, 3> place;
    for (int d = 0; d < 3; ++d) {
      place[d] = geometry.lower()[d] + all.position[n][d];
      // A place on the upper face of a periodic box is one on the lower.
      if (geometry.periodic(d) && place[d] >= geometry.upper()[d]) place[d] = geometry.lower()[d];
    }
    batch.position.push_back(place);
    batch.velocity.push_back(all.velocity[n]);
    batch.mass.push_back(all.mass[n]);
    batch.id.push_back(kind.first_id() + static_cast<std::uint64_t>(all.identity[n]));
    for (const auto& [name, values] : all.columns) columns[name].push_back(values[n]);
  }
  for (const particles::Column& column : kind.columns)
    if (columns.contains(column.name)) batch.columns[column.name] = columns[column.name];
    // Which it was before it lost some, RAMSES's files do not say.
    else if (column.name == "initial_mass") batch.columns[column.name] = batch.mass;
  return batch;
}

void read_families(AmrSimulation& simulation, const RamsesFacts& facts, RamsesSource& source) {
  if (facts.families.empty()) return;
  const Communicator& ranks = simulation.mesh().communicator();
  const std::map<std::string, std::pair<RamsesFamily, const char*>> known{
      {"DM", {k_ramses_dark, "dark"}}, {"star", {k_ramses_star, "stars"}}};
  for (const auto& [name, count] : facts.families)
    if (!known.contains(name) && !(name == "cloud" && facts.has_sinks))
      log::warn("{}: {} particles of family {} are left out: Octant has no such kind", facts.folder,
                count, name);
  std::map<std::string, std::int64_t> found;
  for (int round = 0; round < source.rounds(); ++round) {
    const RamsesParticles all = source.particles(round);
    for (const auto& [name, family] : known) {
      if (!facts.families.contains(name)) continue;
      particles::Particles& kind = *simulation.matter().kind(family.second);
      const auto batch = batch_of(all, family.first, kind.kind(), simulation.mesh().geometry());
      found[name] += std::ssize(batch.id);
      kind.add(batch);
    }
  }
  for (const auto& [name, count] : found)
    if (const std::int64_t total = ranks.sum(count); total != facts.families.at(name))
      refuse_ramses(facts,
                    fmt::format("its files have {} particles of family {}, but header_{}.txt says "
                                "{}: files are missing, or of several outputs",
                                total, name, facts.number, facts.families.at(name)));
}

void read_sinks(AmrSimulation& simulation, const RamsesFacts& facts, RamsesSource& source) {
  if (!facts.has_sinks) return;
  const RamsesParticles all = source.sinks();
  particles::Particles& kind = *simulation.matter().kind("sinks");
  kind.add(batch_of(all, k_ramses_cloud, kind.kind(), simulation.mesh().geometry()));
}

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
      for (const particles::Kind& kind : known_kinds())
        if (kind.name == name) kinds.push_back(kind);
  } catch (const InputError&) {
    // Whoever reads the state says what is wrong.
  }
  return kinds;
}

OutputProgress read_ramses(AmrSimulation& simulation, const std::string& path, int chunk_files) {
  const Communicator& ranks = simulation.mesh().communicator();
  const RamsesFacts facts = read_ramses_facts(ranks, path);
  check_ramses_physics(facts, simulation.options());
  const RamsesLevels levels = check_ramses_grid(facts, simulation);
  const auto source = open_ramses(ranks, facts, chunk_files);
  TreeReader(simulation, facts, levels, *source).read();
  read_families(simulation, facts, *source);
  read_sinks(simulation, facts, *source);
  const double time = ramses_time(facts, simulation.options().universe.get());
  simulation.begin_from(time, facts.coarse_steps);
  return {.last_snapshot_time = time, .last_cutout_time = time};
}

}  // namespace octant::driver
