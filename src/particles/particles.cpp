#include "particles/particles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "decomp/key_order.hpp"
#include "mesh/exact_sums.hpp"
#include "particles/cloud.hpp"

namespace octant::particles {

Particles::Particles(Kind kind, mesh::Mesh& mesh, const CommOptions& comm_options)
    : kind_(std::move(kind)), mesh_(mesh) {
  const auto exchanger = [&](const char* what, int level) {
    return Exchanger(fmt::format("{} {}", name(), what), mesh.communicator(), comm_options, level,
                     Buffers::of_device);
  };
  for (int l = 0; l <= mesh.geometry().max_level(); ++l)
    levels_.push_back({.set = ParticleSet(kind_.real_columns(), kind_.integer_columns()),
                       .neighbourhood = nullptr,
                       .mass = {},
                       .fields = exchanger("fields", l),
                       .coarser_fields = exchanger("coarser fields", l),
                       .masses = exchanger("masses", l),
                       .sums = exchanger("sums of masses", l)});
  leaving_.particles.resize(levels_.size());
  adapt_to_mesh(std::span(this, 1));
}

// --- insertion ---------------------------------------------------------------------------------

namespace {

Word word_of(const std::variant<double, std::int64_t>& value) {
  return std::visit([](auto number) { return std::bit_cast<Word>(number); }, value);
}

Word word_of(const ColumnValues& values, std::size_t n) {
  return std::visit([n](const auto& numbers) { return std::bit_cast<Word>(numbers[n]); }, values);
}

}  // namespace

void Particles::check(const ParticleBatch& batch) const {
  const mesh::Geometry& geometry = mesh_.geometry();
  const std::size_t count = batch.size();
  bool fits = batch.velocity.size() == count && batch.id.size() == count &&
              batch.mass.size() == (kind_.has_mass ? count : 0);
  for (const auto& [column, values] : batch.columns)
    fits = fits && kind_.column(column).initial.index() == values.index() &&
           std::visit([](const auto& of) { return of.size(); }, values) == count;
  OCTANT_REQUIRE(fits, "{} particles: the columns of a batch differ in length or type", name());
  const auto [x0, y0, z0] = geometry.lower();
  const auto [x1, y1, z1] = geometry.upper();
  for (std::size_t n = 0; n < count; ++n) {
    const auto& [x, y, z] = batch.position[n];
    const auto& [u, v, w] = batch.velocity[n];
    if (!(x >= x0 && x <= x1 && y >= y0 && y <= y1 && z >= z0 && z <= z1))
      throw InputError(
          "{} particle {} is at ({}, {}, {}), outside the domain ({}, {}, {}) to ({}, {}, {}); "
          "check mesh.lower and mesh.upper and the units of the positions",
          name(), batch.id[n], x, y, z, x0, y0, z0, x1, y1, z1);
    const double mass = kind_.has_mass ? batch.mass[n] : 1.0;
    if (!(mass > 0.0) || !std::isfinite(mass) || !std::isfinite(u + v + w))
      throw InputError(
          "{} particle {} has mass {} and velocity ({}, {}, {}); expected a positive mass and a "
          "finite velocity",
          name(), batch.id[n], mass, u, v, w);
    if (batch.id[n] - kind_.first_id() >= Kind::k_ids)
      throw InputError("{} particle {}: ids of this type must lie between {} and {}", name(),
                       batch.id[n], kind_.first_id(), kind_.first_id() + (Kind::k_ids - 1));
  }
}

// Returns the words of a row, as ParticleSet::words. A particle at the upper end is moved inside.
std::vector<Word> Particles::row_of(const ParticleBatch& batch, std::size_t n) const {
  const mesh::Geometry& geometry = mesh_.geometry();
  std::vector<Word> row;
  for (int d = 0; d < 3; ++d) {
    double x = batch.position[n][d];
    const double lower = geometry.lower()[d], upper = geometry.upper()[d];
    if (x == upper) x = geometry.periodic(d) ? lower : std::nextafter(upper, lower);
    row.push_back(std::bit_cast<Word>(x));
  }
  for (const double v : batch.velocity[n]) row.push_back(std::bit_cast<Word>(v));
  row.push_back(std::bit_cast<Word>(kind_.has_mass ? batch.mass[n] : 0.0));
  for (const bool real : {true, false})
    for (const Column& column : kind_.columns) {
      if (column.is_real() != real) continue;
      const auto given = batch.columns.find(column.name);
      row.push_back(given == batch.columns.end() ? word_of(column.initial)
                                                 : word_of(given->second, n));
    }
  row.push_back(batch.id[n]);
  return row;
}

void Particles::add(const ParticleBatch& batch) {
  mesh_.communicator().collective_try([&] { check(batch); });
  for (const std::uint64_t id : batch.id)
    set_assigned_ids(static_cast<std::int64_t>(id - kind_.first_id()) + 1);
  assigned_ids_ = mesh_.communicator().max(assigned_ids_);
  const LevelFrame frame(mesh_.geometry(), 0);
  OutgoingRows outgoing;
  std::vector<Key> keys;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const std::vector<Word> row = row_of(batch, n);
    BlockCoordinates block;
    for (int d = 0; d < 3; ++d)
      block[d] = frame.cell_of(d, std::bit_cast<double>(row[k_position + d])) / frame.block_size;
    keys.push_back(morton_encode(block));
    outgoing.words.push_back(0);  // the base level
    outgoing.words.insert(outgoing.words.end(), row.begin(), row.end());
  }
  // Requests each base block's owner only once.
  std::vector<Key> blocks = keys;
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const auto owners = mesh_.tree().owners(0, blocks);
  for (const Key key : keys)
    outgoing.ranks.push_back(
        owners[std::lower_bound(blocks.begin(), blocks.end(), key) - blocks.begin()]);
  MovingKind added{this, nullptr, std::move(outgoing), {}};
  redistribute(std::span(&added, 1), 0, mesh_.finest_level());
  for (int l = 0; l <= mesh_.finest_level(); ++l)
    levels_[l].set.sort_if_disordered(mesh_.blocks(l).slots());
}

