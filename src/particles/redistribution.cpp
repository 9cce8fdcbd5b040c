// Assignment of particles to blocks: after drifts, between levels, after regridding, and for new
// particles.
//
// A rank has data of the blocks beside its own, their parents and those beside the parents. It
// sends a particle to the owner of the next such block towards its position, which forwards the
// particle. This takes few hops and needs no global list of blocks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"
#include "particles/cloud.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

using Position = std::array<double, 3>;

// Position in the words of a row.
Position position_of(std::span<const Word> row) {
  Position position;
  for (int d = 0; d < 3; ++d) position[d] = std::bit_cast<double>(row[k_position + d]);
  return position;
}

// Selects rows that have left their block, or are in an octant that is refined to the next level.
// Particles assigned to the coarser level may move to a finer level only if the coarser level is at
// the same time; otherwise they are in the middle of its step.
RowList find_movers(const ParticleSet& set, const Neighbourhood& near, const LevelFrame& frame,
                    bool may_descend, bool may_descend_if_on_coarser_level) {
  const ParticleColumns p = set.columns();
  const auto blocks = near.blocks;
  const auto slots = static_cast<int>(blocks.extent(0));
  const int N = frame.block_size;
  record_kernel_work("select rows", set.count(), {28.0, 6.0});  // Cost: a home and a position.
  return select_rows(
      set.count(), KOKKOS_LAMBDA(int n) {
        const std::int32_t home = p.home[n];
        if (home < 0 || home >= slots) return true;
        int octant = 0;
        for (int d = 0; d < 3; ++d) {
          const double x = p.position[d][n];
          if (!frame.holds(d, x)) return true;
          const BlockCoordinate cell = frame.cell_of(d, x) - blocks(home).first_cell[d];
          if (blocks(home).first_cell[d] < 0 || cell < 0 || cell >= N) return true;
          octant |= (cell >= N / 2) << d;
        }
        const bool may =
            p.uses_coarser_level[n] != 0 ? may_descend_if_on_coarser_level : may_descend;
        return may && (blocks(home).refined >> octant & 1) != 0;
      });
}

}  // namespace

MassChange change_of(std::span<const Word> row, std::int32_t home, bool uses_coarser_level,
                     double sign) {
  const Position x = position_of(row);
  return {.position = {x[0], x[1], x[2]},
          .mass = std::bit_cast<double>(row[k_mass]),
          .sign = sign,
          .home = home,
          .uses_coarser_level = uses_coarser_level ? 1 : 0};
}

void Particles::NewRows::add(std::span<const Word> row, std::int32_t home,
                             bool is_on_coarser_level) {
  words.insert(words.end(), row.begin(), row.end());
  homes.push_back(home);
  uses_coarser_level.push_back(is_on_coarser_level ? 1 : 0);
}

void Particles::OutgoingRows::add(int rank, int level, std::span<const Word> row,
                                  bool is_on_coarser_level) {
  ranks.push_back(rank);
  words.push_back(static_cast<Word>(level) | (is_on_coarser_level ? k_uses_coarser_level : 0));
  words.insert(words.end(), row.begin(), row.end());
}

// Searches for the finest block from `coarsest` to `finest` that contains a position, starting at
// `level`: towards finer levels in refined octants, towards coarser ones where `level` has no
// block.
Particles::BlockSearch Particles::find_block(int level, int coarsest, int finest,
                                             const Position& position) const {
  const int rank = mesh_.communicator().rank();
  for (;;) {
    const LevelFrame frame(mesh_.geometry(), level);
    const Key key = frame.block_at(position);
    const mesh::Node* node = mesh_.blocks(level).find(key);
    if (node && node->owner != rank) return {BlockSearch::on_other_rank, level, node->owner};
    if (node) {
      const int octant = frame.octant_at(position);
      if (level == finest || !(mesh_.blocks(level).refined(node->slot) >> octant & 1))
        return {BlockSearch::found, level, rank, node->slot};
      const int owner = mesh_.child_owners(level, node->slot)[octant];
      ++level;
      if (owner != rank) return {BlockSearch::on_other_rank, level, owner};
    } else {
      if (level == coarsest) return {BlockSearch::outside_level, level, rank};
      // For a removed block, `parents` has the owner of its parent, even if no block remained.
      const mesh::Node* parent = mesh_.blocks(level - 1).find(parent_key(key));
      const std::int32_t* former = levels_[level].parents.find(key);
      if (!parent && !former) return {BlockSearch::outside_level, coarsest, rank};
      const int owner = parent ? parent->owner : *former;
      --level;
      if (owner != rank) return {BlockSearch::on_other_rank, level, owner};
    }
  }
}

