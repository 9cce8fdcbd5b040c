#include "mesh/tree.hpp"

#include <algorithm>
#include <iterator>

#include "comm/route.hpp"

namespace octant::mesh {

namespace {

Holder holder_of(const Node* node) {
  if (node == nullptr) return k_nobody;
  return node->slot >= 0 ? node->slot : encode_rank(node->owner);
}

}  // namespace

int TreeLevel::insert(Key key, std::uint8_t refined, int rank) {
  int slot = slots();
  if (free_.empty()) {
    keys_.push_back(key);
    refined_.push_back(refined);
    neighbours_.emplace_back();
  } else {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>());
    slot = free_.back();
    free_.pop_back();
    keys_[slot] = key;
    refined_[slot] = refined;
  }
  nodes_.insert(key, {rank, slot});
  mark_changed(slot, k_all_positions);
  const auto around = geometry_.keys_around(level_, key);
  for (int n = 0; n < 27; ++n) {
    const Holder holder = around[n] == k_no_key ? k_nobody : holder_of(nodes_.find(around[n]));
    neighbours_[slot][n] = holder;
    if (!is_own(holder)) continue;
    neighbours_[holder][26 - n] = slot;
    mark_changed(holder, 1u << (26 - n));
  }
  ++nodes_in_use_;
  unsorted_.push_back(slot);
  changed_.push_back(key);
  return slot;
}

void TreeLevel::remove(Key key) {
  const int slot = nodes_.find(key)->slot;
  keys_[slot] = k_no_key;
  nodes_.erase(key);
  mark_changed(slot, k_all_positions);
  for (int n = 0; n < 27; ++n) {
    const Holder holder = neighbours_[slot][n];
    if (!is_own(holder)) continue;
    neighbours_[holder][26 - n] = k_nobody;
    mark_changed(holder, 1u << (26 - n));
  }
  changed_.push_back(key);
  free_.push_back(slot);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
  --nodes_in_use_;
}

void TreeLevel::clear() {
  std::copy_if(keys_.begin(), keys_.end(), std::back_inserter(changed_),
               [](Key key) { return key != k_no_key; });
  for (int slot = 0; slot < slots(); ++slot) mark_changed(slot, k_all_positions);
  nodes_.clear();
  keys_.clear();
  refined_.clear();
  neighbours_.clear();
  free_.clear();
  own_.clear();
  unsorted_.clear();
  nodes_in_use_ = 0;
}

void TreeLevel::record_owner(Key key, int owner) {
  const Node* known = nodes_.find(key);
  if (known != nullptr && known->owner == owner) return;
  nodes_.insert(key, {owner, -1});
  update_neighbours(key, encode_rank(owner));
}

void TreeLevel::erase(Key key) {
  if (nodes_.erase(key)) update_neighbours(key, k_nobody);
}

// Sets the holder of a position in the neighbour tables of the own blocks around it.
void TreeLevel::update_neighbours(Key key, Holder holder) {
  const auto around = geometry_.keys_around(level_, key);
  for (int n = 0; n < 27; ++n) {
    const Node* node = around[n] == k_no_key ? nullptr : nodes_.find(around[n]);
    if (node == nullptr || node->slot < 0) continue;
    neighbours_[node->slot][26 - n] = holder;
    mark_changed(node->slot, 1u << (26 - n));
  }
  changed_.push_back(key);
}

void TreeLevel::mark_changed(int slot, Positions positions) {
  if (slot >= std::ssize(changed_around_)) changed_around_.resize(slot + 1);
  if (changed_around_[slot] == 0) touched_.push_back(slot);
  changed_around_[slot] |= positions;
}

void TreeLevel::clear_changes() {
  changed_.clear();
  for (const int slot : touched_) changed_around_[slot] = 0;
  touched_.clear();
}

std::vector<Key> TreeLevel::others() const {
  std::vector<Key> keys;
  for (const auto& entry : nodes_)
    if (entry.value.slot < 0) keys.push_back(entry.key);
  return keys;
}

void TreeLevel::sort() {
  if (unsorted_.empty() && own_.size() == nodes_in_use_) return;
  const auto before = [this](int a, int b) { return keys_[a] < keys_[b]; };
  std::vector<bool> is_new(slots(), false);
  for (const int slot : unsorted_) is_new[slot] = true;
  std::erase_if(own_, [&](int slot) { return keys_[slot] == k_no_key || is_new[slot]; });
  const auto old = static_cast<std::ptrdiff_t>(own_.size());
  for (const int slot : unsorted_) {
    if (is_new[slot] && keys_[slot] != k_no_key) own_.push_back(slot);
    is_new[slot] = false;  // a slot may be listed twice
  }
  std::sort(own_.begin() + old, own_.end(), before);
  std::inplace_merge(own_.begin(), own_.begin() + old, own_.end(), before);
  unsorted_.clear();
}

std::size_t TreeLevel::bytes() const {
  return nodes_.size_bytes() + keys_.capacity() * sizeof(Key) + refined_.capacity() +
         neighbours_.capacity() * sizeof(Neighbours) +
         changed_around_.capacity() * sizeof(Positions) +
         (free_.capacity() + own_.capacity()) * sizeof(int);
}

