#include "particles/particle_set.hpp"

#include <bit>
#include <limits>

#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "core/residency.hpp"

namespace octant::particles {

namespace {

using mesh::to_device;
using mesh::uninitialised;

// Room for growth, so that few particles that come move a set.
constexpr std::int64_t roomy(std::int64_t rows) { return rows + rows / 4; }

// Sorted again when one row in this many has moved.
constexpr int k_tolerated_order = 8;

template <class T>
void gather(const DeviceArray<T>& column, const DeviceArray<const std::int32_t>& rows,
            const DeviceArray<T>& to) {
  announce_kernel("gather rows", rows.extent(0), {4.0 + 2.0 * sizeof(T), 0.0});
  Kokkos::parallel_for(
      "gather rows", rows.extent(0), KOKKOS_LAMBDA(int n) { to(n) = column(rows(n)); });
}

template <class T>
void scatter(const DeviceArray<const T>& values, const DeviceArray<const std::int32_t>& rows,
             const DeviceArray<T>& column) {
  announce_kernel("scatter rows", rows.extent(0), {4.0 + 2.0 * sizeof(T), 0.0});
  Kokkos::parallel_for(
      "scatter rows", rows.extent(0), KOKKOS_LAMBDA(int n) { column(rows(n)) = values(n); });
  Kokkos::fence();
}

template <class T>
void fill_holes(const DeviceArray<T>& column, const DeviceArray<const std::int32_t>& holes,
                const DeviceArray<const std::int32_t>& movers) {
  Kokkos::parallel_for(
      "fill holes", holes.extent(0),
      KOKKOS_LAMBDA(int n) { column(holes(n)) = column(movers(n)); });
}

DeviceArray<std::int32_t> count_homes(const DeviceArray<std::int32_t>& homes, int rows, int slots) {
  const DeviceArray<std::int32_t> counts("particles by home", slots);
  announce_kernel("count homes", rows, {4.0, 0.0});
  Kokkos::parallel_for(
      "count homes", rows, KOKKOS_LAMBDA(int n) {
        if (homes(n) >= 0) Kokkos::atomic_add(&counts(homes(n)), 1);
      });
  return counts;
}

// The rows in the order of their homes.
DeviceArray<std::int32_t> order_by_home(const DeviceArray<std::int32_t>& homes, int rows,
                                        int slots) {
  const auto place = count_homes(homes, rows, slots);
  Kokkos::parallel_scan(
      "first particles", slots, KOKKOS_LAMBDA(int slot, int& sum, bool last) {
        const int here = place(slot);
        if (last) place(slot) = sum;
        sum += here;
      });
  const auto order = uninitialised<std::int32_t>("order", rows);
  announce_kernel("order particles", rows, {8.0, 0.0});
  Kokkos::parallel_for(
      "order particles", rows,
      KOKKOS_LAMBDA(int n) { order(Kokkos::atomic_fetch_add(&place(homes(n)), 1)) = n; });
  return order;
}

template <class T>
std::vector<T> values_of(const DeviceArray<T>& column, const std::vector<std::int32_t>& rows) {
  std::vector<T> values(rows.size());
  const auto gathered = uninitialised<T>("gathered rows", static_cast<std::int64_t>(rows.size()));
  gather(column, to_device("rows", rows, Cargo::lists), gathered);
  copy_to_host(Cargo::particles, host_view(values), gathered);
  return values;
}

template <class T>
void put(const std::vector<T>& values, const DeviceArray<T>& column, int first) {
  const auto end = first + static_cast<int>(values.size());
  copy_to_device(Cargo::particles, Kokkos::subview(column, std::pair(first, end)),
                 host_view(values));
}

}  // namespace

ParticleSet::ParticleSet(int extra_reals, int extra_integers)
    : reals_(k_real_columns + extra_reals), integers_(extra_integers) {}

// The columns of a row's words, in their order.
template <class Set, class Visit>
void ParticleSet::for_words(Set& set, const Visit& visit) {
  for (auto& column : set.reals_) visit(column);
  for (auto& column : set.integers_) visit(column);
  visit(set.ids_);
}

template <class Visit>
void ParticleSet::for_columns(const Visit& visit) {
  for_words(*this, visit);
  visit(homes_);
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
  return c;
}

std::vector<double> ParticleSet::reals(int column, const std::vector<std::int32_t>& rows) const {
  return values_of(reals_[column], rows);
}

std::vector<std::int64_t> ParticleSet::integers(int column,
                                                const std::vector<std::int32_t>& rows) const {
  return values_of(integers_[column], rows);
}

std::vector<std::uint64_t> ParticleSet::ids(const std::vector<std::int32_t>& rows) const {
  return values_of(ids_, rows);
}

std::vector<std::int32_t> ParticleSet::homes(const std::vector<std::int32_t>& rows) const {
  return values_of(homes_, rows);
}

std::vector<Word> ParticleSet::words(const std::vector<std::int32_t>& rows) const {
  std::vector<Word> words(rows.size() * row_words());
  std::size_t place = 0;
  for_words(*this, [&](const auto& column) {
    const auto values = values_of(column, rows);
    for (std::size_t n = 0; n < rows.size(); ++n)
      words[n * row_words() + place] = std::bit_cast<Word>(values[n]);
    ++place;
  });
  return words;
}

void ParticleSet::reserve(std::int64_t rows) {
  OCTANT_REQUIRE(rows <= std::numeric_limits<std::int32_t>::max(),
                 "{} particles of one level on one rank; use more ranks", rows);
  if (rows <= static_cast<std::int64_t>(homes_.extent(0))) return;
  const std::int64_t capacity = roomy(rows);
  for_columns([&](auto& column) {
    auto grown =
        uninitialised<typename std::decay_t<decltype(column)>::value_type>("particles", capacity);
    const auto used = std::pair(0, count_);
    copy_within(Kokkos::subview(grown, used), Kokkos::subview(column, used));
    column = grown;
  });
}

void ParticleSet::append(std::span<const Word> words, const std::vector<std::int32_t>& homes) {
  if (homes.empty()) return;
  reserve(std::int64_t{count_} + static_cast<std::int64_t>(homes.size()));
  std::size_t place = 0;
  for_words(*this, [&](const auto& column) {
    using Value = typename std::decay_t<decltype(column)>::value_type;
    std::vector<Value> values(homes.size());
    for (std::size_t n = 0; n < homes.size(); ++n)
      values[n] = std::bit_cast<Value>(words[n * row_words() + place]);
    put(values, column, count_);
    ++place;
  });
  put(homes, homes_, count_);
  count_ += static_cast<int>(homes.size());
  disorder_ += static_cast<std::int64_t>(homes.size());
}

void ParticleSet::overwrite(const std::vector<std::int32_t>& rows, std::span<const Word> words) {
  const auto at = to_device("rows", rows, Cargo::lists);
  std::size_t place = 0;
  for_words(*this, [&](const auto& column) {
    using Value = typename std::decay_t<decltype(column)>::value_type;
    std::vector<Value> values(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n)
      values[n] = std::bit_cast<Value>(words[n * row_words() + place]);
    scatter<Value>(to_device("values", values, Cargo::particles), at, column);
    ++place;
  });
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
  const auto to = to_device("holes", holes, Cargo::lists);
  const auto from = to_device("movers", movers, Cargo::lists);
  for_columns([&](const auto& column) { fill_holes(column, to, from); });
  disorder_ += static_cast<std::int64_t>(holes.size());
  count_ = left;
}

void ParticleSet::permute(const DeviceArray<const std::int32_t>& source) {
  count_ = static_cast<int>(source.extent(0));
  for_columns([&](auto& column) {
    auto sorted = uninitialised<typename std::decay_t<decltype(column)>::value_type>("particles",
                                                                                     roomy(count_));
    gather(column, source, sorted);
    column = sorted;
  });
}

void ParticleSet::set_homes(const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& homes) {
  if (rows.empty()) return;
  const auto at = to_device("rows", rows, Cargo::lists);
  const auto slots = to_device("homes", homes, Cargo::particles);
  const auto column = homes_;
  Kokkos::parallel_for(
      "set homes", rows.size(), KOKKOS_LAMBDA(int n) { column(at(n)) = slots(n); });
  Kokkos::fence();
  disorder_ += static_cast<std::int64_t>(rows.size());
}

std::vector<std::int32_t> ParticleSet::counts(int slots) const {
  return to_vector(Cargo::numbers, count_homes(homes_, count_, slots));
}

void ParticleSet::sort_if_disordered(int slots) {
  if (disorder_ * k_tolerated_order <= count_) return;
  permute(order_by_home(homes_, count_, slots));
  Kokkos::fence();
  disorder_ = 0;
}

std::int64_t ParticleSet::bytes() const {
  return static_cast<std::int64_t>(homes_.extent(0)) *
         (row_words() * static_cast<std::int64_t>(sizeof(Word)) +
          static_cast<std::int64_t>(sizeof(std::int32_t)));
}

}  // namespace octant::particles
