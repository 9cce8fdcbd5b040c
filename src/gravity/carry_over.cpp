#include "gravity/carry_over.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

struct Move {
  std::int32_t from, to;
};

void copy_blocks(const std::vector<Move>& moves, std::int64_t stride, const double* from,
                 double* to) {
  const auto tasks = mesh::to_device("moved blocks", moves);
  Kokkos::parallel_for(
      "gravity: move blocks", Kokkos::RangePolicy<>(0, moves.size() * stride),
      KOKKOS_LAMBDA(const std::int64_t n) {
        const Move& move = tasks(n / stride);
        to[move.to * stride + n % stride] = from[move.from * stride + n % stride];
      });
  Kokkos::fence();
}

// Fetches the blocks of `missing` slots that other ranks had; those found are no longer new.
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
  const auto facts = directory.ask(keys);
  for (std::size_t n = 0; n < missing.size(); ++n) missing[n].owner = facts[n].owner;
  std::erase_if(missing, [](const Missing& m) { return m.owner < 0; });
  std::stable_sort(missing.begin(), missing.end(),
                   [](const Missing& a, const Missing& b) { return a.owner < b.owner; });
  std::vector<int> owners;
  std::vector<Key> questions;
  std::vector<Segment> sends, receives;
  std::vector<Move> packs, unpacks;
  for (const Missing& m : missing) {
    unpacks.push_back({static_cast<std::int32_t>(questions.size()), m.slot});
    owners.push_back(m.owner);
    questions.push_back(now.keys[m.slot]);
    count_items(receives, m.owner);
    is_new[m.slot] = 0;
  }
  const auto asked = route<Key>(communicator, owners, questions);
  for (std::size_t n = 0; n < asked.items.size(); ++n) {
    packs.push_back({*slot_before.find(asked.items[n]), static_cast<std::int32_t>(n)});
    count_items(sends, asked.sources[n]);
  }
  const ExchangePlan plan(communicator, std::move(sends), std::move(receives));
  const auto sent = mesh::uninitialised<double>("leaving blocks", plan.items_sent() * stride);
  const auto received =
      mesh::uninitialised<double>("arriving blocks", plan.items_received() * stride);
  copy_blocks(packs, stride, before.values.data(), sent.data());
  exchanger.run<double>(plan, sent.data(), received.data(), static_cast<int>(stride));
  copy_blocks(unpacks, stride, received.data(), now.values.data());
}

}  // namespace

std::vector<std::uint8_t> carry_over(const Communicator& communicator, std::int64_t stride,
                                     const StoredBlocks& before, const StoredBlocks& now,
                                     Exchanger& exchanger) {
  KeyTable<std::int32_t> slot_before;
  for (std::size_t slot = 0; slot < before.keys.size(); ++slot)
    if (before.keys[slot] != k_no_key)
      slot_before.insert(before.keys[slot], static_cast<std::int32_t>(slot));
  std::vector<std::uint8_t> is_new(now.keys.size(), 0);
  std::vector<Move> moves;
  for (std::size_t slot = 0; slot < now.keys.size(); ++slot) {
    if (now.keys[slot] == k_no_key) continue;
    if (const std::int32_t* known = slot_before.find(now.keys[slot]))
      moves.push_back({*known, static_cast<std::int32_t>(slot)});
    else is_new[slot] = 1;
  }
  copy_blocks(moves, stride, before.values.data(), now.values.data());
  if (communicator.size() > 1)
    fetch(communicator, stride, before, slot_before, now, exchanger, is_new);
  return is_new;
}

}  // namespace octant::gravity