// Checks that a particle beyond the end of its level is still in the neighbourhood of `slot`, its
// last block, which remains its home as long as the neighbourhood contains its cloud. A particle
// without a block, k_no_block, is too far away.
void Particles::check_stay(int level, const Position& position, int slot) {
  const LevelFrame frame(mesh_.geometry(), level);
  double excursion = 0.0;
  if (slot != k_no_block) {
    const BlockCoordinates block = morton_decode(mesh_.blocks(level).key(slot));
    for (int d = 0; d < 3; ++d) {
      double x = frame.in_cells(d, position[d]) - static_cast<double>(block[d]) * frame.block_size;
      if (frame.periodic[d] && x < -k_depth) x += frame.cells[d];
      if (frame.periodic[d] && x > frame.block_size + k_depth) x -= frame.cells[d];
      excursion = std::max({excursion, -x, x - frame.block_size});
    }
  }
  if (slot != k_no_block && excursion < k_largest_excursion) return;
  error_ = fmt::format(
      "a {} particle at ({}, {}, {}) left level {} by more than {} cells before that level was "
      "synchronised with the coarser level; use a smaller time.cfl",
      name(), position[0], position[1], position[2], level, k_largest_excursion);
}

bool Particles::find_blocks(std::span<Particles> kinds, int level, bool statement) {
  return find_homes(kinds, level, level, {}, statement);
}

bool Particles::find_homes(std::span<Particles> kinds, int coarsest, int finest,
                           std::span<MassSums* const> sums, bool statement) {
  OCTANT_REQUIRE(!kinds.empty(), "there are no particles");
  const auto levels = kinds.front().levels_.size();
  const int last = std::min(finest, static_cast<int>(levels) - 1);
  std::vector<MovingKind> moving;
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    moving.push_back({&kinds[n], sums.empty() ? nullptr : sums[n], {}, MassChanges(levels)});
    for (int level = coarsest; level <= last; ++level)
      kinds[n].collect_movers(level, coarsest, finest, moving[n].leaving, moving[n].noted());
  }
  const bool holds = redistribute(moving, coarsest, finest, statement);
  for (MovingKind& of : moving) {
    Particles& kind = *of.kind;
    // Force levels are not chosen while particles drift.
    if (coarsest < finest) kind.choose_force_levels(coarsest, of.noted());
    if (of.sums) kind.add_changes(of.changes, *of.sums);
    for (int level = coarsest; level <= last; ++level)
      kind.levels_[level].set.sort_if_disordered(kind.mesh_.blocks(level).slots());
  }
  return holds;
}

