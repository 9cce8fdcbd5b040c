// Snapshots as output folders of RAMSES: blocks are split into octs, and a space-filling curve cuts
// these into domains, each of which one rank writes. What a rank holds for that: of the octs that
// the domain's files list, their places and links; of their values, one variable of one level at a
// time; of its particles, their order and one column. The format itself asks each domain for lists
// with an entry per domain and level, and for copies of the octs around its own.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <ranges>

#include "comm/reproducible_sum.hpp"
#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "decomp/key_table.hpp"
#include "driver/contents.hpp"
#include "driver/format.hpp"
#include "driver/ramses_domains.hpp"
#include "driver/stored_blocks.hpp"
#include "io/ramses_writer.hpp"
#include "io/whole_file.hpp"
#include "particles/kind.hpp"

namespace octant::driver {

namespace {

constexpr int k_octants = 8;
constexpr int k_finest = 20;  // of RAMSES's levels here
constexpr const char* k_gas_names[] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                       "pressure"};
constexpr const char* k_gravity_names[] = {"potential", "acceleration_x", "acceleration_y",
                                           "acceleration_z"};
constexpr int k_density = 0, k_velocity = 1, k_pressure = 4, k_first_scalar = 5;

Key key_of(const RamsesPlace& place) {
  return morton_encode({static_cast<BlockCoordinate>(place[0]),
                        static_cast<BlockCoordinate>(place[1]),
                        static_cast<BlockCoordinate>(place[2])});
}

RamsesPlace place_of(Key key) {
  const auto c = morton_decode(key);
  return {c[0], c[1], c[2]};
}

// The level of RAMSES's tree that the mesh's base grid is.
int base_of(const mesh::Geometry& geometry) {
  const std::int64_t cells = std::int64_t{geometry.extent(0)[0]} * geometry.block_size();
  return std::countr_zero(static_cast<std::uint64_t>(cells));
}

const CellField* find_field(const MeshContents& contents, const std::string& room,
                            const std::string& name) {
  for (const CellField& field : contents.fields)
    if (field.room == room && field.name == name) return &field;
  return nullptr;
}

// The variables of the files, in their order.
struct Variables {
  std::vector<const CellField*> all;  // of the gas, then of gravity
  int gas = 0, gravity = 0;

  explicit Variables(const MeshContents& contents) {
    for (const char* name : k_gas_names) all.push_back(find_field(contents, "hydro", name));
    if (std::ranges::find(all, nullptr) != all.end())
      throw RunError("output.formats: RAMSES's has no place for a state without {}",
                     fmt::join(k_gas_names, ", "));
    for (const CellField& field : contents.fields)
      if (field.room == "hydro" && field.name != "entropy" &&
          std::ranges::find(k_gas_names, field.name) == std::end(k_gas_names))
        all.push_back(&field);
    gas = static_cast<int>(all.size());
    for (const char* name : k_gravity_names)
      if (const CellField* field = find_field(contents, "gravity", name)) all.push_back(field);
    gravity = static_cast<int>(all.size()) - gas;
    if (gravity == std::ssize(k_gravity_names)) return;
    all.resize(static_cast<std::size_t>(gas));  // some were left out
    gravity = 0;
  }