namespace {

int home_of(int level, Key key, int ranks) {
  std::uint64_t h = static_cast<std::uint64_t>(key) ^ (static_cast<std::uint64_t>(level) << 58);
  if constexpr (sizeof(Key) > 8) h ^= static_cast<std::uint64_t>(key >> 64);
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<int>((h ^ (h >> 32)) % static_cast<std::uint64_t>(ranks));
}

}  // namespace

Tree::Tree(const Geometry& geometry, const Communicator& communicator)
    : geometry_(geometry), communicator_(communicator), directory_(geometry.max_level() + 1) {
  for (int l = 0; l <= geometry.max_level(); ++l) levels_.emplace_back(geometry, l);
}

// Registers new and removed blocks of this rank in the directory.
void Tree::register_changes() {
  struct Registration {
    std::int32_t level;
    bool is_here;
    Key key;
  };
  std::vector<Registration> changes;
  std::vector<int> homes;
  for (int l = 0; l <= max_level(); ++l) {
    for (const Key key : levels_[l].changed()) {
      const Node* node = levels_[l].find(key);
      changes.push_back({l, node != nullptr && node->slot >= 0, key});
      homes.push_back(home_of(l, key, communicator_.size()));
    }
  }
  const auto received = route<Registration>(communicator_, homes, changes);
  for (std::size_t n = 0; n < received.items.size(); ++n) {
    const auto& [level, is_here, key] = received.items[n];
    const std::int32_t* owner = directory_[level].find(key);
    if (is_here) directory_[level].insert(key, received.sources[n]);
    else if (owner != nullptr && *owner == received.sources[n]) directory_[level].erase(key);
  }
}

// Queries for the positions around own blocks and around their parents that this rank does not own.
std::vector<Tree::Query> Tree::open_queries() const {
  std::vector<KeyTable<char>> queried(levels_.size());
  std::vector<Query> queries;
  const auto query = [&](int l, Key key) {
    if (key == k_no_key || queried[l].contains(key)) return;
    queried[l].insert(key, 1);
    queries.push_back({l, key});
  };
  for (int l = 0; l <= max_level(); ++l) {
    Key last_parent = k_no_key;
    for (const int slot : levels_[l].own()) {
      const Key key = levels_[l].key(slot);
      const Neighbours& holders = levels_[l].neighbours(slot);
      if (!std::all_of(holders.begin(), holders.end(), is_own)) {
        const auto around = geometry_.keys_around(l, key);
        for (int n = 0; n < 27; ++n)
          if (!is_own(holders[n])) query(l, around[n]);
      }
      if (l == 0 || parent_key(key) == last_parent) continue;
      last_parent = parent_key(key);
      const Node* parent = levels_[l - 1].find(last_parent);
      // The iteration over level l - 1 covers the positions around an own parent.
      if (parent != nullptr && parent->slot >= 0) continue;
      for (const Key near : geometry_.keys_around(l - 1, last_parent)) {
        const Node* node = near == k_no_key ? nullptr : levels_[l - 1].find(near);
        if (node == nullptr || node->slot < 0) query(l - 1, near);
      }
    }
  }
  return queries;
}

// Removes the entries of other ranks' blocks whose positions are not in `queries`.
void Tree::keep_only(const std::vector<Query>& queries) {
  std::vector<KeyTable<char>> near(levels_.size());
  for (const Query& query : queries) near[query.level].insert(query.key, 1);
  for (int l = 0; l <= max_level(); ++l)
    for (const Key key : levels_[l].others())
      if (!near[l].contains(key)) levels_[l].erase(key);
}

// Returns the owners of the blocks in `queries` from the directory; -1 if there is no block.
std::vector<std::int32_t> Tree::query_directory(const std::vector<Query>& queries) const {
  std::vector<int> homes(queries.size());
  for (std::size_t n = 0; n < queries.size(); ++n)
    homes[n] = home_of(queries[n].level, queries[n].key, communicator_.size());

  return octant::query_ranks(communicator_, std::span<const int>(homes),
                             std::span<const Query>(queries), [this](const Query& query) {
                               const auto* owner = directory_[query.level].find(query.key);
                               return owner ? *owner : -1;
                             });
}

void Tree::discover() {
  for (TreeLevel& level : levels_) level.sort();
  register_changes();
  if (communicator_.size() == 1) return;

  const std::vector<Query> queries = open_queries();
  const auto owners = query_directory(queries);
  keep_only(queries);
  for (std::size_t n = 0; n < queries.size(); ++n) {
    const auto& [level, key] = queries[n];
    if (owners[n] >= 0) levels_[level].record_owner(key, owners[n]);
    else levels_[level].erase(key);
  }
}

void Tree::clear_changes() {
  for (TreeLevel& level : levels_) level.clear_changes();
}

std::vector<std::int32_t> Tree::owners(int level, std::span<const Key> keys) const {
  std::vector<Query> queries;
  queries.reserve(keys.size());
  for (const Key key : keys) queries.push_back({level, key});
  return query_directory(queries);
}

std::vector<std::int64_t> Tree::global_counts() const {
  std::vector<std::int64_t> counts;
  for (const TreeLevel& level : levels_) counts.push_back(level.count());
  communicator_.sum_in_place(std::span<std::int64_t>(counts));
  return counts;
}

}  // namespace octant::mesh