// Assigns new home blocks on this rank to particles of one level, or adds them to those that leave.
void Particles::collect_movers(int level, int coarsest, int finest, OutgoingRows& leaving,
                               MassChanges* changes) {
  ParticleSet& set = levels_[level].set;
  const LevelFrame frame(mesh_.geometry(), level);
  const auto movers = find_movers(set, *levels_[level].neighbourhood, frame, level < finest,
                                  coarsest < level && level < finest);
  if (movers.empty()) return;
  const ReadRows rows = set.read(movers);

  std::vector<std::int32_t> moved, new_homes, gone;
  NewRowsByLevel arriving(levels_.size());
  const auto remove_mover = [&](std::size_t n) {
    gone.push_back(movers[n]);
    if (changes)
      (*changes)[level].push_back(
          change_of(rows[n], rows.home(n), rows.uses_coarser_level(n), -1.0));
  };
  for (std::size_t n = 0; n < movers.size(); ++n) {
    const Position position = position_of(rows[n]);
    if (!frame.holds(position)) {
      if (!std::isfinite(position[0] + position[1] + position[2]))
        error_ = fmt::format(
            "a {} particle of level {} has the position ({}, {}, {}); expected finite coordinates",
            name(), level, position[0], position[1], position[2]);
      else record_outflow(level, rows[n], rows.home(n), rows.uses_coarser_level(n));
      remove_mover(n);
      continue;
    }
    const bool stays_on_level = rows.uses_coarser_level(n) && level == coarsest;
    const BlockSearch to = find_block(level, coarsest, stays_on_level ? level : finest, position);
    const bool uses_coarser_level = rows.uses_coarser_level(n) && to.level == level;
    if (to.result == BlockSearch::on_other_rank) {
      leaving.add(to.owner, to.level, rows[n], uses_coarser_level);
      remove_mover(n);
    } else if (to.result == BlockSearch::outside_level) {
      check_stay(level, position, to.level == level ? rows.home(n) : k_no_block);
    } else if (to.level != level) {
      arriving[to.level].add(rows[n], to.slot, uses_coarser_level);
      remove_mover(n);
    } else if (to.slot != rows.home(n)) {
      moved.push_back(movers[n]);
      new_homes.push_back(to.slot);
    }
  }
  set.set_homes(moved, new_homes);
  set.remove(gone);
  append(arriving, changes);
}

// Appends particles to the sets of their levels.
void Particles::append(const NewRowsByLevel& rows, MassChanges* changes) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const auto& [words, homes, uses_coarser_level] = rows[l];
    level.set.append(words, homes, uses_coarser_level);
    for (const std::uint8_t flag : uses_coarser_level)
      level.any_uses_coarser_level = level.any_uses_coarser_level || flag != 0;
    if (!changes) continue;
    const auto width = static_cast<std::size_t>(level.set.row_words());
    for (std::size_t n = 0; n < homes.size(); ++n)
      (*changes)[l].push_back(change_of(std::span(words).subspan(n * width, width), homes[n],
                                        uses_coarser_level[n] != 0, 1.0));
  }
}

// Forwards particles from rank to rank until all have reached their homes. The messages of the
// first kind tell all ranks which kinds have particles that go on, and whether an error occurred;
// the first of them also whether `statement` holds on any rank, which is returned.
bool Particles::redistribute(std::span<MovingKind> kinds, int coarsest, int finest,
                             bool statement) {
  const Communicator& communicator = kinds.front().kind->communicator();
  const auto route_rows = [&](const MovingKind& of, std::int64_t& flags) {
    const std::size_t bytes = (of.kind->row_words() + 1) * sizeof(Word);
    return route_bytes(communicator, of.leaving.ranks, std::as_bytes(std::span(of.leaving.words)),
                       bytes, flags);
  };
  const auto some_outgoing = [](std::size_t kind) { return std::int64_t{1} << 2 * kind; };
  const auto error = [&](std::size_t kind) { return some_outgoing(kind) << 1; };
  const std::int64_t statement_flag = some_outgoing(kinds.size());
  std::optional<bool> holds;
  for (;;) {
    std::int64_t flags = statement && !holds ? statement_flag : 0;
    for (std::size_t n = 0; n < kinds.size(); ++n)
      flags |= (kinds[n].leaving.ranks.empty() ? 0 : some_outgoing(n)) |
               (kinds[n].kind->error_.empty() ? 0 : error(n));
    Routed<std::byte> arrived = route_rows(kinds.front(), flags);
    if (!holds) holds = (flags & statement_flag) != 0;
    flags &= ~statement_flag;
    if (flags == 0) return *holds;
    for (std::size_t n = 0; n < kinds.size(); ++n) {
      auto& [kind, sums, leaving, changes] = kinds[n];
      if ((flags & error(n)) != 0)
        communicator.collective_try([&message = kind->error_] {
          if (!message.empty()) throw RunError("{}", message);
        });
      if ((flags & some_outgoing(n)) == 0) continue;
      if (n > 0) arrived = route_rows(kinds[n], flags);
      leaving = kind->insert_or_forward({arrived.sources, items_of<Word>(arrived.items)}, coarsest,
                                        finest, kinds[n].noted());
    }
  }
}

