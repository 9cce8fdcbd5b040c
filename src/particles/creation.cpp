// Creation and removal of particles.
//
// Ids must not depend on the domain decomposition. They follow the order of levels, Morton keys of
// cells, and the batch within a cell, whose particles all come from the rank that owns it. Ranks
// only need the number of new particles in the blocks before their own.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/error.hpp"
#include "decomp/key_order.hpp"
#include "particles/cloud.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

struct Birthplace {
  int level;
  Key block, cell;  // key of the cell within its block

  auto order() const { return std::tie(level, block, cell); }
};

// Returns, for each new particle of this rank, the number of new particles on all ranks that
// precede it in order (level, block, cell). Each block's new particles are on one rank. Collective.
std::vector<std::int64_t> births_before(const Communicator& communicator,
                                        std::span<const Birthplace> births) {
  std::vector<std::size_t> order(births.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return births[a].order() < births[b].order();
  });
  std::uint64_t levels = 0;
  for (const Birthplace& birth : births) levels |= std::uint64_t{1} << birth.level;
  communicator.bitwise_or_in_place(std::span(&levels, 1));

  std::vector<std::int64_t> before(births.size());
  std::int64_t on_coarser_levels = 0;
  auto next = order.begin();
  for (int level = 0; levels >> level != 0; ++level) {
    if ((levels >> level & 1) == 0) continue;
    std::vector<Key> blocks;
    std::vector<std::int64_t> counts;
    const auto first = next;
    for (; next != order.end() && births[*next].level == level; ++next) {
      if (blocks.empty() || blocks.back() != births[*next].block) {
        blocks.push_back(births[*next].block);
        counts.push_back(0);
      }
      ++counts.back();
    }
    const auto rows = rows_in_key_order(communicator, blocks, counts);
    auto birth = first;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (std::int64_t n = 0; n < counts[b]; ++n)
        before[*birth++] = on_coarser_levels + rows[b] + n;
    on_coarser_levels += communicator.sum(static_cast<std::int64_t>(next - first));
  }
  return before;
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
  const std::int64_t born = communicator.sum(static_cast<std::int64_t>(batch.size()));
  if (born == 0) return {};
  std::vector<BlockSlot> homes;
  std::vector<Birthplace> births;
  communicator.collective_try([&] {
    OCTANT_REQUIRE(batch.id.empty(), "new {} particles already have ids", name());
    if (static_cast<std::uint64_t>(assigned_ids_ + born) > Kind::k_ids)
      throw RunError("{} particles: {} of {} ids are used, too many for {} new particles", name(),
                     assigned_ids_, Kind::k_ids, born);
    for (const auto& x : batch.position) {
      const auto leaf = own_leaf(x);
      if (!leaf)
        throw RunError("a new {} particle at ({}, {}, {}) is not in a leaf cell of this rank",
                       name(), x[0], x[1], x[2]);
      homes.push_back(*leaf);
      const LevelFrame frame(mesh_.geometry(), leaf->level);
      births.push_back({leaf->level, frame.block_at(x), frame.cell_key(x)});
    }
    batch.id.assign(batch.size(), kind_.first_id());  // valid, until the ids are known
    try {
      check(batch);
    } catch (const InputError& error) {
      throw RunError("{}", error.what());
    }
  });
  auto id = batch.id.begin();
  for (const std::int64_t before : births_before(communicator, births))
    *id++ += static_cast<std::uint64_t>(assigned_ids_ + before);
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
                      const std::vector<std::size_t>& places) {
    std::vector<Word> words;
    words.reserve(places.size() * width);
    for (const std::size_t place : places) {
      const std::vector<Word> row = row_of(batch, place);
      words.insert(words.end(), row.begin(), row.end());
    }
    levels_[level].set.overwrite(rows, words);
  });
}

}  // namespace octant::particles
