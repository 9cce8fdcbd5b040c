#include "driver/ramses_delivery.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace octant::driver {

namespace {

// That a rank reads and sends: enough that ranks seldom wait for each other, and little beside what
// stays.
constexpr std::int64_t k_bytes_at_once = 4'000'000;

}  // namespace

// What travels before the values of an oct, eight cells of every variable.
struct OctDelivery::Head {
  Key block;
  std::uint32_t refined;
  std::int32_t first_cell;
};

OctDelivery::OctDelivery(const mesh::Mesh& mesh, const RamsesFacts& facts, RamsesSource& source,
                         RamsesLevels levels, int variables)
    : mesh_(mesh),
      facts_(facts),
      source_(source),
      levels_(levels),
      variables_(static_cast<std::size_t>(variables)),
      router_(mesh.communicator()) {}

std::size_t OctDelivery::item_bytes() const {
  return sizeof(Head) + k_oct_cells * variables_ * sizeof(double);
}

// An odd number, or the columns of variables would fall into the same sets of a cache.
std::int64_t OctDelivery::octs_at_once() const {
  return k_bytes_at_once / static_cast<std::int64_t>(item_bytes()) | 1;
}

std::int64_t OctDelivery::deliver_level(int level, const Store& store) {
  source_.next_level();
  const std::int64_t batch = octs_at_once();
  std::int64_t all = 0;
  std::vector<Head> heads;
  for (int round = 0; round < source_.rounds(); ++round) {
    const std::int64_t count = source_.count(round), most = mesh_.communicator().max(count);
    all += count;
    for (std::int64_t first = 0; first < most; first += batch) {
      const std::int64_t begin = std::min(first, count);
      source_.read(round, {begin, std::min(batch, count - begin)}, octs_);
      const auto some = static_cast<std::size_t>(octs_.size());
      heads.clear();
      for (std::size_t oct = 0; oct < some; ++oct) heads.push_back(head_of(oct));
      const auto copy_values = [&](std::size_t oct, double* to) {
        for (std::size_t n = 0; n < variables_ * k_oct_cells; ++n)
          to[n] = octs_.values[n * some + oct];
      };
      send(levels_.of_mesh(level), heads, copy_values, store);
    }
  }
  return all;
}

void OctDelivery::deliver(int level, std::span<const FurtherOct> octs, const Store& store) {
  const std::int64_t batch = octs_at_once(), count = std::ssize(octs);
  const std::int64_t most = mesh_.communicator().max(count);
  std::vector<Head> heads;
  for (std::int64_t first = 0; first < most; first += batch) {
    const std::int64_t begin = std::min(first, count);
    const auto some = octs.subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(std::min(batch, count - begin)));
    heads.clear();
    for (const FurtherOct& oct : some) heads.push_back({oct.block, 0, oct.first_cell});
    const auto copy_values = [&](std::size_t oct, double* to) {
      std::ranges::copy(some[oct].values, to);
    };
    send(level, heads, copy_values, store);
  }
}

// Of an oct that was read.
OctDelivery::Head OctDelivery::head_of(std::size_t oct) const {
  const int N = mesh_.geometry().block_size();
  BlockCoordinates block;
  std::array<int, 3> cell;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t first = 2 * octs_.places[oct][axis];
    block[axis] = static_cast<BlockCoordinate>(first / N);
    cell[axis] = static_cast<int>(first % N);
  }
  return {morton_encode(block), octs_.refined[oct], (cell[2] * N + cell[1]) * N + cell[0]};
}

void OctDelivery::send(int level, std::span<const Head> heads, const CopyValues& copy_values,
                       const Store& store) {
  std::vector<int> owners = owners_of(level, heads);
  // In the order of their owners: they need not be copied into it later.
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t oct) { return owners[oct]; });
  leaving_.resize(heads.size() * item_bytes());
  std::byte* to = leaving_.data();
  for (const std::size_t oct : order) {
    std::memcpy(to, &heads[oct], sizeof(Head));
    copy_values(oct, reinterpret_cast<double*>(to + sizeof(Head)));
    to += item_bytes();
  }
  std::ranges::sort(owners);
  unpack(level, router_.route(owners, leaving_, item_bytes()).items);
  if (arrived_.places.size() > 0) store(arrived_);
}

// Throws InputError on every rank if there is no block for one of them.
std::vector<int> OctDelivery::owners_of(int level, std::span<const Head> heads) const {
  std::vector<Key> blocks;  // of octs that follow each other, once
  std::vector<std::size_t> block_of;
  for (const Head& head : heads) {
    if (blocks.empty() || head.block != blocks.back()) blocks.push_back(head.block);
    block_of.push_back(blocks.size() - 1);
  }
  const auto owners = mesh_.tree().owners(level, blocks);
  mesh_.communicator().agree([&] {
    if (std::ranges::find(owners, -1) != owners.end())
      refuse_ramses(facts_, fmt::format("an oct of level {} lies in no refined cell of level {}: "
                                        "files are missing, or of several outputs",
                                        level + levels_.base, level + levels_.base - 1));
  });
  std::vector<int> of_octs;
  for (const std::size_t block : block_of) of_octs.push_back(owners[block]);
  return of_octs;
}

void OctDelivery::unpack(int level, std::span<const std::byte> items) {
  const std::size_t count = items.size() / item_bytes(), values = variables_ * k_oct_cells;
  arrived_.places.resize(count);
  arrived_.values.resize(count * values);
  OctPlace* const places = arrived_.places.write(0, count);
  double* const to = arrived_.values.write(0, count * values);
  for (std::size_t n = 0; n < count; ++n) {
    Head head;
    const std::byte* from = items.data() + n * item_bytes();
    std::memcpy(&head, from, sizeof(Head));
    places[n] = {mesh_.blocks(level).find(head.block)->slot, head.first_cell, head.refined};
    std::memcpy(to + n * values, from + sizeof(Head), values * sizeof(double));
  }
  arrived_.places.upload();
  arrived_.values.upload();
}

}  // namespace octant::driver