// --- measurements ------------------------------------------------------------------------------

std::int64_t Particles::count() const {
  std::int64_t count = 0;
  for (const Level& level : levels_) count += level.set.count();
  return count;
}

std::vector<std::int64_t> Particles::global_counts() const {
  std::vector<std::int64_t> counts;
  for (const Level& level : levels_) counts.push_back(level.set.count());
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(counts));
  return counts;
}

std::vector<JoinedSets> Particles::joined_levels() const {
  std::vector<JoinedSets> joined;
  for (const Level& level : levels_) {
    if (level.set.count() == 0) continue;
    if (joined.empty() || joined.back().is_full()) joined.emplace_back();
    joined.back().add(level.set);
  }
  return joined;
}

namespace {

// Sums of ParticleTotals.
enum TotalNumber { k_mass_total, k_momentum_total, k_kinetic_total = 4, k_totals };

// Adds mass, momentum and kinetic energy of particles to sums.
void add_set_totals(const JoinedSets& sets, const std::array<ReproducibleSum*, k_totals>& sums) {
  mesh::add_terms(
      sums, sets.count(), {32.0, 10.0}, KOKKOS_LAMBDA(std::int64_t n) {
        const JoinedSets::Row at = sets.row(n);
        const double m = sets.mass(at), u = sets.velocity(at, 0), v = sets.velocity(at, 1),
                     w = sets.velocity(at, 2);
        return Kokkos::Array<double, k_totals>{m, m * u, m * v, m * w,
                                               0.5 * m * (u * u + v * v + w * w)};
      });
}

}  // namespace

