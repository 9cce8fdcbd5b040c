#include "mesh/tree.hpp"

#include <algorithm>
#include <numeric>

#include "comm/route.hpp"

namespace octant::mesh {

int TreeLevel::insert(Key key, std::uint8_t refined, int rank) {
  int slot = slots();
  if (free_.empty()) {
    keys_.push_back(key);
    refined_.push_back(refined);
  } else {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>());
    slot = free_.back();
    free_.pop_back();
    keys_[slot] = key;
    refined_[slot] = refined;
  }
  nodes_.insert(key, {rank, slot});
  ++nodes_in_use_;
  return slot;
}

void TreeLevel::remove(Key key) {
  const int slot = nodes_.find(key)->slot;
  keys_[slot] = k_no_key;
  nodes_.erase(key);
  free_.push_back(slot);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
  --nodes_in_use_;
}

void TreeLevel::sort() {
  own_.clear();
  own_.reserve(nodes_in_use_);
  for (int slot = 0; slot < slots(); ++slot)
    if (keys_[slot] != k_no_key) own_.push_back(slot);
  std::sort(own_.begin(), own_.end(), [this](int a, int b) { return keys_[a] < keys_[b]; });
}

void TreeLevel::forget_others(int rank) {
  nodes_.clear();
  nodes_.reserve(nodes_in_use_);
  for (int slot = 0; slot < slots(); ++slot)
    if (keys_[slot] != k_no_key) nodes_.insert(keys_[slot], {rank, slot});
}

std::size_t TreeLevel::bytes() const {
  return nodes_.size_bytes() + keys_.capacity() * sizeof(Key) + refined_.capacity() +
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
    : geometry_(geometry), communicator_(communicator), levels_(geometry.max_level() + 1) {}

std::vector<KeyTable<std::int32_t>> Tree::build_directory() const {
  std::vector<Question> blocks;
  std::vector<int> homes;
  for (int l = 0; l <= max_level(); ++l) {
    for (const int slot : levels_[l].own()) {
      blocks.push_back({l, levels_[l].key(slot)});
      homes.push_back(home_of(l, blocks.back().key, communicator_.size()));
    }
  }
  const auto registered = route<Question>(communicator_, homes, blocks);
  std::vector<KeyTable<std::int32_t>> directory(levels_.size());
  for (std::size_t n = 0; n < registered.items.size(); ++n)
    directory[registered.items[n].level].insert(registered.items[n].key, registered.sources[n]);
  return directory;
}

// The positions around own blocks and around their parents that are not this rank's own.
std::vector<Tree::Question> Tree::open_questions() const {
  std::vector<KeyTable<char>> asked(levels_.size());
  std::vector<Question> questions;
  const auto ask_around = [&](int l, const BlockCoordinates& centre) {
    for (int n = 0; n < 27; ++n) {
      BlockCoordinates c{centre[0] + n % 3 - 1, centre[1] + n / 3 % 3 - 1, centre[2] + n / 9 - 1};
      if (!geometry_.wrap(l, c)) continue;
      const Key key = morton_encode(c);
      if (levels_[l].find(key) || asked[l].contains(key)) continue;
      asked[l].insert(key, 1);
      questions.push_back({l, key});
    }
  };
  for (int l = 0; l <= max_level(); ++l) {
    Key last_parent = k_no_key;
    for (const int slot : levels_[l].own()) {
      const Key key = levels_[l].key(slot);
      ask_around(l, morton_decode(key));
      if (l == 0 || parent_key(key) == last_parent) continue;
      last_parent = parent_key(key);
      ask_around(l - 1, morton_decode(last_parent));
    }
  }
  return questions;
}

// Asks the directory for owners: -1 where there is no block.
std::vector<std::int32_t> Tree::ask(const std::vector<Question>& questions) const {
  const auto directory = build_directory();
  std::vector<int> homes(questions.size());
  for (std::size_t n = 0; n < questions.size(); ++n)
    homes[n] = home_of(questions[n].level, questions[n].key, communicator_.size());

  const auto received = route<Question>(communicator_, homes, questions);
  std::vector<std::int32_t> owners(received.items.size());
  for (std::size_t n = 0; n < owners.size(); ++n) {
    const auto* owner = directory[received.items[n].level].find(received.items[n].key);
    owners[n] = owner ? *owner : -1;
  }
  // Answers arrive by home and then in the order of asking.
  const auto arrived = route<std::int32_t>(communicator_, received.sources, owners);
  std::vector<std::size_t> order(questions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return homes[a] < homes[b]; });
  std::vector<std::int32_t> answers(questions.size());
  for (std::size_t n = 0; n < order.size(); ++n) answers[order[n]] = arrived.items[n];
  return answers;
}

void Tree::discover() {
  for (TreeLevel& level : levels_) level.sort();
  for (TreeLevel& level : levels_) level.forget_others(communicator_.rank());
  if (communicator_.size() == 1) return;

  const std::vector<Question> questions = open_questions();
  const auto owners = ask(questions);
  for (std::size_t n = 0; n < questions.size(); ++n)
    if (owners[n] >= 0) levels_[questions[n].level].learn(questions[n].key, owners[n]);
}

std::vector<std::int32_t> Tree::owners(int level, std::span<const Key> keys) const {
  std::vector<Question> questions;
  questions.reserve(keys.size());
  for (const Key key : keys) questions.push_back({level, key});
  return ask(questions);
}

std::vector<std::int64_t> Tree::global_counts() const {
  std::vector<std::int64_t> counts;
  for (const TreeLevel& level : levels_) counts.push_back(level.count());
  communicator_.sum_in_place(std::span<std::int64_t>(counts));
  return counts;
}

}  // namespace octant::mesh