// Inserts particles whose home is on this rank; returns the others with their next ranks.
Particles::OutgoingRows Particles::insert_or_forward(const OutgoingRows& arrived, int coarsest,
                                                     int finest, MassChanges* changes) {
  const std::size_t width = 1 + static_cast<std::size_t>(levels_[0].set.row_words());
  NewRowsByLevel arriving(levels_.size());
  OutgoingRows forwarded;
  for (std::size_t n = 0; n < arrived.ranks.size(); ++n) {
    const auto message = std::span(arrived.words).subspan(n * width, width);
    const auto row = message.subspan(1);
    const Position position = position_of(row);
    const auto level = static_cast<int>(message[0] & (OutgoingRows::k_uses_coarser_level - 1));
    const bool used_coarser_level = (message[0] & OutgoingRows::k_uses_coarser_level) != 0;
    const bool stays_on_level = used_coarser_level && level == coarsest;
    const BlockSearch to = find_block(level, coarsest, stays_on_level ? level : finest, position);
    const bool uses_coarser_level = used_coarser_level && to.level == level;
    if (to.result == BlockSearch::on_other_rank) {
      forwarded.add(to.owner, to.level, row, uses_coarser_level);
    } else {
      if (to.result == BlockSearch::outside_level) check_stay(to.level, position, k_no_block);
      arriving[to.level].add(row, to.slot, uses_coarser_level);
    }
  }
  append(arriving, changes);
  return forwarded;
}

void Particles::synchronise(std::span<Particles> kinds, int coarsest,
                            std::span<MassSums* const> sums) {
  if (!kinds.empty()) find_homes(kinds, coarsest, kinds.front().mesh_.finest_level(), sums);
}

void Particles::adapt_to_mesh(std::span<Particles> kinds) {
  if (kinds.empty()) return;
  for (Particles& kind : kinds) kind.make_tables(kinds.front());
  // Includes particles of a level that no longer exists.
  find_homes(kinds, 0, kinds.front().mesh_.geometry().max_level());
  for (Particles& kind : kinds) kind.find_parents();
}

// Allocates the masses of a new mesh, and makes the tables of neighbours if this is the first kind;
// others share them. Collective.
void Particles::make_tables(const Particles& first) {
  const int N = mesh_.geometry().block_size();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    level.neighbourhood =
        this == &first ? std::make_shared<const Neighbourhood>(mesh_.tree(), static_cast<int>(l))
                       : first.levels_[l].neighbourhood;
    level.mass = {};
    if (!kind_.has_mass) continue;
    level.mass = mesh::uninitialised<std::int64_t>(
        "masses", std::int64_t{mesh_.blocks(static_cast<int>(l)).slots()} * N * N * N);
  }
}

// Stores the owners of the parents of own blocks.
void Particles::find_parents() {
  for (int l = 1; l < static_cast<int>(levels_.size()); ++l) {
    levels_[l].parents.clear();
    for (const int slot : mesh_.blocks(l).own()) {
      const Key key = mesh_.blocks(l).key(slot);
      levels_[l].parents.insert(key, mesh_.blocks(l - 1).find(parent_key(key))->owner);
    }
  }
}