  // What a cell holds that is divided into these eight, [variable][cell]: it has their mass,
  // momentum and energy.
  std::vector<double> mean(const std::vector<double>& cells, double gamma) const {
    std::vector<double> mean(all.size());
    const auto of = [&](int n, int cell) { return cells[n * k_octants + cell]; };
    double mass = 0.0, energy = 0.0, speed2 = 0.0;
    for (int c = 0; c < k_octants; ++c) {
      double kinetic = 0.0;
      for (int d = 0; d < 3; ++d) kinetic += 0.5 * of(k_velocity + d, c) * of(k_velocity + d, c);
      mass += of(k_density, c);
      energy += of(k_pressure, c) / (gamma - 1.0) + of(k_density, c) * kinetic;
    }
    for (int n = 0; n < std::ssize(all); ++n) {
      const bool per_mass = n < gas && n != k_density;
      double sum = 0.0;
      for (int c = 0; c < k_octants; ++c) sum += per_mass ? of(k_density, c) * of(n, c) : of(n, c);
      mean[n] = sum / (per_mass ? mass : k_octants);
    }
    for (int d = 0; d < 3; ++d) speed2 += mean[k_velocity + d] * mean[k_velocity + d];
    mean[k_pressure] = (gamma - 1.0) * (energy / k_octants - 0.5 * mean[k_density] * speed2);
    return mean;
  }
};

// This rank's octs of a level of RAMSES's tree.
struct OctLevel {
  std::vector<Key> keys;              // of the oct's place, that of the cell which it divides
  std::vector<std::uint8_t> refined;  // masks of cells with an oct of their own
  std::vector<std::int32_t> owners;   // domains
  std::vector<std::int64_t> first_holder{0};  // in `holders`, and the end
  std::vector<std::int32_t> holders;          // domains
  // Octs of blocks take their values from there; those above them have their own, [variable][oct].
  const BlockLevel* blocks = nullptr;
  std::vector<std::vector<std::array<double, k_octants>>> values;
};

// Octs on their way to who writes a domain.
struct OctItem {
  Key key;
  std::int32_t owner;
  std::uint32_t refined;
};

// Which octs of a level this rank sends, and to whom.
struct OctRoute {
  std::vector<std::int64_t> octs;
  std::vector<int> ranks;
};

// What the files of a domain list of a level, in their order: by owner, then by key.
struct HeldLevel {
  std::vector<OctItem> octs;
  std::vector<std::int64_t> places;  // where each comes, in the order in which they arrive
  std::int32_t first_number = 1;     // of the first oct, in the file
};

using Numbers = KeyTable<std::int32_t>;

class RamsesFolderWriter {
 public:
  RamsesFolderWriter(const MeshContents& contents, const std::string& folder,
                     const std::string& number, int domains)
      : contents_(contents),
        ranks_(contents.communicator),
        variables_(contents),
        base_(base_of(contents.geometry)),
        domains_(contents, base_, domains) {
    describe(folder, number);
    add_blocks();
    add_coarse_levels();
    find_holders();
    find_particles();
    measure();
  }

  void write() {
    for (int first = 0; first < domains_.count(); first += ranks_.size()) write_round(first);
    const std::int64_t most = ranks_.max(most_octs_);
    ranks_.agree([&] {
      if (ranks_.is_root()) write_ramses_texts(output_, most);
    });
  }

 private:
  // A kind of particles that RAMSES has as a family, and the domain of each of this rank's.
  struct Family {
    const ParticleContents* particles;
    std::int8_t number;
    std::vector<std::int32_t> domains;
  };

  void describe(const std::string& folder, const std::string& number) {
    const mesh::Geometry& geometry = contents_.geometry;
    const Facts& facts = contents_.facts;
    const CodeUnits& units = contents_.origin.units;
    RamsesFacts& f = output_.facts;
    f.folder = folder;
    f.number = number;
    f.domains = domains_.count();
    f.coarsest_level = base_;
    f.coarse_steps = contents_.origin.step;
    f.box_length = geometry.upper()[0] - geometry.lower()[0];
    f.time = contents_.origin.time;
    f.unit_length = units.length;
    f.unit_density = units.mass / std::pow(units.length, 3);
    f.unit_time = units.time;
    if (facts.has("omega_m")) {
      f.scale_factor = facts.number("scale_factor");
      f.hubble = 100.0 * facts.number("h");
      f.omega_m = facts.number("omega_m");
      f.omega_lambda = facts.number("omega_lambda");
      f.omega_curvature = 1.0 - f.omega_m - f.omega_lambda;
      f.omega_b = facts.number("omega_b");
      output_.box_megaparsecs_per_h = facts.number("box_megaparsecs_per_h");
    }
    for (int n = 0; n < variables_.gas; ++n) f.variables.push_back(variables_.all[n]->name);
    output_.levels = base_ + geometry.max_level();
    output_.gamma = facts.number("gamma");
    output_.bounds = domains_.bounds(output_.levels + 1);
    for (int d = 0; d < 3; ++d) {
      if (geometry.periodic(d)) continue;
      output_.coarse_cells[d] = 3;
      output_.cells_below[d] = 1;
    }
  }

  // --- octs -------------------------------------------------------------------------------------

  OctLevel& level(int number) { return octs_[number - 1]; }

