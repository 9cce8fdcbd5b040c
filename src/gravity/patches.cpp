#include "gravity/patches.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "comm/route.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

std::vector<std::size_t> permutation_by(std::span<const int> ranks) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

}  // namespace

int patch_side(const mesh::Geometry& geometry, int level) {
  const BlockCoordinates blocks = geometry.extent(level);
  int side = k_largest_patch;
  for (const auto extent : blocks)
    while ((std::int64_t{extent} * geometry.block_size()) % side != 0) side /= 2;
  return side;
}

// --- directory ---------------------------------------------------------------------------------

PatchDirectory::PatchDirectory(const Communicator& communicator,
                               std::span<const Registration> registrations)
    : communicator_(communicator) {
  std::vector<int> homes;
  for (const Registration& r : registrations) homes.push_back(home_of(r.patch));
  const auto received = route<Registration>(communicator, homes, registrations);
  KeyTable<Key> first_blocks;
  for (std::size_t n = 0; n < received.items.size(); ++n) {
    const Registration& r = received.items[n];
    const PatchFacts* known = entries_.find(r.patch);
    PatchFacts attributes = known ? *known : PatchFacts{};
    if (!known || r.first_block < *first_blocks.find(r.patch)) {
      attributes.owner = received.sources[n];
      first_blocks.insert(r.patch, r.first_block);
    }
    attributes.blocks += r.blocks;
    entries_.insert(r.patch, attributes);
  }
}

int PatchDirectory::home_of(Key key) const {
  auto h = static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u;
  if constexpr (sizeof(Key) > 8) h ^= static_cast<std::uint64_t>(key >> 64);
  return static_cast<int>((h ^ (h >> 32)) % static_cast<std::uint64_t>(communicator_.size()));
}

std::vector<PatchFacts> PatchDirectory::find_owners(std::span<const Key> patches) const {
  std::vector<int> homes;
  for (const Key key : patches) homes.push_back(home_of(key));
  return octant::query_ranks(communicator_, std::span<const int>(homes), patches, [this](Key key) {
    const PatchFacts* known = entries_.find(key);
    return known ? *known : PatchFacts{};
  });
}

// --- neighbouring patches and their copies -----------------------------------------------------

