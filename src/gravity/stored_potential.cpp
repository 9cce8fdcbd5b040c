#include "gravity/stored_potential.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "gravity/patches.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

struct Move {
  std::int32_t from, to;
};

void move_blocks(const std::vector<Move>& moves, std::int64_t stride, const double* from,
                 double* to) {
  const auto tasks = mesh::to_device("moved blocks", moves);
  for_items(
      "gravity: move blocks", moves.size() * stride, KOKKOS_LAMBDA(const std::int64_t n) {
        const Move& move = tasks(n / stride);
        to[move.to * stride + n % stride] = from[move.from * stride + n % stride];
      });
}

// Fetches new blocks of this rank from the ranks that stored them before, and clears is_new for
// blocks that any rank stored.
void fetch(const Communicator& communicator, std::int64_t stride, const StoredBlocks& before,
           const KeyTable<std::int32_t>& slot_before, const StoredBlocks& now, Exchanger& exchanger,
           std::vector<std::uint8_t>& is_new) {
  std::vector<PatchDirectory::Registration> holdings;
  for (const Key key : before.keys)
    if (key != k_no_key) holdings.push_back({key, key, 1});
  const PatchDirectory directory(communicator, holdings);
  struct Missing {
    int owner;
    std::int32_t slot;
  };
  std::vector<Key> keys;
  std::vector<Missing> missing;
  for (std::size_t slot = 0; slot < now.keys.size(); ++slot)
    if (is_new[slot]) {
      keys.push_back(now.keys[slot]);
      missing.push_back({-1, static_cast<std::int32_t>(slot)});
    }
  const auto attributes = directory.find_owners(keys);
  for (std::size_t n = 0; n < missing.size(); ++n) missing[n].owner = attributes[n].owner;
  std::erase_if(missing, [](const Missing& m) { return m.owner < 0; });
  std::stable_sort(missing.begin(), missing.end(),
                   [](const Missing& a, const Missing& b) { return a.owner < b.owner; });
  std::vector<int> owners;
  std::vector<Key> queries;
  std::vector<Segment> sends, receives;
  std::vector<Move> pack_moves, unpack_moves;
  for (const Missing& m : missing) {
    unpack_moves.push_back({static_cast<std::int32_t>(queries.size()), m.slot});
    owners.push_back(m.owner);
    queries.push_back(now.keys[m.slot]);
    count_items(receives, m.owner);
    is_new[m.slot] = 0;
  }
  const auto requested = route<Key>(communicator, owners, queries);
  for (std::size_t n = 0; n < requested.items.size(); ++n) {
    pack_moves.push_back({*slot_before.find(requested.items[n]), static_cast<std::int32_t>(n)});
    count_items(sends, requested.sources[n]);
  }
  const ExchangePlan plan(communicator, std::move(sends), std::move(receives));
  const auto sent = mesh::uninitialised<double>("leaving blocks", plan.items_sent() * stride);
  const auto received =
      mesh::uninitialised<double>("arriving blocks", plan.items_received() * stride);
  move_blocks(pack_moves, stride, before.values.data(), sent.data());
  exchanger.run<double>(plan, sent.data(), received.data(), static_cast<int>(stride));
  move_blocks(unpack_moves, stride, received.data(), now.values.data());
}

// Number of slots to allocate, with spare capacity so that few regrids reallocate. The operating
// system maps no pages for memory that is never written.
std::int64_t with_spare_capacity(std::int64_t slots) { return slots + slots / 4 + 8; }

// Returns true if the memory of `blocks` can be kept for `slots` slots.
bool has_capacity(const StoredBlocks& blocks, std::int64_t slots, std::int64_t stride) {
  const auto capacity = static_cast<std::int64_t>(blocks.values.size()) / stride;
  return slots <= capacity && capacity <= 2 * with_spare_capacity(slots);
}

