#include "gravity/fmm_tree.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "comm/route.hpp"

namespace octant::gravity::fmm {

namespace {

int slot_of(const std::vector<Key>& keys, int own, Key key) {
  const auto end = keys.begin() + own, found = std::lower_bound(keys.begin(), end, key);
  return found != end && *found == key ? static_cast<int>(found - keys.begin()) : -1;
}

std::int64_t halved(std::int64_t cells, int times) {
  return (cells + (std::int64_t{1} << times) - 1) >> times;
}

}  // namespace

bool is_top(const mesh::Geometry& geometry, int level) {
  if (level >= 0) return false;
  for (const auto blocks : geometry.extent(0))
    if (halved(std::int64_t{blocks} * geometry.block_size(), -level) > 4) return false;
  return true;
}

BrickLevel::BrickLevel(const mesh::Tree& tree, int level)
    : communicator_(tree.communicator()), tree_(&tree), level_(level) {
  const int across = tree.geometry().block_size() / k_side;
  shift_ = 3 * std::countr_zero(static_cast<unsigned>(across));
  const BlockCoordinates extent = tree.geometry().extent(level);
  for (int d = 0; d < 3; ++d) extent_[d] = std::int64_t{extent[d]} * across;
  const mesh::TreeLevel& blocks = tree.level(level);
  const int parts = 1 << shift_;
  for (const int slot : blocks.own())
    for (int n = 0; n < parts; ++n) {
      // A brick of a large block lies in one of its octants.
      const unsigned mask = blocks.refined(slot);
      const unsigned refined = shift_ == 0 ? mask : mask >> (n >> (shift_ - 3)) & 1 ? 0xffu : 0u;
      keys_.push_back((blocks.key(slot) << shift_) + static_cast<Key>(n));
      cells_.push_back(
          {static_cast<std::uint8_t>(~refined & 0xff), static_cast<std::uint8_t>(refined)});
      if (level > 0)
        parent_owners_.push_back(tree.level(level - 1).find(parent_key(blocks.key(slot)))->owner);
    }
  own_ = static_cast<int>(keys_.size());
}

BrickLevel BrickLevel::above(BrickLevel& finer) {
  std::array<std::int64_t, 3> extent;
  for (int d = 0; d < 3; ++d) extent[d] = (finer.extent_[d] + 1) / 2;
  BrickLevel coarser(finer.communicator_, finer.level_ - 1, extent);
  const Communicator& communicator = finer.communicator_;
  std::vector<PatchDirectory::Registration> registrations;
  std::vector<Key> parents;
  for (int slot = 0; slot < finer.own_; ++slot) {
    const Key parent = parent_key(finer.keys_[slot]);
    parents.push_back(parent);
    if (registrations.empty() || registrations.back().patch != parent)
      registrations.push_back({parent, finer.keys_[slot], 1});
  }
  coarser.directory_ = std::make_unique<PatchDirectory>(communicator, registrations);
  finer.parent_owners_.clear();
  for (const PatchFacts& facts : coarser.directory_->ask(parents))
    finer.parent_owners_.push_back(facts.owner);
  for (std::size_t n = 0; n < parents.size(); ++n)
    if (finer.parent_owners_[n] == communicator.rank() &&
        (coarser.keys_.empty() || coarser.keys_.back() != parents[n]))
      coarser.keys_.push_back(parents[n]);
  coarser.own_ = static_cast<int>(coarser.keys_.size());
  coarser.cells_.resize(coarser.own_);
  return coarser;
}

void BrickLevel::join(BrickLevel& coarser) {
  leaving_.resize(own_);
  std::iota(leaving_.begin(), leaving_.end(), 0);
  std::stable_sort(leaving_.begin(), leaving_.end(),
                   [&](int a, int b) { return parent_owners_[a] < parent_owners_[b]; });
  std::vector<int> owners;
  std::vector<Key> keys;
  std::vector<Segment> sends, receives;
  for (const int slot : leaving_) {
    owners.push_back(parent_owners_[slot]);
    keys.push_back(keys_[slot]);
    count_items(sends, owners.back());
  }
  const auto arrived = route<Key>(communicator_, owners, keys);
  for (std::size_t n = 0; n < arrived.items.size(); ++n) {
    const Key key = arrived.items[n];
    const int parent = slot_of(coarser.keys_, coarser.own_, parent_key(key));
    coarser.children_.push_back({parent, octant_of(key)});
    if (!coarser.tree_)
      coarser.cells_[parent].refined |= static_cast<std::uint8_t>(1 << octant_of(key));
    count_items(receives, arrived.sources[n]);
  }
  upward_ = std::make_unique<ExchangePlan>(communicator_, std::move(sends), std::move(receives));
}

std::vector<int> BrickLevel::owners_of(const std::vector<Key>& keys) const {
  std::vector<int> owners;
  if (!tree_) {
    for (const PatchFacts& facts : directory_->ask(keys)) owners.push_back(facts.owner);
    return owners;
  }
  for (const Key key : keys) {
    const mesh::Node* node = tree_->level(level_).find(key >> shift_);
    owners.push_back(node ? node->owner : -1);
  }
  return owners;
}

std::int64_t BrickLevel::shared_doubles(BrickCells cells) const {
  if (cells.refined == 0) return 8;
  return 8 * (k_moments + (has_jumps() ? k_child_fields : 0));
}

SharedBrick BrickLevel::shared(std::int32_t slot, std::uint32_t directions, int reach,
                               std::int64_t& doubles) const {
  const auto side = static_cast<std::int16_t>(k_parents), depth = static_cast<std::int16_t>(reach);
  SharedBrick brick{slot, {side, side, side}, {0, 0, 0}, doubles};
  for (int n = 0; n < 27; ++n) {
    if (!(directions >> n & 1)) continue;
    const std::array<int, 3> towards{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    for (int d = 0; d < 3; ++d) {
      const auto begin = static_cast<std::int16_t>(towards[d] < 0 ? side - depth : 0);
      const auto end = static_cast<std::int16_t>(towards[d] > 0 ? depth : side);
      brick.begin[d] = std::min(brick.begin[d], begin);
      brick.end[d] = std::max(brick.end[d], end);
    }
  }
  std::int64_t octets = 1;
  for (int d = 0; d < 3; ++d) octets *= brick.end[d] - brick.begin[d];
  doubles += octets * shared_doubles(cells_[slot]);
  return brick;
}

void BrickLevel::connect(int reach) {
  bool leaves = false, refined = false;
  for (const BrickCells& c : cells_) leaves |= c.leaves != 0, refined |= c.refined != 0;
  has_leaves_ = communicator_.any(leaves);
  has_refined_ = communicator_.any(refined);

  BlockCoordinates extent;
  for (int d = 0; d < 3; ++d) extent[d] = static_cast<BlockCoordinate>(extent_[d]);
  KeyTable<std::int32_t> index;  // of other ranks' bricks
  std::vector<Request> others;
  near_.resize(own_);
  const auto for_neighbours = [&](auto&& visit) {
    for (int slot = 0; slot < own_; ++slot)
      for (int n = 0; n < 27; ++n)
        visit(slot, n,
              neighbour_key(keys_[slot], {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, extent,
                            {false, false, false}));
  };
  for_neighbours([&](int slot, int n, const std::optional<Key>& key) {
    near_[slot][n] = key ? slot_of(keys_, own_, *key) : -1;
    if (!key || near_[slot][n] >= 0) return;
    if (!index.contains(*key)) {
      index.insert(*key, static_cast<std::int32_t>(others.size()));
      others.push_back({*key, 0});
    }
    others[*index.find(*key)].directions |= 1u << n;
  });
  std::vector<Key> questions;
  for (const Request& other : others) questions.push_back(other.key);
  const std::vector<int> owners = owners_of(questions);
  std::vector<int> existing;
  for (std::size_t n = 0; n < others.size(); ++n)
    if (owners[n] >= 0) existing.push_back(static_cast<int>(n));
  std::sort(existing.begin(), existing.end(), [&](int a, int b) {
    return std::tuple(owners[a], others[a].key) < std::tuple(owners[b], others[b].key);
  });
  std::vector<std::int32_t> place(others.size(), -1);
  std::vector<int> targets;
  std::vector<Request> requests;
  for (const int n : existing) {
    place[n] = slots();
    keys_.push_back(others[n].key);
    targets.push_back(owners[n]);
    requests.push_back(others[n]);
  }
  for_neighbours([&](int slot, int n, const std::optional<Key>& key) {
    if (key && near_[slot][n] < 0) near_[slot][n] = place[*index.find(*key)];
  });

  const auto asked = route<Request>(communicator_, targets, requests);
  std::vector<BrickCells> answers;
  std::vector<Segment> sends, receives;
  std::int64_t sent = 0, received = 0;
  for (std::size_t n = 0; n < asked.items.size(); ++n) {
    const int slot = slot_of(keys_, own_, asked.items[n].key);
    answers.push_back(cells_[slot]);
    const std::int64_t before = sent;
    sent_.push_back(shared(slot, asked.items[n].directions, reach, sent));
    count_items(sends, asked.sources[n], sent - before);
  }
  // Answers arrive in the order of asking, which is that of owners.
  const auto facts = route<BrickCells>(communicator_, asked.sources, answers);
  cells_.insert(cells_.end(), facts.items.begin(), facts.items.end());
  for (std::size_t n = 0; n < requests.size(); ++n) {
    const std::int64_t before = received;
    received_.push_back(
        shared(own_ + static_cast<int>(n), requests[n].directions, reach, received));
    count_items(receives, targets[n], received - before);
  }
  copies_ = std::make_unique<ExchangePlan>(communicator_, std::move(sends), std::move(receives));
}

}  // namespace octant::gravity::fmm