  // All octs of the blocks, in the order of blocks.
  void add_blocks() {
    octs_.resize(static_cast<std::size_t>(output_.levels));
    for (OctLevel& octs : octs_) octs.values.resize(variables_.all.size());
    const int across = contents_.geometry.octant_size();  // octs
    for (const BlockLevel& blocks : contents_.levels) {
      OctLevel& octs = level(base_ + blocks.number);
      octs.blocks = &blocks;
      for (std::size_t n = 0; n < blocks.keys.size(); ++n) {
        const RamsesPlace block = place_of(blocks.keys[n]);
        for (int oct = 0; oct < across * across * across; ++oct) {
          const std::array<int, 3> within{oct % across, oct / across % across,
                                          oct / (across * across)};
          octs.keys.push_back(key_of({block[0] * across + within[0], block[1] * across + within[1],
                                      block[2] * across + within[2]}));
          octs.refined.push_back(refined_cells(blocks.refined[n], within));
        }
      }
    }
  }

  // Which cells of an oct lie in refined octants of its block.
  std::uint8_t refined_cells(std::uint8_t octants, const std::array<int, 3>& oct) const {
    const int half = contents_.geometry.octant_size();
    std::uint8_t mask = 0;
    for (int cell = 0; cell < k_octants; ++cell) {
      int octant = 0;
      for (int d = 0; d < 3; ++d) octant |= (2 * oct[d] + (cell >> d & 1)) / half << d;
      mask |= static_cast<std::uint8_t>((octants >> octant & 1) << cell);
    }
    return mask;
  }

  // Values of one variable in all of a level's octs.
  std::vector<std::array<double, k_octants>> values_of(const OctLevel& octs, int variable) const {
    return octs.blocks ? values_in(*octs.blocks, octs.blocks->slots, variable)
                       : octs.values[variable];
  }

  std::vector<std::array<double, k_octants>> values_in(const BlockLevel& blocks,
                                                       std::span<const int> slots,
                                                       int variable) const {
    const std::int64_t N = contents_.geometry.block_size(), across = N / 2;
    const auto cells = variables_.all[variable]->values(blocks.number, slots);
    std::vector<std::array<double, k_octants>> values(cells.size() / k_octants);
    std::size_t oct = 0;
    for (std::int64_t block = 0; block < std::ssize(slots); ++block)
      for (std::int64_t k = 0; k < across; ++k)
        for (std::int64_t j = 0; j < across; ++j)
          for (std::int64_t i = 0; i < across; ++i, ++oct)
            for (int c = 0; c < k_octants; ++c)
              values[oct][c] =
                  cells[((block * N + 2 * k + (c >> 2)) * N + 2 * j + (c >> 1 & 1)) * N + 2 * i +
                        (c & 1)];
    return values;
  }

  // The octs above the base grid, of which Octant has no blocks: each has the means of the next
  // finer ones in its cells, and is made by the rank whose share of the level it lies in.
  void add_coarse_levels() {
    const std::size_t width = variables_.all.size();
    for (int number = base_ - 1; number >= 1; --number) {
      std::vector<Key> cells;
      std::vector<double> means;
      append_means(level(number + 1), cells, means);
      const auto all = static_cast<std::uint64_t>(1) << 3 * (number - 1);
      std::vector<int> owners;
      for (const Key cell : cells)
        owners.push_back(
            static_cast<int>(static_cast<std::uint64_t>(parent_key(cell)) * ranks_.size() / all));
      const auto keys = route(ranks_, owners, std::span<const Key>(cells)).items;
      const auto bytes = route_bytes(ranks_, owners, std::as_bytes(std::span<const double>(means)),
                                     width * sizeof(double));
      assemble(keys, items_of<double>(bytes.items), level(number));
    }
  }

  // Of each oct, the cell that it divides and what that holds.
  void append_means(const OctLevel& octs, std::vector<Key>& cells, std::vector<double>& means) {
    cells = octs.keys;
    const std::size_t width = variables_.all.size();
    const auto add = [&](const auto& values, std::size_t count) {
      for (std::size_t oct = 0; oct < count; ++oct) {
        std::vector<double> eight;
        for (std::size_t n = 0; n < width; ++n)
          eight.insert(eight.end(), values[n][oct].begin(), values[n][oct].end());
        const auto mean = variables_.mean(eight, output_.gamma);
        means.insert(means.end(), mean.begin(), mean.end());
      }
    };
    if (!octs.blocks) return add(octs.values, octs.keys.size());
    const std::span<const int> slots = octs.blocks->slots;
    const auto batch = static_cast<std::size_t>(blocks_per_batch(contents_.geometry.block_size()));
    for (std::size_t begin = 0; begin < slots.size(); begin += batch) {
      const auto some = slots.subspan(begin, std::min(batch, slots.size() - begin));
      std::vector<std::vector<std::array<double, k_octants>>> values;
      for (std::size_t n = 0; n < width; ++n)
        values.push_back(values_in(*octs.blocks, some, static_cast<int>(n)));
      add(values, values[0].size());
    }
  }

