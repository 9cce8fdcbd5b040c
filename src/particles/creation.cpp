// Creation and removal of particles.
//
// Ids must not depend on the domain decomposition. They follow the order of levels, Morton keys of
// cells, and the batch within a cell, whose particles all come from the rank that owns it. Ranks
// only need the number of new particles in the blocks before their own.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "comm/route.hpp"
#include "comm/succeeds.hpp"
#include "core/error.hpp"
#include "particles/cloud.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

struct Birthplace {
  int level;
  Key block, cell;  // key of the cell within its block

  auto order() const { return std::tie(level, block, cell); }
};

// A block's question how many new particles precede its own `count` ones, and the answer.
struct BirthQuery {
  int level;
  Key block;
  std::int64_t index, count;  // index among the sender's queries

  auto order() const { return std::tie(level, block); }
};
struct BirthAnswer {
  std::int64_t index, before;
};

// Assigns the blocks in the order (level, key) to ranks, in proportion to the new particles of each
// level and to equal ranges of the keys within a level.
class CountingRanks {
 public:
  CountingRanks(const mesh::Geometry& geometry, std::span<const std::int64_t> born_by_level,
                int ranks)
      : geometry_(geometry), ranks_(ranks), before_{0.0} {
    for (const std::int64_t born : born_by_level)
      before_.push_back(before_.back() + static_cast<double>(born));
  }

  int of(const BirthQuery& query) const {
    BlockCoordinate end = 1;  // power of two that no coordinate of the level reaches
    for (const BlockCoordinate extent : geometry_.extent(query.level))
      while (end < extent) end *= 2;
    const double along_level = static_cast<double>(query.block) / std::pow(double(end), 3);
    const double births = before_[query.level + 1] - before_[query.level];
    const double along_all = (before_[query.level] + along_level * births) / before_.back();
    return std::min(static_cast<int>(along_all * ranks_), ranks_ - 1);
  }

 private:
  const mesh::Geometry& geometry_;
  int ranks_;
  std::vector<double> before_;  // new particles on coarser levels; at the end those of all levels
};

// Returns one query for each block with births, which are sorted by order().
std::vector<BirthQuery> queries_of(std::span<const Birthplace> births,
                                   std::span<const std::size_t> order) {
  std::vector<BirthQuery> queries;
  for (const std::size_t n : order) {
    const auto& [level, block, cell] = births[n];
    if (queries.empty() || queries.back().order() != std::tie(level, block))
      queries.push_back({level, block, std::ssize(queries), 0});
    ++queries.back().count;
  }
  return queries;
}

// Largest number of blocks with new particles that rank 0 orders alone, for one per rank at most.
constexpr int k_max_births_on_root = 256;

// New particles of this rank: for each the number of new particles on all ranks that precede it in
// order (level, block, cell); and their number on all ranks. `any_invalid`: some rank has invalid
// ones, and there are no numbers.
struct NumberedBirths {
  std::vector<std::int64_t> before;
  std::int64_t born = 0;
  bool any_invalid = false;
};

// Returns for each query the number of new particles in blocks before its own, given the number of
// new particles on ranks with earlier blocks, which becomes the number up to the last query.
std::vector<BirthAnswer> answers_to(const std::vector<BirthQuery>& queries, std::int64_t& before) {
  std::vector<std::size_t> by_block(queries.size());
  std::iota(by_block.begin(), by_block.end(), 0);
  std::sort(by_block.begin(), by_block.end(),
            [&](std::size_t a, std::size_t b) { return queries[a].order() < queries[b].order(); });
  std::vector<BirthAnswer> answers(queries.size());
  for (const std::size_t n : by_block) {
    answers[n] = {queries[n].index, before};
    before += queries[n].count;
  }
  return answers;
}

// Numbers the new particles; each block's are on one rank. Blocks are counted by rank 0, whose
// messages replace reductions, or, if a rank has many of them, by all ranks. Collective.
NumberedBirths number_births(const mesh::Mesh& mesh, std::span<const Birthplace> births,
                             std::vector<std::int64_t> born_by_level, bool is_valid) {
  const Communicator& communicator = mesh.communicator();
  std::vector<std::size_t> order(births.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return births[a].order() < births[b].order();
  });
  const std::vector<BirthQuery> own = queries_of(births, order);
  constexpr std::int64_t k_any = 1, k_many = 2, k_invalid = 4;
  const bool has_few = std::ssize(own) <= std::max(1, k_max_births_on_root / communicator.size());
  std::int64_t flags =
      (own.empty() ? 0 : k_any) | (has_few ? 0 : k_many) | (is_valid ? 0 : k_invalid);
  std::vector<int> ranks(has_few ? own.size() : 0, 0);
  auto queries = route(communicator, std::span<const int>(ranks),
                       std::span<const BirthQuery>(own).first(ranks.size()), flags);
  if ((flags & k_invalid) != 0) return {.before = {}, .born = 0, .any_invalid = true};
  if ((flags & k_any) == 0) return {};

  NumberedBirths numbered;
  std::int64_t before = 0;
  if ((flags & k_many) != 0) {
    communicator.sum_in_place(std::span(born_by_level));
    numbered.born = std::accumulate(born_by_level.begin(), born_by_level.end(), std::int64_t{0});
    const CountingRanks counters(mesh.geometry(), born_by_level, communicator.size());
    ranks.clear();
    for (const BirthQuery& query : own) ranks.push_back(counters.of(query));
    queries = route(communicator, std::span<const int>(ranks), std::span<const BirthQuery>(own));
    for (const BirthQuery& query : queries.items) before += query.count;
    before = communicator.exclusive_scan(before);
  }
  const std::vector<BirthAnswer> answers = answers_to(queries.items, before);
  if ((flags & k_many) == 0) numbered.born = before;  // on rank 0; 0 on others, as the flags need
  const auto answered = route(communicator, std::span<const int>(queries.sources),
                              std::span<const BirthAnswer>(answers), numbered.born);
  std::vector<std::int64_t> before_block(own.size());
  for (const BirthAnswer& answer : answered.items) before_block[answer.index] = answer.before;

  numbered.before.resize(births.size());
  auto birth = order.begin();
  for (std::size_t b = 0; b < own.size(); ++b)
    for (std::int64_t n = 0; n < own[b].count; ++n) numbered.before[*birth++] = before_block[b] + n;
  return numbered;
}

}  // namespace