PatchCopy SharedPatch::part(int side, int depth, std::int64_t offset) const {
  const auto all = static_cast<std::int16_t>(side), near = static_cast<std::int16_t>(depth);
  PatchCopy copy{slot, {all, all, all}, {0, 0, 0}, offset};
  for (int n = 0; n < 27; ++n) {
    if (!(directions >> n & 1)) continue;
    const std::array<int, 3> towards{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    for (int d = 0; d < 3; ++d) {
      const auto begin = static_cast<std::int16_t>(towards[d] < 0 ? all - near : 0);
      const auto end = static_cast<std::int16_t>(towards[d] > 0 ? near : all);
      copy.begin[d] = std::min(copy.begin[d], begin);
      copy.end[d] = std::max(copy.end[d], end);
    }
  }
  return copy;
}

int CubeGrid::find(Key key) const {
  const auto end = keys_.begin() + own_;
  const auto found = std::lower_bound(keys_.begin(), end, key);
  return found != end && *found == key ? static_cast<int>(found - keys_.begin()) : -1;
}

std::optional<Key> CubeGrid::neighbour(Key key, const std::array<int, 3>& offset) const {
  BlockCoordinates extent;
  for (int d = 0; d < 3; ++d) extent[d] = static_cast<BlockCoordinate>(extent_[d]);
  return neighbour_key(key, offset, extent, periodic_);
}

std::vector<PatchFacts> CubeGrid::find_neighbours(const FactsOf& facts_of) {
  struct Request {
    Key key;
    std::uint32_t directions;
  };
  KeyTable<std::int32_t> index;  // index in `others` of adjacent cubes of other ranks
  std::vector<Request> others;
  tables_.resize(own_);
  const auto for_neighbours = [&](auto&& visit) {
    for (int slot = 0; slot < own_; ++slot)
      for (int n = 0; n < 27; ++n)
        visit(slot, n, neighbour(keys_[slot], {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}));
  };
  for_neighbours([&](int slot, int n, const std::optional<Key>& key) {
    tables_[slot][n] = key ? find(*key) : -1;
    if (!key || tables_[slot][n] >= 0) return;
    if (!index.contains(*key)) {
      index.insert(*key, static_cast<std::int32_t>(others.size()));
      others.push_back({*key, 0});
    }
    others[*index.find(*key)].directions |= 1u << n;
  });
  std::vector<Key> queries;
  for (const Request& other : others) queries.push_back(other.key);
  const std::vector<PatchFacts> attributes = facts_of(queries);
  std::vector<int> existing;
  for (std::size_t n = 0; n < others.size(); ++n)
    if (attributes[n].owner >= 0) existing.push_back(static_cast<int>(n));
  std::sort(existing.begin(), existing.end(), [&](int a, int b) {
    return std::tuple(attributes[a].owner, others[a].key) <
           std::tuple(attributes[b].owner, others[b].key);
  });
  std::vector<std::int32_t> slot_of(others.size(), -1);
  std::vector<int> owners;
  std::vector<Request> requests;
  std::vector<PatchFacts> of_copies;
  for (const int n : existing) {
    slot_of[n] = slots();
    received_.push_back({attributes[n].owner, slot_of[n], others[n].directions});
    keys_.push_back(others[n].key);
    owners.push_back(attributes[n].owner);
    requests.push_back(others[n]);
    of_copies.push_back(attributes[n]);
  }
  for_neighbours([&](int slot, int n, const std::optional<Key>& key) {
    if (key && tables_[slot][n] < 0) tables_[slot][n] = slot_of[*index.find(*key)];
  });
  const auto received = route<Request>(communicator_, owners, requests);
  for (std::size_t n = 0; n < received.items.size(); ++n)
    sent_.push_back(
        {received.sources[n], find(received.items[n].key), received.items[n].directions});
  return of_copies;
}

// --- patches -----------------------------------------------------------------------------------

LevelPatches::LevelPatches(const mesh::Tree& tree, int level)
    : CubeGrid(tree.communicator(), level),
      side_(patch_side(tree.geometry(), level)),
      block_size_(tree.geometry().block_size()),
      piece_side_(std::min(side_, block_size_)),
      cubes_(block_size_, side_),
      registrations_(patches_with_own_blocks(blocks_of(tree.level(level)))),
      directory_(communicator_, registrations_) {
  const BlockCoordinates blocks = tree.geometry().extent(level);
  for (int d = 0; d < 3; ++d) {
    extent_[d] = std::int64_t{blocks[d]} * block_size_ / side_;
    periodic_[d] = tree.geometry().periodic(d);
  }
  build(blocks_of(tree.level(level)));
}

LevelPatches::LevelPatches(const LevelPatches& finer)
    : CubeGrid(finer.communicator_, finer.level_),
      side_(2),
      block_size_(1),
      piece_side_(1),
      cubes_(block_size_, side_),
      registrations_(patches_with_own_blocks(blocks_of(finer))),
      directory_(communicator_, registrations_) {
  periodic_ = finer.periodic_;
  for (int d = 0; d < 3; ++d) extent_[d] = finer.extent_[d] / 2;
  build(blocks_of(finer));
}

std::vector<LevelPatches::Block> LevelPatches::blocks_of(const mesh::TreeLevel& blocks) {
  std::vector<Block> all;
  for (const int slot : blocks.own()) all.push_back({slot, blocks.key(slot)});
  return all;
}

std::vector<LevelPatches::Block> LevelPatches::blocks_of(const LevelPatches& finer) {
  std::vector<Block> all;
  for (int slot = 0; slot < finer.own(); ++slot) all.push_back({slot, finer.key(slot)});
  return all;
}

void LevelPatches::build(const std::vector<Block>& blocks) {
  std::vector<Key> touched;
  for (const auto& r : registrations_) touched.push_back(r.patch);
  const std::vector<PatchFacts> attributes = directory_.find_owners(touched);
  std::vector<PatchFacts> local_facts;
  for (std::size_t n = 0; n < touched.size(); ++n)
    if (attributes[n].owner == communicator_.rank()) {
      keys_.push_back(touched[n]);
      local_facts.push_back(attributes[n]);
    }
  own_ = static_cast<int>(keys_.size());
  fill_tables(local_facts);
  match_pieces(blocks, touched, attributes);
  if (side_ == k_largest_patch) number_strips();
  registrations_ = {};
}

// Returns the patches that contain own blocks, in the order of keys. Own blocks are in that order.
std::vector<PatchDirectory::Registration> LevelPatches::patches_with_own_blocks(
    const std::vector<Block>& blocks) const {
  std::vector<PatchDirectory::Registration> all;
  for (const auto& [slot, key] : blocks) {
    for (int n = 0; n < cubes_.cubes_per_block(); ++n) {
      const Key patch = cubes_.key_of(key, n);
      if (all.empty() || all.back().patch != patch) all.push_back({patch, key, 0});
      ++all.back().blocks;
    }
  }
  return all;
}

void LevelPatches::fill_tables(std::vector<PatchFacts> attributes) {
  const auto copies = find_neighbours(
      [this](const std::vector<Key>& keys) { return directory_.find_owners(keys); });
  attributes.insert(attributes.end(), copies.begin(), copies.end());
  const int full = cubes_.blocks_per_cube();
  masked_.assign(own_, 0);
  for (int slot = 0; slot < own_; ++slot)
    for (const std::int32_t next : tables_[slot])
      if (next < 0 || attributes[next].blocks < full) masked_[slot] = 1;
}

void LevelPatches::match_pieces(const std::vector<Block>& blocks, const std::vector<Key>& touched,
                                const std::vector<PatchFacts>& attributes) {
  struct Announcement {
    Key patch;
    std::array<std::int16_t, 3> in_patch;
  };
  std::vector<Piece> leaving;
  std::vector<int> owners;
  std::vector<Announcement> announcements;
  std::size_t at = 0;  // index in `touched`, which has the order of this loop
  for (const auto& [slot, key] : blocks) {
    for (int n = 0; n < cubes_.cubes_per_block(); ++n) {
      const Key patch = cubes_.key_of(key, n);
      while (touched[at] != patch) ++at;
      Piece piece{slot, -1, {0, 0, 0}, {0, 0, 0}};
      const BlockCoordinates in_block = cubes_.position_in_block(n);
      const BlockCoordinates in_patch = cubes_.position_in_cube(key);
      for (int d = 0; d < 3; ++d) {
        piece.in_block[d] = static_cast<std::int16_t>(in_block[d] * piece_side_);
        piece.in_patch[d] = static_cast<std::int16_t>(in_patch[d] * piece_side_);
      }
      if (attributes[at].owner == communicator_.rank()) {
        piece.patch = find(patch);
        local_.push_back(piece);
      } else {
        leaving.push_back(piece);
        owners.push_back(attributes[at].owner);
        announcements.push_back({patch, piece.in_patch});
      }
    }
  }
  std::vector<int> targets;
  std::vector<Announcement> announced;
  std::vector<Segment> sends, receives;
  for (const auto n : permutation_by(owners)) {
    leaving_.push_back(leaving[n]);
    targets.push_back(owners[n]);
    announced.push_back(announcements[n]);
    count_items(sends, owners[n]);
  }
  std::int64_t masked = std::ranges::count(masked_, 0) < std::ssize(masked_) ? 1 : 0;
  const auto arrived = route<Announcement>(communicator_, targets, announced, masked);
  any_masked_ = masked != 0;
  for (std::size_t n = 0; n < arrived.items.size(); ++n) {
    const Announcement& a = arrived.items[n];
    arriving_.push_back({-1, find(a.patch), {0, 0, 0}, a.in_patch});
    count_items(receives, arrived.sources[n]);
  }
  piece_plan_ =
      std::make_unique<ExchangePlan>(communicator_, std::move(sends), std::move(receives));
}

void LevelPatches::number_strips() {
  constexpr std::int32_t nowhere = -1, somewhere = 0;
  std::vector<StripTable> strips(slots());
  for (int slot = 0; slot < slots(); ++slot) strips[slot].fill(slot < own_ ? nowhere : somewhere);
  for (const auto* pieces : {&local_, &arriving_})
    for (const Piece& piece : *pieces)
      for (int k = 0; k < piece_side_; ++k)
        for (int j = 0; j < piece_side_; ++j)
          strips[piece.patch][((piece.in_patch[2] + k) * side_ + piece.in_patch[1] + j) / k_strip] =
              somewhere;
  std::int32_t count = 0;
  for (StripTable& table : strips)
    for (std::int32_t& strip : table)
      if (strip != nowhere) strip = count++;
  values_ = std::int64_t{count} * k_strip * side_;
  strips_ = mesh::to_device("patch strips", strips);
}

std::int64_t LevelPatches::bytes() const {
  const auto size = [](const auto& values) {
    return static_cast<std::int64_t>(values.size() * sizeof(values[0]));
  };
  return size(keys_) + size(tables_) + size(masked_) + size(sent_) + size(received_) +
         size(local_) + size(leaving_) + size(arriving_);
}

}  // namespace octant::gravity