  void assemble(const std::vector<Key>& cells, const std::vector<double>& means, OctLevel& octs) {
    const std::size_t width = variables_.all.size();
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t n) { return cells[n]; });
    for (std::size_t n = 0; n < order.size(); ++n) {
      const int cell = octant_of(cells[order[n]]);
      if (cell == 0) {
        octs.keys.push_back(parent_key(cells[order[n]]));
        octs.refined.push_back(0xFF);
        for (auto& values : octs.values) values.emplace_back();
      }
      for (std::size_t v = 0; v < width; ++v)
        octs.values[v].back()[cell] = means[order[n] * width + v];
    }
  }

  void find_holders() {
    const int N = contents_.geometry.block_size(), across = std::countr_zero(unsigned(N));
    const auto per_block = static_cast<std::size_t>(N / 2 * (N / 2) * (N / 2));
    output_.octs.assign(octs_.size(), std::vector<std::int64_t>(domains_.count(), 0));
    for (int number = 1; number <= output_.levels; ++number) {
      OctLevel& octs = level(number);
      bool alone = false;  // no other domain is near the present block
      std::vector<int> holders;
      for (std::size_t n = 0; n < octs.keys.size(); ++n) {
        const RamsesPlace cell = place_of(octs.keys[n]);
        if (octs.blocks && n % per_block == 0) {
          const Key block = octs.blocks->keys[n / per_block];
          holders = domains_.holders(number - across, place_of(block));
          alone = holders.size() == 1;
        }
        if (!alone) holders = domains_.holders(number - 1, cell);
        octs.owners.push_back(alone ? holders[0] : domains_.owner(number - 1, cell));
        octs.holders.insert(octs.holders.end(), holders.begin(), holders.end());
        octs.first_holder.push_back(std::ssize(octs.holders));
        ++output_.octs[number - 1][octs.owners.back()];
      }
      ranks_.sum_in_place(std::span<std::int64_t>(output_.octs[number - 1]));
    }
  }

  // --- particles --------------------------------------------------------------------------------

  template <class T>
  std::vector<T> read_column(const ParticleContents& particles, const std::string& name,
                             std::span<const std::int64_t> own) const {
    for (const ParticleColumn& column : particles.columns) {
      if (column.name != name) continue;
      if (const auto* values = std::get_if<ParticleColumn::Values<T>>(&column.values))
        return (*values)(own);
    }
    return {};
  }

  // Calls action(numbers) with some of a kind's particles after others.
  template <class Action>
  static void for_batches(std::int64_t count, const Action& action) {
    constexpr std::int64_t k_batch = 1 << 17;
    for (std::int64_t first = 0; first < count; first += k_batch) {
      std::vector<std::int64_t> own(static_cast<std::size_t>(std::min(k_batch, count - first)));
      std::iota(own.begin(), own.end(), first);
      action(std::span<const std::int64_t>(own));
    }
  }

  // Of a position, the cell of the finest level that there can be.
  RamsesPlace cell_at(const double* position) const {
    constexpr double k_cells = 1 << k_finest;
    RamsesPlace cell;
    for (int d = 0; d < 3; ++d) {
      const double inside =
          (position[d] - contents_.geometry.lower()[d]) / output_.facts.box_length;
      cell[d] = static_cast<std::int64_t>(std::clamp(inside * k_cells, 0.0, k_cells - 1.0));
    }
    return cell;
  }

  void find_particles() {
    std::int64_t largest = 0;
    for (const ParticleContents& particles : contents_.particles) {
      const bool dark = particles.name == "dark", stars = particles.name == "stars";
      const std::int64_t total = ranks_.sum(particles.count);
      if (!dark && !stars && total > 0)
        log::warn("{}: particles of the kind {} are left out: RAMSES has no such family",
                  output_.facts.folder, particles.name);
      if ((!dark && !stars) || total == 0) continue;
      Family family{&particles, static_cast<std::int8_t>(dark ? 1 : 2), {}};
      for_batches(particles.count, [&](std::span<const std::int64_t> own) {
        const auto positions = read_column<double>(particles, "position", own);
        for (std::size_t n = 0; n < own.size(); ++n)
          family.domains.push_back(domains_.owner(k_finest, cell_at(&positions[3 * n])));
        for (const std::uint64_t id : read_column<std::uint64_t>(particles, "id", own))
          largest = std::max(largest, identity_of(id));
      });
      output_.facts.families[dark ? "DM" : "star"] = total;
      if (stars) stars_ = &particles;
      families_.push_back(std::move(family));
    }
    if (families_.empty()) return;
    output_.long_ids = ranks_.max(largest) > std::numeric_limits<std::int32_t>::max();
    auto& names = output_.facts.particle_fields;
    for (const char* what : {"position_", "velocity_"})
      for (const char axis : {'x', 'y', 'z'}) names.push_back(std::string(what) + axis);
    names.insert(names.end(), {"mass", "identity", "levelp", "family", "tag"});
    if (!stars_) return;
    // RAMSES reads these two, and nothing behind them.
    names.insert(names.end(), {"birth_time", "metallicity"});
    for (const ParticleColumn& column : stars_->columns)
      if (std::holds_alternative<ParticleColumn::Values<double>>(column.values) &&
          column.width == 1 && std::ranges::find(names, column.name) == names.end())
        names.push_back(column.name);
  }

  // The number of a particle within its kind.
  static std::int64_t identity_of(std::uint64_t id) {
    return static_cast<std::int64_t>(id % particles::Kind::k_ids);
  }

  void measure() {
    std::array<ReproducibleSum, 2> masses;  // of everything, of the stars
    const BlockLevel& base = contents_.levels.front();
    const double volume = contents_.geometry.cell_volume(0);
    for (const int slot : base.slots)
      for (const double density : variables_.all[k_density]->values(0, {&slot, 1}))
        masses[0] += density * volume;
    for (const Family& family : families_)
      for_batches(family.particles->count, [&](std::span<const std::int64_t> own) {
        for (const double mass : read_column<double>(*family.particles, "mass", own)) {
          masses[0] += mass;
          if (family.particles == stars_) masses[1] += mass;
        }
      });
    reproducible_sum(ranks_, std::span(masses));
    output_.total_mass = masses[0].to_double();
    mass_of_stars_ = masses[1].to_double();
  }

  // --- the files of some domains, one on each rank ----------------------------------------------

  // Writes domains from `first` on.
  void write_round(int first) {
    const int last = std::min(first + ranks_.size(), domains_.count());
    const bool writes = first + ranks_.rank() < last;
    const int domain = writes ? first + ranks_.rank() : -1;
    std::vector<OctRoute> routes;
    std::vector<HeldLevel> held;
    RamsesLists lists;
    std::int32_t next = 1;
    for (const OctLevel& octs : octs_) {
      routes.push_back(route_of(octs, first, last));
      held.push_back(exchange_octs(octs, routes.back()));
      held.back().first_number = next;
      next += static_cast<std::int32_t>(held.back().octs.size());
      auto& counts = lists.emplace_back(static_cast<std::size_t>(domains_.count()), 0);
      for (const OctItem& oct : held.back().octs) ++counts[static_cast<std::size_t>(oct.owner)];
    }
    const std::int64_t most = RamsesTreeFile::most_octs(next - 1);
    most_octs_ = std::max(most_octs_, most);
    ranks_.agree([&] {
      if (writes) write_tree(domain + 1, held, lists, most);
    });
    write_cells(RamsesCellFile::Kind::gas, domain + 1, 0, variables_.gas, routes, held, lists);
    if (variables_.gravity > 0)
      write_cells(RamsesCellFile::Kind::gravity, domain + 1, variables_.gas, variables_.gravity,
                  routes, held, lists);
    if (!families_.empty()) write_particles(first, last, domain, held);
  }

  static OctRoute route_of(const OctLevel& octs, int first, int last) {
    OctRoute route;
    for (std::size_t n = 0; n < octs.keys.size(); ++n)
      for (std::int64_t h = octs.first_holder[n]; h < octs.first_holder[n + 1]; ++h)
        if (const int domain = octs.holders[h]; domain >= first && domain < last) {
          route.octs.push_back(static_cast<std::int64_t>(n));
          route.ranks.push_back(domain - first);
        }
    return route;
  }

  HeldLevel exchange_octs(const OctLevel& octs, const OctRoute& way) const {
    std::vector<OctItem> items;
    for (const std::int64_t n : way.octs)
      items.push_back({octs.keys[n], octs.owners[n], octs.refined[n]});
    const auto arrived = route(ranks_, way.ranks, std::span<const OctItem>(items)).items;
    std::vector<std::int64_t> order(arrived.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::sort(order, {},
                      [&](std::int64_t n) { return std::pair(arrived[n].owner, arrived[n].key); });
    HeldLevel held;
    held.places.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
      held.octs.push_back(arrived[order[place]]);
      held.places[order[place]] = static_cast<std::int64_t>(place);
    }
    return held;
  }

  static Numbers numbers_of(const HeldLevel& held) {
    Numbers numbers;
    numbers.reserve(held.octs.size());
    std::int32_t next = held.first_number;
    for (const OctItem& oct : held.octs) numbers.insert(oct.key, next++);
    return numbers;
  }

  void write_tree(int domain, const std::vector<HeldLevel>& held, const RamsesLists& lists,
                  std::int64_t most) const {
    RamsesTreeFile file(output_, domain, lists, domains_.owner(0, {0, 0, 0}) + 1);
    Numbers coarser, own = numbers_of(held[0]), finer;
    for (int number = 1; number <= output_.levels; ++number) {
      finer = number < output_.levels ? numbers_of(held[number]) : Numbers();
      file.write_level(number, linked(number, held[number - 1], coarser, finer, most));
      coarser = std::move(own);
      own = std::move(finer);
    }
    file.finish();
  }

  // The octs of a level with their links, given the numbers of those on the levels beside it.
  RamsesTreeLevel linked(int number, const HeldLevel& held, const Numbers& coarser,
                         const Numbers& finer, std::int64_t most) const {
    const auto& [nx, ny, nz] = output_.coarse_cells;
    const std::int32_t coarse = nx * ny * nz, central = output_.central_cell();
    const auto across = static_cast<BlockCoordinate>(1) << (number - 1);
    std::array<bool, 3> periodic;
    for (int d = 0; d < 3; ++d) periodic[d] = contents_.geometry.periodic(d);
    const auto index_of = [&](Key cell) -> std::int32_t {
      const std::int32_t* oct = coarser.find(parent_key(cell));
      return oct ? static_cast<std::int32_t>(coarse + octant_of(cell) * most + *oct) : 0;
    };
    RamsesTreeLevel level;
    for (const OctItem& oct : held.octs) {
      const RamsesPlace place = place_of(oct.key);
      for (int d = 0; d < 3; ++d)
        level.centre[d].push_back(output_.cells_below[d] +
                                  (static_cast<double>(place[d]) + 0.5) / across);
      level.father.push_back(number == 1 ? central : index_of(oct.key));
      for (int face = 0; face < 6; ++face) {
        const int axis = face / 2, step = face % 2 == 0 ? -1 : 1;
        std::array<int, 3> offset{0, 0, 0};
        offset[axis] = step;
        if (number == 1) {
          const int stride = axis == 0 ? 1 : axis == 1 ? nx : nx * ny;
          level.neighbour[face].push_back(periodic[axis] ? central : central + step * stride);
        } else {
          const auto cell = neighbour_key(oct.key, offset, {across, across, across}, periodic);
          level.neighbour[face].push_back(cell ? index_of(*cell) : 0);
        }
      }
      for (int c = 0; c < k_octants; ++c) {
        const bool refined = oct.refined >> c & 1;
        const Key cell = child_key(oct.key, c);
        const std::int32_t* son = refined ? finer.find(cell) : nullptr;
        level.son[c].push_back(son ? *son : 0);
        level.owner[c].push_back(domains_.owner(number, place_of(cell)) + 1);
        level.flag[c].push_back(refined);
      }
    }
    return level;
  }

  void write_cells(RamsesCellFile::Kind kind, int domain, int first_variable, int count,
                   const std::vector<OctRoute>& routes, const std::vector<HeldLevel>& held,
                   const RamsesLists& lists) const {
    std::optional<RamsesCellFile> file;
    ranks_.agree([&] {
      if (domain > 0) file.emplace(output_, kind, domain, lists, count);
    });
    for (std::size_t level = 0; level < octs_.size(); ++level)
      for (int n = 0; n < count; ++n) {
        const auto values =
            exchange_values(octs_[level], first_variable + n, routes[level], held[level].places);
        ranks_.agree([&] {
          if (file) file->write(static_cast<int>(level) + 1, n, values);
        });
      }
    ranks_.agree([&] {
      if (file) file->finish();
    });
  }

  std::vector<double> exchange_values(const OctLevel& octs, int variable, const OctRoute& way,
                                      const std::vector<std::int64_t>& places) const {
    using Values = std::array<double, k_octants>;
    std::vector<Values> arrived;
    {
      const auto own = values_of(octs, variable);
      std::vector<Values> items;
      items.reserve(way.octs.size());
      for (const std::int64_t n : way.octs) items.push_back(own[n]);
      arrived = route(ranks_, way.ranks, std::span<const Values>(items)).items;
    }
    std::vector<double> values(arrived.size() * k_octants);
    for (std::size_t n = 0; n < arrived.size(); ++n)
      std::ranges::copy(arrived[n], values.begin() + places[n] * k_octants);
    return values;
  }

  // Particles of domains `first` to `last`, in the order of family and identity.
  void write_particles(int first, int last, int domain, const std::vector<HeldLevel>& held) const {
    std::vector<std::vector<std::int64_t>> own;
    std::vector<std::vector<int>> ranks;
    for (const Family& family : families_) {
      auto& numbers = own.emplace_back();
      auto& to = ranks.emplace_back();
      for (std::int64_t n = 0; n < family.particles->count; ++n)
        if (const int d = family.domains[n]; d >= first && d < last) {
          numbers.push_back(n);
          to.push_back(d - first);
        }
    }
    // The values of a column that arrive here, kind by kind.
    const auto arriving = [&]<class T>(const auto& read) {
      std::vector<T> all;
      for (std::size_t f = 0; f < families_.size(); ++f) {
        const std::vector<T> values = read(families_[f], std::span<const std::int64_t>(own[f]));
        const auto items = route(ranks_, ranks[f], std::span<const T>(values)).items;
        all.insert(all.end(), items.begin(), items.end());
      }
      return all;
    };
    const auto family = arriving.template operator()<std::int32_t>(
        [](const Family& of, std::span<const std::int64_t> some) {
          return std::vector<std::int32_t>(some.size(), of.number);
        });
    const auto identity = arriving.template operator()<std::int64_t>(
        [&](const Family& of, std::span<const std::int64_t> some) {
          std::vector<std::int64_t> numbers;
          for (const auto id : read_column<std::uint64_t>(*of.particles, "id", some))
            numbers.push_back(identity_of(id));
          return numbers;
        });
    std::vector<std::size_t> order(family.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(family[n], identity[n]); });
    const auto count = std::ssize(order);
    std::optional<FortranWriter> file;
    ranks_.agree([&] {
      const auto stars = output_.facts.families.find("star");
      if (domain >= 0)
        file.emplace(ramses_particle_file(output_, domain + 1, count,
                                          stars == output_.facts.families.end() ? 0 : stars->second,
                                          mass_of_stars_));
    });
    // Writes a column of values To.
    const auto put = [&]<class To>(const auto& values) {
      std::vector<To> ordered;
      for (const std::size_t n : order) ordered.push_back(static_cast<To>(values[n]));
      ranks_.agree([&] {
        if (file) file->record(ordered);
      });
    };
    std::vector<std::vector<double>> position;
    for (const std::string& name : output_.facts.particle_fields) {
      if (name == "identity" && output_.long_ids) {
        put.template operator()<std::int64_t>(identity);
      } else if (name == "identity") {
        put.template operator()<std::int32_t>(identity);
      } else if (name == "levelp") {
        put.template operator()<std::int32_t>(levels_at(position, domain, held));
        position.clear();
      } else if (name == "family") {
        put.template operator()<std::int8_t>(family);
      } else if (name == "tag") {
        put.template operator()<std::int8_t>(std::vector<int>(order.size(), 0));
      } else {
        const auto values = arriving.template operator()<double>(
            [&](const Family& of, std::span<const std::int64_t> some) {
              return reals_of(of, name, some);
            });
        put.template operator()<double>(values);
        if (name.starts_with("position_")) position.push_back(values);
      }
    }
    ranks_.agree([&] {
      if (file) file->finish();
    });
  }

  // A real column of some particles, or a component of one. RAMSES has places from the box's lower
  // corner on.
  std::vector<double> reals_of(const Family& family, const std::string& name,
                               std::span<const std::int64_t> some) const {
    for (const std::string vector : {"position", "velocity"}) {
      if (!name.starts_with(vector + "_")) continue;
      const auto axis = static_cast<std::size_t>(name.back() - 'x');
      const double from = vector == "position" ? contents_.geometry.lower()[axis] : 0.0;
      const auto values = read_column<double>(*family.particles, vector, some);
      std::vector<double> component(some.size());
      for (std::size_t n = 0; n < some.size(); ++n) component[n] = values[3 * n + axis] - from;
      return component;
    }
    auto values = read_column<double>(*family.particles, name, some);
    values.resize(some.size(), 0.0);  // dark matter was not born
    return values;
  }

  // The finest level of the domain's own octs at each position.
  std::vector<int> levels_at(const std::vector<std::vector<double>>& position, int domain,
                             const std::vector<HeldLevel>& held) const {
    std::vector<int> levels;
    for (std::size_t n = 0; n < position[0].size(); ++n) {
      double place[3];
      for (int d = 0; d < 3; ++d) place[d] = position[d][n] + contents_.geometry.lower()[d];
      Key key = key_of(cell_at(place)) >> 3 * (k_finest + 1 - output_.levels);
      int level = output_.levels;
      const auto is_there = [&] {
        const auto& octs = held[level - 1].octs;
        const auto where = std::pair(std::int32_t{domain}, key);
        const auto as_pair = [](const OctItem& oct) { return std::pair(oct.owner, oct.key); };
        const auto at = std::ranges::lower_bound(octs, where, {}, as_pair);
        return at != octs.end() && as_pair(*at) == where;
      };
      for (; level > base_ && !is_there(); --level) key = parent_key(key);
      levels.push_back(level);
    }
    return levels;
  }

  const MeshContents& contents_;
  const Communicator& ranks_;
  Variables variables_;
  int base_;
  RamsesDomains domains_;
  RamsesOutput output_;
  std::vector<OctLevel> octs_;  // by RAMSES's level, from 1
  std::vector<Family> families_;
  const ParticleContents* stars_ = nullptr;
  double mass_of_stars_ = 0.0;
  std::int64_t most_octs_ = 0;
};