// Returns the own block whose leaf cells contain a position, if there is one.
std::optional<Particles::BlockSlot> Particles::own_leaf(
    const std::array<double, 3>& position) const {
  if (!LevelFrame(mesh_.geometry(), 0).holds(position)) return std::nullopt;
  for (int level = mesh_.finest_level(); level >= 0; --level) {
    const LevelFrame frame(mesh_.geometry(), level);
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    const mesh::Node* node = blocks.find(frame.block_at(position));
    if (!node || node->slot < 0) continue;
    const bool refined = (blocks.refined(node->slot) >> frame.octant_at(position) & 1) != 0;
    if (refined) return std::nullopt;
    return BlockSlot{level, node->slot};
  }
  return std::nullopt;
}

std::vector<std::uint64_t> Particles::create(ParticleBatch batch) {
  const Communicator& communicator = mesh_.communicator();
  std::vector<BlockSlot> homes;
  std::vector<Birthplace> births;
  std::vector<std::int64_t> born_by_level(levels_.size());
  const auto find_places = [&] {
    OCTANT_REQUIRE(batch.id.empty(), "new {} particles already have ids", name());
    for (const auto& x : batch.position) {
      const auto leaf = own_leaf(x);
      if (!leaf)
        throw RunError("a new {} particle at ({}, {}, {}) is not in a leaf cell of this rank",
                       name(), x[0], x[1], x[2]);
      homes.push_back(*leaf);
      const LevelFrame frame(mesh_.geometry(), leaf->level);
      births.push_back({leaf->level, frame.block_at(x), frame.cell_key(x)});
      ++born_by_level[leaf->level];
    }
    ParticleBatch with_ids = batch;
    with_ids.id.assign(batch.size(), kind_.first_id());  // valid, until the ids are known
    try {
      check(with_ids);
    } catch (const InputError& error) {
      throw RunError("{}", error.what());
    }
  };
  const bool is_valid = succeeds(find_places);
  const auto [before, born, any_invalid] = number_births(mesh_, births, born_by_level, is_valid);
  if (any_invalid) communicator.collective_try(find_places);
  if (born == 0) return {};
  if (static_cast<std::uint64_t>(assigned_ids_ + born) > Kind::k_ids)
    throw RunError("{} particles: {} of {} ids are used, too many for {} new particles", name(),
                   assigned_ids_, Kind::k_ids, born);
  for (const std::int64_t number : before)
    batch.id.push_back(kind_.first_id() + static_cast<std::uint64_t>(assigned_ids_ + number));
  assigned_ids_ += born;

  NewRowsByLevel created(levels_.size());
  for (std::size_t n = 0; n < batch.size(); ++n)
    created[homes[n].level].add(row_of(batch, n), homes[n].slot);
  append(created, nullptr);
  return batch.id;
}

void Particles::remove(std::span<const std::int64_t> own) {
  std::vector<std::vector<std::int32_t>> leaving(levels_.size());
  for_levels(own, [&](int level, const std::vector<std::int32_t>& rows, const auto&) {
    leaving[level] = rows;
  });
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    std::sort(leaving[l].begin(), leaving[l].end());
    levels_[l].set.remove(leaving[l]);
  }
}

void Particles::change(std::span<const std::int64_t> own, const ParticleBatch& batch) {
  OCTANT_REQUIRE(batch.size() == own.size(), "{} particles cannot be replaced by {} particles",
                 own.size(), batch.size());
  check(batch);
  const std::size_t width = row_words();
  for_levels(own, [&](int level, const std::vector<std::int32_t>& rows,
                      const std::vector<std::size_t>& numbers) {
    std::vector<Word> words;
    words.reserve(numbers.size() * width);
    for (const std::size_t n : numbers) {
      const std::vector<Word> row = row_of(batch, n);
      words.insert(words.end(), row.begin(), row.end());
    }
    levels_[level].set.overwrite(rows, words);
  });
}

}  // namespace octant::particles
