#include "particles/particle_set.hpp"

#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/observer.hpp"
#include "mesh/launch.hpp"

namespace octant::particles {

namespace {

using mesh::to_device;
using mesh::uninitialised;

// Capacity with a reserve for growth, so that few insertions reallocate a set.
constexpr std::int64_t with_spare_capacity(std::int64_t rows) { return rows + rows / 4; }

// Fraction 1/k of moved rows at which a set is sorted again.
constexpr int k_tolerated_order = 8;

template <class T>
void gather(const DeviceArray<T>& column, const DeviceArray<const std::int32_t>& rows,
            const DeviceArray<T>& to) {
  mesh::for_items(
      {"gather rows", {4.0 + 2.0 * sizeof(T), 0.0}}, rows.extent(0),
      KOKKOS_LAMBDA(int n) { to(n) = column(rows(n)); });
}

// Calls body(word, n) for all words of `rows` rows.
template <class Body>
void for_words(const char* name, const RowWords& set, std::int64_t rows, const Body& body) {
  const int words = set.count();
  // Cost: reads a row's number with each of its words; reads and writes the word.
  record_kernel_work(name, rows, {20.0 * words, 0.0});
  mesh::for_items(
      name, rows * words, KOKKOS_LAMBDA(std::int64_t n) {
        body(static_cast<int>(n % words), static_cast<int>(n / words));
      });
}

void fill_holes(const RowWords& set, const DeviceArray<const std::int32_t>& holes,
                const DeviceArray<const std::int32_t>& movers) {
  for_words(
      "fill holes", set, static_cast<std::int64_t>(holes.extent(0)),
      KOKKOS_LAMBDA(int word, int n) {
        set.put(word, holes(n), set.get(word, movers(n)));
        if (word != 0) return;
        set.home[holes(n)] = set.home[movers(n)];
        set.uses_coarser_level[holes(n)] = set.uses_coarser_level[movers(n)];
      });
}

// Sets the rows `at`, or rows from `first` on if `at` is empty, to the given words, [row][word].
void put_rows(const RowWords& set, const DeviceArray<const std::int32_t>& at, int first,
              const DeviceArray<const Word>& values) {
  const bool listed = at.extent(0) > 0;
  for_words(
      "append rows", set, static_cast<std::int64_t>(values.extent(0)) / set.count(),
      KOKKOS_LAMBDA(int word, int n) {
        set.put(word, listed ? at(n) : first + n, values(std::int64_t{n} * set.count() + word));
      });
}

DeviceArray<const Word> on_device(std::span<const Word> words) {
  const auto copy = uninitialised<Word>("arriving rows", std::ssize(words));
  if (!words.empty())
    copy_to_device(TransferKind::particles, copy, host_view(words.data(), words.size()));
  return copy;
}

DeviceArray<std::int32_t> count_homes(const DeviceArray<std::int32_t>& homes, int rows, int slots) {
  const auto counts = mesh::zeros<std::int32_t>("particles by home", slots);
  mesh::for_items(
      {"count homes", {4.0, 0.0}}, rows, KOKKOS_LAMBDA(int n) {
        if (homes(n) >= 0) Kokkos::atomic_add(&counts(homes(n)), 1);
      });
  return counts;
}

// Returns the rows in the order of their homes.
DeviceArray<std::int32_t> order_by_home(const DeviceArray<std::int32_t>& homes, int rows,
                                        int slots) {
  const auto begin = count_homes(homes, rows, slots);
  Kokkos::parallel_scan(
      "first particles", slots, KOKKOS_LAMBDA(int slot, int& sum, bool last) {
        const int here = begin(slot);
        if (last) begin(slot) = sum;
        sum += here;
      });
  const auto order = uninitialised<std::int32_t>("order", rows);
  mesh::for_items(
      {"order particles", {8.0, 0.0}}, rows,
      KOKKOS_LAMBDA(int n) { order(Kokkos::atomic_fetch_add(&begin(homes(n)), 1)) = n; });
  return order;
}

template <class T>
std::vector<T> values_of(const DeviceArray<T>& column, const RowList& rows) {
  std::vector<T> values(rows.size());
  if (rows.empty()) return values;
  const auto gathered = uninitialised<T>("gathered rows", static_cast<std::int64_t>(rows.size()));
  gather(column, rows.device_rows(), gathered);
  copy_to_host(TransferKind::particles, host_view(values), gathered);
  return values;
}

// Permutes the rows of columns. A column's memory is reused for the next one.
template <class T>
void reorder(std::vector<DeviceArray<T>>& columns, const DeviceArray<const std::int32_t>& source,
             std::int64_t capacity) {
  DeviceArray<T> spare;
  for (DeviceArray<T>& column : columns) {
    if (static_cast<std::int64_t>(spare.extent(0)) != capacity)
      spare = uninitialised<T>("particles", capacity);
    gather(column, source, spare);
    std::swap(column, spare);
  }
}

}  // namespace

ParticleSet::ParticleSet(int extra_reals, int extra_integers)
    : reals_(k_real_columns + extra_reals), integers_(extra_integers) {
  OCTANT_REQUIRE(row_words() <= RowWords::k_max_words,
                 "a particle type has {} columns, including ids and the columns common to all "
                 "types; at most {} are supported",
                 row_words(), RowWords::k_max_words);
}

template <class Visit>
void ParticleSet::for_columns(const Visit& visit) {
  for (auto& column : reals_) visit(column);
  for (auto& column : integers_) visit(column);
  visit(ids_);
  visit(homes_);
  visit(uses_coarser_level_);
}

RowWords ParticleSet::row_words_here() const {
  RowWords words{.column = {},
                 .home = homes_.data(),
                 .uses_coarser_level = uses_coarser_level_.data(),
                 .reals = static_cast<int>(reals_.size()),
                 .integers = static_cast<int>(integers_.size())};
  int n = 0;
  for (const auto& column : reals_) words.column[n++] = column.data();
  for (const auto& column : integers_) words.column[n++] = column.data();
  words.column[n] = ids_.data();
  return words;
}

ParticleColumns ParticleSet::columns() const {
  ParticleColumns c{};
  for (int d = 0; d < 3; ++d) {
    c.position[d] = reals_[k_position + d].data();
    c.velocity[d] = reals_[k_velocity + d].data();
  }
  c.mass = reals_[k_mass].data();
  c.id = ids_.data();
  c.home = homes_.data();
  c.uses_coarser_level = uses_coarser_level_.data();
  return c;
}

std::vector<double> ParticleSet::reals(int column, const RowList& rows) const {
  return values_of(reals_[column], rows);
}

std::vector<std::int64_t> ParticleSet::integers(int column, const RowList& rows) const {
  return values_of(integers_[column], rows);
}

std::vector<std::uint64_t> ParticleSet::ids(const RowList& rows) const {
  return values_of(ids_, rows);
}

std::vector<std::int32_t> ParticleSet::homes(const RowList& rows) const {
  return values_of(homes_, rows);
}

std::vector<Word> ParticleSet::words(const RowList& rows) const {
  std::vector<Word> words = std::move(read(rows).words());
  words.resize(rows.size() * row_words());
  return words;
}

ReadRows ParticleSet::read(const RowList& rows) const {
  ReadRows found(rows.size(), row_words());
  if (rows.empty()) return found;
  const auto gathered = uninitialised<Word>("gathered rows", std::ssize(found.words()));
  const auto& at = rows.device_rows();
  const auto count = static_cast<std::int64_t>(rows.size()), homes = count * row_words();
  const RowWords set = row_words_here();
  for_words(
      "gather rows", set, static_cast<std::int64_t>(rows.size()), KOKKOS_LAMBDA(int word, int n) {
        gathered(std::int64_t{n} * set.count() + word) = set.get(word, at(n));
        if (word != 0) return;
        gathered(homes + n) = static_cast<Word>(set.home[at(n)]);
        gathered(homes + count + n) = set.uses_coarser_level[at(n)];
      });
  copy_to_host(TransferKind::particles, host_view(found.words()), gathered);
  return found;
}

void ParticleSet::reserve(std::int64_t rows) {
  OCTANT_REQUIRE(rows <= std::numeric_limits<std::int32_t>::max(),
                 "{} particles of one level on one rank are too many; use more ranks", rows);
  if (rows <= static_cast<std::int64_t>(homes_.extent(0))) return;
  const std::int64_t capacity = with_spare_capacity(rows);
  for_columns([&](auto& column) {
    auto grown =
        uninitialised<typename std::decay_t<decltype(column)>::value_type>("particles", capacity);
    const auto used = std::pair(0, count_);
    copy_within(Kokkos::subview(grown, used), Kokkos::subview(column, used));
    column = grown;
  });
}

void ParticleSet::append(std::span<const Word> words, const std::vector<std::int32_t>& homes,
                         const std::vector<std::uint8_t>& uses_coarser_level) {
  if (homes.empty()) return;
  reserve(std::int64_t{count_} + static_cast<std::int64_t>(homes.size()));
  put_rows(row_words_here(), {}, count_, on_device(words));
  const std::pair added(count_, count_ + static_cast<int>(homes.size()));
  copy_to_device(TransferKind::particles, Kokkos::subview(homes_, added), host_view(homes));
  if (uses_coarser_level.empty())
    fill(Kokkos::subview(uses_coarser_level_, added), std::uint8_t{0});
  else
    copy_to_device(TransferKind::particles, Kokkos::subview(uses_coarser_level_, added),
                   host_view(uses_coarser_level));
  count_ += static_cast<int>(homes.size());
  unsorted_rows_ += static_cast<std::int64_t>(homes.size());
}

void ParticleSet::overwrite(const std::vector<std::int32_t>& rows, std::span<const Word> words) {
  if (rows.empty()) return;
  put_rows(row_words_here(), to_device("rows", rows, TransferKind::lists), 0, on_device(words));
}

void ParticleSet::remove(const std::vector<std::int32_t>& rows) {
  if (rows.empty()) return;
  const int left = count_ - static_cast<int>(rows.size());
  std::vector<std::int32_t> holes, movers;
  auto next = rows.begin();
  for (; next != rows.end() && *next < left; ++next) holes.push_back(*next);
  for (int row = left; row < count_; ++row) {
    if (next != rows.end() && *next == row) ++next;
    else movers.push_back(row);
  }
  if (!holes.empty())
    fill_holes(row_words_here(), to_device("holes", holes, TransferKind::lists),
               to_device("movers", movers, TransferKind::lists));
  unsorted_rows_ += static_cast<std::int64_t>(holes.size());
  count_ = left;
}

void ParticleSet::permute(const DeviceArray<const std::int32_t>& source) {
  count_ = static_cast<int>(source.extent(0));
  auto capacity = static_cast<std::int64_t>(homes_.extent(0));
  if (capacity < count_ || capacity > with_spare_capacity(with_spare_capacity(count_)))
    capacity = with_spare_capacity(count_);
  reorder(reals_, source, capacity);
  reorder(integers_, source, capacity);
  std::vector<DeviceArray<Word>> ids{std::move(ids_)};
  reorder(ids, source, capacity);
  ids_ = ids.front();
  std::vector<DeviceArray<std::int32_t>> homes{std::move(homes_)};
  reorder(homes, source, capacity);
  homes_ = homes.front();
  std::vector<DeviceArray<std::uint8_t>> uses_coarser_level{std::move(uses_coarser_level_)};
  reorder(uses_coarser_level, source, capacity);
  uses_coarser_level_ = uses_coarser_level.front();
}

void ParticleSet::set_homes(const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& homes) {
  if (rows.empty()) return;
  const auto at = to_device("rows", rows, TransferKind::lists);
  const auto slots = to_device("homes", homes, TransferKind::particles);
  const auto column = homes_;
  mesh::for_items(
      "set homes", rows.size(), KOKKOS_LAMBDA(int n) { column(at(n)) = slots(n); });
  unsorted_rows_ += static_cast<std::int64_t>(rows.size());
}

std::vector<std::int32_t> ParticleSet::counts(int slots) const {
  return to_vector(TransferKind::numbers, count_homes(homes_, count_, slots));
}

void ParticleSet::sort_if_disordered(int slots) {
  if (unsorted_rows_ * k_tolerated_order <= count_) return;
  permute(order_by_home(homes_, count_, slots));
  unsorted_rows_ = 0;
}

std::int64_t ParticleSet::bytes() const {
  return static_cast<std::int64_t>(homes_.extent(0)) *
         (row_words() * static_cast<std::int64_t>(sizeof(Word)) +
          static_cast<std::int64_t>(sizeof(std::int32_t) + sizeof(std::uint8_t)));
}

}  // namespace octant::particles
