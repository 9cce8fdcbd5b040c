#include "driver/ramses_octs.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>
#include <string>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "driver/stored_blocks.hpp"

namespace octant::driver {

namespace {

constexpr const char* k_gravity_names[] = {"potential", "acceleration_x", "acceleration_y",
                                           "acceleration_z"};
constexpr int k_density = 0, k_velocity = 1, k_pressure = 4;  // of the gas
constexpr int k_acceleration = 1;                             // of gravity

const CellField* find_field(const MeshContents& contents, const std::string& room,
                            const std::string& name) {
  for (const CellField& field : contents.fields)
    if (field.room == room && field.name == name) return &field;
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
  for (const CellField& field : contents.fields)
    if (field.room == "hydro" && field.name != "entropy" &&
        std::ranges::find(k_ramses_gas, field.name) == std::end(k_ramses_gas))
      all.push_back(&field);
  gas = static_cast<int>(all.size());
  for (const char* name : k_gravity_names)
    if (const CellField* field = find_field(contents, "gravity", name)) all.push_back(field);
  gravity = static_cast<int>(all.size()) - gas;
  if (gravity == std::ssize(k_gravity_names)) return;
  all.resize(static_cast<std::size_t>(gas));  // some were left out
  gravity = 0;
}

int RamsesVariables::vector_axis(int variable) const {
  const int axis = variable < gas ? variable - k_velocity : variable - gas - k_acceleration;
  return axis < 3 ? std::max(axis, -1) : -1;
}

std::vector<double> RamsesVariables::mean(const std::vector<double>& cells, double gamma) const {
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

// All octs of the blocks, in the order of blocks.
void OctTree::add_blocks() {
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
std::uint8_t OctTree::refined_cells(std::uint8_t octants, const std::array<int, 3>& oct) const {
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
std::vector<OctValues> OctTree::values(const OctLevel& octs, int variable) const {
  return octs.blocks ? values_in(*octs.blocks, octs.blocks->slots, variable)
                     : octs.values[variable];
}

std::vector<OctValues> OctTree::values_in(const BlockLevel& blocks, std::span<const int> slots,
                                          int variable) const {
  const std::int64_t N = contents_.geometry.block_size(), across = N / 2;
  const auto cells = variables_.all[variable]->values(blocks.number, slots);
  std::vector<OctValues> values(cells.size() / k_octants);
  std::size_t oct = 0;
  for (std::int64_t block = 0; block < std::ssize(slots); ++block)
    for (std::int64_t k = 0; k < across; ++k)
      for (std::int64_t j = 0; j < across; ++j)
        for (std::int64_t i = 0; i < across; ++i, ++oct)
          for (int c = 0; c < k_octants; ++c)
            values[oct][c] = cells[((block * N + 2 * k + (c >> 2)) * N + 2 * j + (c >> 1 & 1)) * N +
                                   2 * i + (c & 1)];
  return values;
}

// The octs above the base grid, of which Octant has no blocks: each has the means of the next
// finer ones in its cells, and is made by the rank whose share of the level it lies in.
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

// Of each oct, the cell that it divides and what that holds.
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
      ++counts_[number - 1][octs.owners.back()];
    }
    ranks_.sum_in_place(std::span<std::int64_t>(counts_[number - 1]));
  }
}

}  // namespace octant::driver