// Copies the values of every block, `stride` doubles, that some rank has in `before` to `now`.
// Returns a flag for each slot of `now` that is 1 if the block is new. Collective.
std::vector<std::uint8_t> carry_over(const Communicator& communicator, std::int64_t stride,
                                     const StoredBlocks& before, StoredBlocks& now,
                                     Exchanger& exchanger) {
  KeyTable<std::int32_t> slot_before;
  for (std::size_t slot = 0; slot < before.keys.size(); ++slot)
    if (before.keys[slot] != k_no_key)
      slot_before.insert(before.keys[slot], static_cast<std::int32_t>(slot));
  std::vector<std::uint8_t> is_new(now.keys.size(), 0);
  std::vector<Move> moves;
  bool in_place = has_capacity(before, std::ssize(now.keys), stride);
  for (std::size_t slot = 0; slot < now.keys.size(); ++slot) {
    if (now.keys[slot] == k_no_key) continue;
    if (const std::int32_t* known = slot_before.find(now.keys[slot])) {
      moves.push_back({*known, static_cast<std::int32_t>(slot)});
      in_place = in_place && *known == static_cast<std::int32_t>(slot);
    } else {
      is_new[slot] = 1;
    }
  }
  if (in_place) {
    now.values = before.values;
  } else {
    now.values = mesh::uninitialised<double>("gravity fields",
                                             with_spare_capacity(std::ssize(now.keys)) * stride);
    move_blocks(moves, stride, before.values.data(), now.values.data());
  }
  if (communicator.size() > 1)
    fetch(communicator, stride, before, slot_before, now, exchanger, is_new);
  return is_new;
}

}  // namespace

StoredPotential::StoredPotential(const mesh::Mesh& mesh, const CommOptions& options)
    : mesh_(mesh),
      layout_(mesh.layout().block_size, k_fields),
      levels_(mesh.geometry().max_level() + 1),
      migration_("gravity migration", mesh.communicator(), options, -1, Buffers::of_device) {}

BlockField StoredPotential::field(int level, Field field) const {
  return {data(level) + static_cast<int>(field) * layout_.stride_variable, layout_.stride_slot};
}

VectorField StoredPotential::acceleration(int level) const {
  return {field(level, Field::acceleration_x), layout_.stride_variable};
}

Combination StoredPotential::potential_at(int level, double time) const {
  const PotentialTimes& t = levels_[level].times;
  const double apart = t.now - t.previous;
  const double weight = apart > 0.0 ? std::clamp((time - t.now) / apart, -1.0, 1.0) : 0.0;
  return {.a = 1.0 + weight,
          .x = field(level, Field::potential),
          .b = -weight,
          .y = field(level, Field::previous_potential)};
}

// --- structure ---------------------------------------------------------------------------------

std::vector<int> StoredPotential::follow_mesh(int level) {
  Level& l = levels_[level];
  const mesh::TreeLevel& blocks = mesh_.blocks(level);
  const StoredBlocks before = std::move(l.blocks);
  l.blocks.keys.clear();
  for (int slot = 0; slot < blocks.slots(); ++slot) l.blocks.keys.push_back(blocks.key(slot));
  const auto is_new =
      carry_over(mesh_.communicator(), layout_.stride_slot, before, l.blocks, migration_);
  std::vector<int> fresh;
  for (const int slot : blocks.own())
    if (is_new[slot]) fresh.push_back(slot);
  return fresh;
}

void StoredPotential::release_finer(int finest) {
  for (std::size_t level = finest + 1; level < levels_.size(); ++level) levels_[level] = {};
}

void StoredPotential::inherit_times(int level) {
  if (level == 0 || levels_[level].times.solved) return;
  if (levels_[level - 1].times.solved) levels_[level].times = levels_[level - 1].times;
}

// --- solutions ---------------------------------------------------------------------------------

void StoredPotential::begin_solution(int level, double time) {
  Level& l = levels_[level];
  const bool later = l.times.solved && time > l.times.now;
  predict_blocks(mesh_.cells(level), potential_at(level, time), later);
  l.first = !l.times.solved;
  l.times = {.now = time,
             .previous = l.first ? time
                         : later ? l.times.now
                                 : l.times.previous,
             .solved = true};
}

void StoredPotential::end_solution(int level) {
  if (!levels_[level].first) return;
  copy_blocks(mesh_.cells(level), field(level, Field::potential),
              field(level, Field::previous_potential));
  levels_[level].first = false;
}

}  // namespace octant::gravity