void Particles::migrate(const std::vector<std::vector<int>>& owners) {
  const Communicator& communicator = mesh_.communicator();
  const int rank = communicator.rank();
  OutgoingRows leaving;
  for (int l = 0; l <= mesh_.finest_level(); ++l) {
    const mesh::TreeLevel& blocks = mesh_.blocks(l);
    ParticleSet& set = levels_[l].set;
    std::vector<std::int32_t> owner_of(blocks.slots(), rank);
    for (std::size_t n = 0; n < blocks.own().size(); ++n) owner_of[blocks.own()[n]] = owners[l][n];
    const auto table = mesh::to_device("new owners", owner_of);
    const ParticleColumns p = set.columns();
    record_kernel_work("select rows", set.count(), {4.0, 0.0});
    const auto rows = select_rows(
        set.count(), KOKKOS_LAMBDA(int n) { return table(p.home[n]) != rank; });
    const ReadRows read = set.read(rows);
    for (std::size_t n = 0; n < rows.size(); ++n) leaving.add(owner_of[read.home(n)], l, read[n]);
    set.remove(rows.host_rows());
  }
  const std::size_t width = levels_[0].set.row_words() + 1;
  const auto routed = route_bytes(communicator, leaving.ranks,
                                  std::as_bytes(std::span(leaving.words)), width * sizeof(Word));
  const auto words = items_of<Word>(routed.items);
  NewRowsByLevel arriving(levels_.size());
  for (std::size_t n = 0; n < routed.sources.size(); ++n) {
    const auto message = std::span(words).subspan(n * width, width);
    arriving[message[0]].add(message.subspan(1), k_no_block);
  }
  append(arriving, nullptr);
}

// Records a particle beyond an open boundary, which is still in the list of its level. Its
// potential is that of the last cells before the boundary.
void Particles::record_outflow(int level, std::span<const Word> row, std::int32_t home,
                               bool uses_coarser_level) {
  const auto real = [&](int column) { return std::bit_cast<double>(row[column]); };
  ++leaving_.count;
  if (!kind_.has_mass) return;
  const double m = real(k_mass);
  MassChange particle = change_of(row, home, uses_coarser_level, 1.0);
  double speed_squared = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double v = real(k_velocity + d), lower = mesh_.geometry().lower()[d],
                 upper = mesh_.geometry().upper()[d];
    leaving_.sums[ParticleOutflow::momentum + d] += m * v;
    speed_squared += v * v;
    particle.position[d] = std::clamp(particle.position[d], lower, std::nextafter(upper, lower));
  }
  leaving_.sums[ParticleOutflow::mass] += m;
  leaving_.sums[ParticleOutflow::kinetic] += 0.5 * m * speed_squared;
  leaving_.particles[level].push_back(particle);
}

void Particles::collect_outflow(std::span<Particles> kinds,
                                const std::function<VectorField(int level)>& potentials,
                                double self_potential) {
  if (kinds.empty()) return;
  const Communicator& communicator = kinds.front().communicator();
  std::int64_t left = 0;
  for (const Particles& kind : kinds) left += kind.leaving_.count;
  if (communicator.sum(left) == 0) return;

  MassSums fields;
  if (potentials) {
    const int finest = kinds.front().mesh_.finest_level();
    for (int level = 0; level <= finest; ++level) {
      const VectorField coarser = potentials(std::max(level - 1, 0));
      fields.fields.push_back(kinds.front().fetch(level, potentials(level), coarser, 1));
      fields.coarser_fields.push_back(kinds.front().fetch_coarser(level, coarser, 1));
    }
  }
  std::vector<ReproducibleSum> sums;
  std::vector<std::int64_t> counts;
  for (Particles& kind : kinds) {
    fields.weighted = {};
    fields.squared.assign(kind.levels_.size(), {});
    if (potentials) kind.add_changes(kind.leaving_.particles, fields);
    sums.insert(sums.end(), kind.leaving_.sums.begin(), kind.leaving_.sums.end());
    sums.push_back(fields.weighted);
    sums.push_back({});
    for (const ReproducibleSum& of_level : fields.squared) sums.back() += of_level;
    counts.push_back(kind.leaving_.count);
    kind.leaving_ = {};
    kind.leaving_.particles.resize(kind.levels_.size());
  }
  reproducible_sum(communicator, std::span(sums), std::span(counts));
  auto sum = sums.begin();
  auto count = counts.begin();
  for (Particles& kind : kinds) {
    for (double& amount : kind.outflow_.amount) amount += (sum++)->to_double();
    kind.outflow_.amount[ParticleOutflow::potential] -= self_potential * (sum++)->to_double();
    kind.outflow_.count += *count++;
  }
}

}  // namespace octant::particles
