#include "ramses/export.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <ranges>
#include <string>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "decomp/hilbert.hpp"
#include "decomp/wall_search.hpp"
#include "output/octant_format.hpp"

namespace octant {

namespace {

constexpr const char* k_gravity_names[] = {"potential", "acceleration_x", "acceleration_y",
                                           "acceleration_z"};
constexpr int k_density = 0, k_velocity = 1, k_pressure = 4;  // indices of gas variables
constexpr int k_acceleration = 1;                             // index of a gravity variable

const MeshField* find_field(const MeshContents& contents, const std::string& group,
                            const std::string& name) {
  for (const MeshField& field : contents.fields)
    if (field.group == group && field.info.name == name) return &field;
  return nullptr;
}

}  // namespace

Key key_of(const RamsesPlace& place) {
  return morton_encode({static_cast<BlockCoordinate>(place[0]),
                        static_cast<BlockCoordinate>(place[1]),
                        static_cast<BlockCoordinate>(place[2])});
}

RamsesPlace place_of(Key key) {
  const auto c = morton_decode(key);
  return {c[0], c[1], c[2]};
}

int ramses_base(const mesh::Geometry& geometry) {
  const std::int64_t cells = std::int64_t{geometry.extent(0)[0]} * geometry.block_size();
  return std::countr_zero(static_cast<std::uint64_t>(cells));
}

RamsesVariables::RamsesVariables(const MeshContents& contents) {
  for (const char* name : k_ramses_gas) all.push_back(find_field(contents, "hydro", name));
  if (std::ranges::find(all, nullptr) != all.end())
    throw RunError("output.formats = \"ramses\" does not support a state without {}",
                   fmt::join(k_ramses_gas, ", "));
  for (const MeshField& field : contents.fields)
    if (field.group == "hydro" && field.info.name != "entropy" &&
        std::ranges::find(k_ramses_gas, field.info.name) == std::end(k_ramses_gas))
      all.push_back(&field);
  gas = static_cast<int>(all.size());
  for (const char* name : k_gravity_names)
    if (const MeshField* field = find_field(contents, "gravity", name)) all.push_back(field);
  gravity = static_cast<int>(all.size()) - gas;
  if (gravity == std::ssize(k_gravity_names)) return;
  all.resize(static_cast<std::size_t>(gas));  // some were not selected for output
  gravity = 0;
}

int RamsesVariables::vector_axis(int variable) const {
  const int axis = variable < gas ? variable - k_velocity : variable - gas - k_acceleration;
  return axis < 3 ? std::max(axis, -1) : -1;
}

std::vector<double> RamsesVariables::mean(const std::vector<double>& cells, double gamma) const {
  std::vector<double> mean(all.size());
  const auto of = [&](int n, int cell) { return cells[n * k_oct_cells + cell]; };
  double mass = 0.0, energy = 0.0, speed2 = 0.0;
  for (int c = 0; c < k_oct_cells; ++c) {
    double kinetic = 0.0;
    for (int d = 0; d < 3; ++d) kinetic += 0.5 * of(k_velocity + d, c) * of(k_velocity + d, c);
    mass += of(k_density, c);
    energy += of(k_pressure, c) / (gamma - 1.0) + of(k_density, c) * kinetic;
  }
  for (int n = 0; n < std::ssize(all); ++n) {
    const bool per_mass = n < gas && n != k_density;
    double sum = 0.0;
    for (int c = 0; c < k_oct_cells; ++c) sum += per_mass ? of(k_density, c) * of(n, c) : of(n, c);
    mean[n] = sum / (per_mass ? mass : k_oct_cells);
  }
  for (int d = 0; d < 3; ++d) speed2 += mean[k_velocity + d] * mean[k_velocity + d];
  mean[k_pressure] = (gamma - 1.0) * (energy / k_oct_cells - 0.5 * mean[k_density] * speed2);
  return mean;
}

OctTree::OctTree(const MeshContents& contents, const RamsesDomains& domains, int levels,
                 double gamma)
    : contents_(contents),
      ranks_(contents.communicator),
      domains_(domains),
      variables_(contents),
      base_(ramses_base(contents.geometry)),
      gamma_(gamma),
      octs_(static_cast<std::size_t>(levels)) {
  add_blocks();
  add_coarse_levels();
  find_holders();
}

// Adds all octs of the blocks, in the order of blocks.
void OctTree::add_blocks() {
  for (OctLevel& octs : octs_) octs.values.resize(variables_.all.size());
  const int across = contents_.geometry.octant_size();  // in octs
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

// Mask of the cells of an oct that lie in refined octants of its block.
std::uint8_t OctTree::refined_cells(std::uint8_t octants, const std::array<int, 3>& oct) const {
  const int half = contents_.geometry.octant_size();
  std::uint8_t mask = 0;
  for (int cell = 0; cell < k_oct_cells; ++cell) {
    int octant = 0;
    for (int d = 0; d < 3; ++d) octant |= (2 * oct[d] + (cell >> d & 1)) / half << d;
    mask |= static_cast<std::uint8_t>((octants >> octant & 1) << cell);
  }
  return mask;
}

std::vector<OctValues> OctTree::values(const OctLevel& octs, int variable) const {
  return octs.blocks ? values_in(*octs.blocks, octs.blocks->slots, variable)
                     : octs.values[variable];
}

std::vector<OctValues> OctTree::values_in(const BlockLevel& blocks, std::span<const int> slots,
                                          int variable) const {
  const std::int64_t N = contents_.geometry.block_size(), across = N / 2;
  const auto cells = variables_.all[variable]->values(blocks.number, slots);
  std::vector<OctValues> values(cells.size() / k_oct_cells);
  std::size_t oct = 0;
  for (std::int64_t block = 0; block < std::ssize(slots); ++block)
    for (std::int64_t k = 0; k < across; ++k)
      for (std::int64_t j = 0; j < across; ++j)
        for (std::int64_t i = 0; i < across; ++i, ++oct)
          for (int c = 0; c < k_oct_cells; ++c)
            values[oct][c] = cells[((block * N + 2 * k + (c >> 2)) * N + 2 * j + (c >> 1 & 1)) * N +
                                   2 * i + (c & 1)];
  return values;
}

// Adds the octs coarser than the base grid, for which Octant has no blocks: their cells have the
// means of the next finer octs. Octs of a level are divided equally among ranks by key.
void OctTree::add_coarse_levels() {
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

// Appends, for each oct, the cell that it divides and the mean values of that cell.
void OctTree::append_means(const OctLevel& octs, std::vector<Key>& cells,
                           std::vector<double>& means) const {
  cells = octs.keys;
  const std::size_t width = variables_.all.size();
  const auto add = [&](const auto& values, std::size_t count) {
    for (std::size_t oct = 0; oct < count; ++oct) {
      std::vector<double> eight;
      for (std::size_t n = 0; n < width; ++n)
        eight.insert(eight.end(), values[n][oct].begin(), values[n][oct].end());
      const auto mean = variables_.mean(eight, gamma_);
      means.insert(means.end(), mean.begin(), mean.end());
    }
  };
  if (!octs.blocks) return add(octs.values, octs.keys.size());
  const std::span<const int> slots = octs.blocks->slots;
  const auto batch = static_cast<std::size_t>(blocks_per_batch(contents_.geometry.block_size()));
  for (std::size_t begin = 0; begin < slots.size(); begin += batch) {
    const auto some = slots.subspan(begin, std::min(batch, slots.size() - begin));
    std::vector<std::vector<OctValues>> values;
    for (std::size_t n = 0; n < width; ++n)
      values.push_back(values_in(*octs.blocks, some, static_cast<int>(n)));
    add(values, values[0].size());
  }
}

void OctTree::assemble(const std::vector<Key>& cells, const std::vector<double>& means,
                       OctLevel& octs) const {
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

void OctTree::find_holders() {
  const int N = contents_.geometry.block_size(), across = std::countr_zero(unsigned(N));
  const auto per_block = static_cast<std::size_t>(N / 2 * (N / 2) * (N / 2));
  counts_.assign(octs_.size(), std::vector<std::int64_t>(domains_.count(), 0));
  for (int number = 1; number <= std::ssize(octs_); ++number) {
    OctLevel& octs = level(number);
    bool alone = false;  // no other domain is near the current block
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
      ++counts_[number - 1][octs.owners.back()];
    }
    ranks_.sum_in_place(std::span<std::int64_t>(counts_[number - 1]));
  }
}

// --- domains -------------------------------------------------------------------------------------

namespace {

// RAMSES stores keys as doubles; 17 bits per axis are exact.
constexpr int k_max_bits = 17;

Key curve_key(const RamsesPlace& place, int bits) {
  return hilbert_encode(
      {static_cast<BlockCoordinate>(place[0]), static_cast<BlockCoordinate>(place[2]),
       static_cast<BlockCoordinate>(place[1])},
      bits);
}

// Indivisible unit of the domain decomposition: a cube that one cell of a level covers, and the
// number of its octs with leaves.
struct Unit {
  int level;
  RamsesPlace cell;
  std::int64_t octs;
};

std::vector<Unit> units_of(const BlockLevel& level, int base, int N) {
  const int across = std::countr_zero(static_cast<unsigned>(N));  // levels within a block
  const int of_block = base + level.number - across;
  const std::int64_t octs_across = std::max(N / 4, 1);
  std::vector<Unit> units;
  for (std::size_t n = 0; n < level.keys.size(); ++n) {
    const auto block = morton_decode(level.keys[n]);
    const RamsesPlace place{block[0], block[1], block[2]};
    if (N == 2 && level.refined[n] != 0xFF) units.push_back({of_block, place, 1});
    for (int octant = 0; N > 2 && octant < 8; ++octant) {
      if (level.refined[n] >> octant & 1) continue;
      RamsesPlace cell;
      for (int d = 0; d < 3; ++d) cell[d] = 2 * place[d] + (octant >> d & 1);
      units.push_back({of_block + 1, cell, octs_across * octs_across * octs_across});
    }
  }
  return units;
}

}  // namespace

RamsesDomains::RamsesDomains(const MeshContents& contents, int base, int count)
    : bits_(std::min(base + contents.levels.back().number, k_max_bits)) {
  for (int d = 0; d < 3; ++d) periodic_[d] = contents.geometry.periodic(d);
  std::vector<LinePoint> points;
  for (const BlockLevel& level : contents.levels)
    for (const Unit& unit : units_of(level, base, contents.geometry.block_size()))
      points.push_back({piece(unit.level, unit.cell).begin, unit.octs});
  const Key end = Key{1} << 3 * bits_;
  const Reduction reduction = reduction_over(contents.communicator);
  const LineRange line{0, end};
  const WallRules rules{
      .shares = std::vector<std::int32_t>(count, 1), .grains = {1}, .tolerance = 0.0};
  walls_ = find_walls(line, points, rules, reduction.sum);
  // A domain boundary between two units is moved to the beginning of the second one.
  std::vector<Key> begins;
  for (const LinePoint& point : points) begins.push_back(point.position);
  std::sort(begins.begin(), begins.end());
  std::vector<std::int64_t> next;
  for (const Key wall : walls_) {
    const auto after = std::lower_bound(begins.begin(), begins.end(), wall);
    next.push_back(static_cast<std::int64_t>(after == begins.end() ? end : *after));
  }
  contents.communicator.min_in_place(std::span<std::int64_t>(next));
  walls_.assign(next.begin(), next.end());
}

std::vector<double> RamsesDomains::bounds(int bits) const {
  std::vector<double> bounds{0.0};
  for (const Key wall : walls_)
    bounds.push_back(std::ldexp(static_cast<double>(wall), 3 * (bits - bits_)));
  bounds.push_back(std::ldexp(1.0, 3 * bits));
  return bounds;
}

RamsesDomains::Piece RamsesDomains::piece(int level, const RamsesPlace& cell) const {
  if (level >= bits_) {
    RamsesPlace coarse = cell;
    for (auto& coordinate : coarse) coordinate >>= level - bits_;
    const Key key = curve_key(coarse, bits_);
    return {key, key};
  }
  const int shift = 3 * (bits_ - level);
  const Key begin = curve_key(cell, level) << shift;
  return {begin, begin + (Key{1} << shift) - 1};
}

int RamsesDomains::domain_at(Key key) const {
  return static_cast<int>(std::upper_bound(walls_.begin(), walls_.end(), key) - walls_.begin());
}

int RamsesDomains::owner(int level, const RamsesPlace& cell) const {
  if (level >= bits_) return domain_at(piece(level, cell).begin);
  RamsesPlace centre;
  for (int d = 0; d < 3; ++d) centre[d] = (2 * cell[d] + 1) << (bits_ - level - 1);
  return domain_at(curve_key(centre, bits_));
}

std::vector<int> RamsesDomains::holders(int level, const RamsesPlace& cell) const {
  const std::int64_t extent = std::int64_t{1} << level;
  std::vector<int> found;
  for (int n = 0; n < 27; ++n) {
    RamsesPlace place{cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1};
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const bool beyond = place[d] < 0 || place[d] >= extent;
      if (beyond) place[d] = (place[d] + extent) % extent;
      inside = inside && (!beyond || periodic_[d]);
    }
    if (!inside) continue;
    const Piece reached = piece(level, place);
    for (int d = domain_at(reached.begin); d <= domain_at(reached.end); ++d)
      if (std::find(found.begin(), found.end(), d) == found.end()) found.push_back(d);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace octant