// "output_00013" for "snap_00012": RAMSES counts from 1.
std::string number_of(const std::string& stem) {
  const std::string name = std::filesystem::path(stem).filename().string();
  return fmt::format("{:05d}", std::stol(name.substr(name.find_last_of('_') + 1)) + 1);
}

}  // namespace

class RamsesMesh final : public MeshFormat {
 public:
  std::string name() const override { return "ramses"; }

  void declare(ParameterSchema& schema) override {
    schema.add("ramses.domains", domains_,
               {.meaning = "Domains of an output of RAMSES, each with files of its own; 0: as many "
                           "as there are ranks",
                .min = 0});
  }

  void check(const mesh::Geometry& geometry,
             const std::vector<std::string>& fields) const override {
    const auto blocks = geometry.extent(0);
    const auto cells = static_cast<unsigned>(blocks[0] * geometry.block_size());
    if (blocks[1] != blocks[0] || blocks[2] != blocks[0] || !std::has_single_bit(cells))
      throw InputError(
          "output.formats: for RAMSES's, mesh.base_cells must be a power of two, the "
          "same along all axes");
    const int finest = base_of(geometry) + geometry.max_level();
    if (finest > k_finest)
      throw InputError(
          "output.formats: RAMSES's has room for cells of 1/2^{} of the box; those of "
          "mesh.max_level = {} have 1/2^{}",
          k_finest, geometry.max_level(), finest);
    for (const char* name : k_gas_names)
      if (std::ranges::find(fields, name) == fields.end())
        throw InputError("output.formats: RAMSES's needs the gas and its {} (output.fields)", name);
  }

  std::string write(const MeshContents& contents, const std::string& stem) const override {
    const std::string number = number_of(stem);
    const auto directory = std::filesystem::path(stem).parent_path();
    const bool whole = contents.origin.kind == "snapshot";
    WholeFolder folder(
        contents.communicator,
        (whole ? directory : directory / contents.origin.kind) / ("output_" + number));
    const int domains = domains_ > 0 ? domains_ : contents.communicator.size();
    RamsesFolderWriter(contents, folder.part_path(), number, domains).write();
    folder.commit();
    return folder.path();
  }

 private:
  int domains_ = 0;
};

template <>
std::unique_ptr<MeshFormat> make_mesh_format<RamsesMesh>() {
  return std::make_unique<RamsesMesh>();
}

}  // namespace octant::driver