void Particles::add_totals(std::span<const Particles> kinds, JointSums& joint,
                           std::vector<ParticleTotals>& totals) {
  std::vector<ReproducibleSum> sums(k_totals * kinds.size());
  std::vector<std::int64_t> counts;
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    std::array<ReproducibleSum*, k_totals> own;
    for (int s = 0; s < k_totals; ++s) own[s] = &sums[k_totals * n + s];
    if (kinds[n].kind_.has_mass)
      for (const JoinedSets& sets : kinds[n].joined_levels()) add_set_totals(sets, own);
    counts.push_back(kinds[n].count());
  }
  joint.add(sums, counts, [&totals](auto sums_of_kinds, auto counts_of_kinds) {
    totals.clear();
    for (std::size_t n = 0; n < counts_of_kinds.size(); ++n) {
      const auto sum = sums_of_kinds.subspan(k_totals * n, k_totals);
      ParticleTotals& of_kind = totals.emplace_back();
      of_kind.count = counts_of_kinds[n];
      of_kind.mass = sum[k_mass_total].to_double();
      of_kind.kinetic_energy = sum[k_kinetic_total].to_double();
      for (int d = 0; d < 3; ++d) of_kind.momentum[d] = sum[k_momentum_total + d].to_double();
    }
  });
}

std::vector<std::int32_t> Particles::counts_by_slot(int level) const {
  return levels_[level].set.counts(mesh_.blocks(level).slots());
}

std::int64_t Particles::bytes() const {
  std::int64_t total = 0;
  for (const Level& level : levels_)
    total += level.set.bytes() + level.neighbourhood->bytes() +
             static_cast<std::int64_t>(level.mass.size() * sizeof(std::int64_t) +
                                       level.parents.size_bytes());
  return total;
}

std::vector<ExchangeCount> Particles::exchange_counts() const {
  std::vector<ExchangeCount> counts;
  for (const Level& level : levels_)
    for (const Exchanger* exchanger :
         {&level.fields, &level.coarser_fields, &level.masses, &level.sums}) {
      const auto rows = exchanger->report();
      counts.insert(counts.end(), rows.begin(), rows.end());
    }
  return counts;
}

// --- columns, for files ------------------------------------------------------------------------

std::vector<std::int64_t> Particles::file_rows() const {
  std::vector<std::int64_t> all(count());
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<std::int64_t>(n);
  // numbers of the ids within the kind, because a key is too short for a whole id
  std::vector<Key> numbers;
  for (const std::uint64_t id : read_ids(all)) numbers.push_back(id - kind_.first_id());
  return rows_in_key_order(mesh_.communicator(), numbers);
}

std::vector<std::int64_t> Particles::in_order_of_id() const {
  std::vector<std::int64_t> own(count());
  std::iota(own.begin(), own.end(), 0);
  const auto ids = read_ids(own);
  std::sort(own.begin(), own.end(),
            [&](std::int64_t a, std::int64_t b) { return ids[a] < ids[b]; });
  return own;
}

// Finds some own particles by level: visit(level, rows, numbers) receives their rows in the level's
// set and their indices in the list, in the order of the list.
void Particles::for_levels(std::span<const std::int64_t> own, const VisitRows& visit) const {
  std::int64_t first = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::int64_t end = first + levels_[l].set.count();
    std::vector<std::int32_t> rows;
    std::vector<std::size_t> numbers;
    for (std::size_t n = 0; n < own.size(); ++n) {
      if (own[n] < first || own[n] >= end) continue;
      rows.push_back(static_cast<std::int32_t>(own[n] - first));
      numbers.push_back(n);
    }
    first = end;
    if (!rows.empty()) visit(static_cast<int>(l), rows, numbers);
  }
}

// Reads `width` values of each of some own particles, in the given order, level by level:
// read_rows(set, rows, column) returns one of the columns.
template <class Read>
auto Particles::read(std::span<const std::int64_t> own, int width, const Read& read_rows) const {
  using Value = typename decltype(read_rows(levels_[0].set, {}, 0))::value_type;
  std::vector<Value> values(own.size() * width);
  for_levels(own, [&](int level, const std::vector<std::int32_t>& rows,
                      const std::vector<std::size_t>& numbers) {
    for (int c = 0; c < width; ++c) {
      const auto column = read_rows(levels_[level].set, rows, c);
      for (std::size_t n = 0; n < rows.size(); ++n) values[numbers[n] * width + c] = column[n];
    }
  });
  return values;
}

std::vector<double> Particles::read_reals(int column, int width,
                                          std::span<const std::int64_t> own) const {
  using Rows = std::vector<std::int32_t>;
  return read(own, width, [column](const ParticleSet& set, const Rows& rows, int c) {
    return set.reals(column + c, rows);
  });
}

std::vector<double> Particles::read_positions(std::span<const std::int64_t> own) const {
  return read_reals(k_position, 3, own);
}
std::vector<double> Particles::read_velocities(std::span<const std::int64_t> own) const {
  return read_reals(k_velocity, 3, own);
}
std::vector<double> Particles::read_masses(std::span<const std::int64_t> own) const {
  return read_reals(k_mass, 1, own);
}
ColumnValues Particles::read_column(const std::string& of_name,
                                    std::span<const std::int64_t> own) const {
  using Rows = std::vector<std::int32_t>;
  const int place = kind_.column_index(of_name);
  if (kind_.column(of_name).is_real()) return read_reals(k_real_columns + place, 1, own);
  return read(own, 1, [place](const ParticleSet& set, const Rows& rows, int) {
    return set.integers(place, rows);
  });
}
std::vector<Word> Particles::rows(std::span<const std::int64_t> own) const {
  const std::size_t width = row_words();
  std::vector<Word> words(own.size() * width);
  for_levels(own, [&](int level, const std::vector<std::int32_t>& rows,
                      const std::vector<std::size_t>& numbers) {
    const auto of_level = levels_[level].set.words(rows);
    for (std::size_t n = 0; n < numbers.size(); ++n)
      std::copy_n(of_level.begin() + n * width, width, words.begin() + numbers[n] * width);
  });
  return words;
}

// Inverse of row_of().
ParticleBatch Particles::batch_of(std::span<const Word> rows) const {
  ParticleBatch batch;
  for (const Column& column : kind_.columns)
    if (column.is_real()) batch.columns[column.name] = std::vector<double>{};
    else batch.columns[column.name] = std::vector<std::int64_t>{};
  const std::size_t width = row_words();
  for (std::size_t n = 0; n < rows.size(); n += width) {
    const auto row = rows.subspan(n, width);
    const auto real = [&](int c) { return std::bit_cast<double>(row[c]); };
    const auto vector = [&](int c) { return std::array{real(c), real(c + 1), real(c + 2)}; };
    batch.position.push_back(vector(k_position));
    batch.velocity.push_back(vector(k_velocity));
    if (kind_.has_mass) batch.mass.push_back(real(k_mass));
    batch.id.push_back(row.back());
    for (const Column& column : kind_.columns) {
      const int place = k_real_columns + kind_.column_index(column.name);
      auto& values = batch.columns.at(column.name);
      if (column.is_real()) std::get<0>(values).push_back(real(place));
      else
        std::get<1>(values).push_back(static_cast<std::int64_t>(row[kind_.real_columns() + place]));
    }
  }
  return batch;
}

std::vector<Particles::BlockSlot> Particles::read_blocks(std::span<const std::int64_t> own) const {
  std::vector<BlockSlot> blocks(own.size());
  for_levels(own, [&](int level, const std::vector<std::int32_t>& rows,
                      const std::vector<std::size_t>& numbers) {
    const auto slots = levels_[level].set.homes(rows);
    for (std::size_t n = 0; n < numbers.size(); ++n) blocks[numbers[n]] = {level, slots[n]};
  });
  return blocks;
}

std::vector<std::uint64_t> Particles::read_ids(std::span<const std::int64_t> own) const {
  using Rows = std::vector<std::int32_t>;
  return read(own, 1, [](const ParticleSet& set, const Rows& rows, int) { return set.ids(rows); });
}

}  // namespace octant::particles
