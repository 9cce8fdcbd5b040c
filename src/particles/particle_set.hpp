// ParticleSet: the particles of one level on one rank, column by column in device memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "mesh/device.hpp"

namespace octant::particles {

template <class T>
using DeviceArray = mesh::DeviceArray<T>;

// Home of a particle whose block is not known yet: adapt_to_mesh() finds it.
inline constexpr std::int32_t k_no_block = -1;

// Columns of a set for kernels. Lengths and velocities are in code units.
struct ParticleColumns {
  double* position[3];
  double* velocity[3];
  double* mass;
  std::uint64_t* id;
  std::int32_t* home;  // slot of the home block, or k_no_block
  // 1: the force comes from, and the cloud goes to, the next coarser level
  std::uint8_t* uses_coarser_level;
};

// Value of a row exchanged between sets or ranks: the bits of a number, or an id.
using Word = std::uint64_t;

// Whole rows for kernels, word by word: real columns, the kind's own ones last, integers, the id.
struct RowWords {
  static constexpr int k_max_words = 32;
  void* column[k_max_words];
  std::int32_t* home;
  std::uint8_t* uses_coarser_level;
  int reals, integers;

  // Number of words of a row.
  KOKKOS_INLINE_FUNCTION int count() const { return reals + integers + 1; }
  // Word of a row.
  KOKKOS_INLINE_FUNCTION Word get(int word, int row) const {
    if (word < reals) return Kokkos::bit_cast<Word>(static_cast<double*>(column[word])[row]);
    if (word < reals + integers)
      return static_cast<Word>(static_cast<std::int64_t*>(column[word])[row]);
    return static_cast<Word*>(column[word])[row];
  }
  // Sets a word of a row.
  KOKKOS_INLINE_FUNCTION void put(int word, int row, Word value) const {
    if (word < reals) static_cast<double*>(column[word])[row] = Kokkos::bit_cast<double>(value);
    else if (word < reals + integers)
      static_cast<std::int64_t*>(column[word])[row] = static_cast<std::int64_t>(value);
    else static_cast<Word*>(column[word])[row] = value;
  }
};

// Real columns of every set; a kind's own real columns follow.
enum RealColumn { k_position = 0, k_velocity = 3, k_mass = 6, k_real_columns = 7 };

// List of rows, for the host and for kernels.
class RowList {
 public:
  RowList() = default;
  RowList(const std::vector<std::int32_t>& rows)
      : RowList(rows, mesh::to_device("rows", rows, TransferKind::lists)) {}
  RowList(std::vector<std::int32_t> rows, const DeviceArray<const std::int32_t>& device_rows)
      : rows_(std::move(rows)), device_rows_(device_rows) {}

  // True if the list is empty.
  bool empty() const { return rows_.empty(); }
  // Number of rows in the list.
  std::size_t size() const { return rows_.size(); }
  std::int32_t operator[](std::size_t n) const { return rows_[n]; }
  // Rows on the host.
  const std::vector<std::int32_t>& host_rows() const { return rows_; }
  // Rows in device memory.
  const DeviceArray<const std::int32_t>& device_rows() const { return device_rows_; }

 private:
  std::vector<std::int32_t> rows_;
  DeviceArray<const std::int32_t> device_rows_;
};

// Values of rows of a set, on the host.
class ReadRows {
 public:
  ReadRows(std::size_t rows, std::size_t width)
      : rows_(rows), width_(width), words_(rows * (width + 2)) {}

  std::span<const Word> operator[](std::size_t n) const {
    return std::span(words_).subspan(n * width_, width_);
  }
  // Home of row n of the list.
  std::int32_t home(std::size_t n) const {
    return static_cast<std::int32_t>(words_[rows_ * width_ + n]);
  }
  // True if row n of the list is assigned to the coarser level.
  bool uses_coarser_level(std::size_t n) const { return words_[rows_ * (width_ + 1) + n] != 0; }
  // All rows, then their homes, then flags for assignment to the coarser level.
  std::vector<Word>& words() { return words_; }

 private:
  std::size_t rows_, width_;
  std::vector<Word> words_;
};

// Particles of a level. No result depends on the order of rows: sorting by home only saves time.
class ParticleSet {
 public:
  // Creates an empty set with numbers of real and integer columns in addition to those of all
  // kinds. Throws RunError beyond RowWords::k_max_words words.
  ParticleSet(int extra_reals, int extra_integers);

  // Number of particles.
  int count() const { return count_; }
  // Columns of all kinds, in device memory.
  ParticleColumns columns() const;
  // Real column n of the kind, in device memory.
  double* extra_real(int n) const { return reals_[k_real_columns + n].data(); }
  // Integer column n of the kind, in device memory.
  std::int64_t* extra_integer(int n) const { return integers_[n].data(); }

  // Number of words of a row: real columns, the kind's own ones last, integers, the id.
  int row_words() const { return static_cast<int>(reals_.size() + integers_.size()) + 1; }

  // Returns the values of a real column in some rows.
  std::vector<double> reals(int column, const RowList& rows) const;
  // Returns the values of an integer column in some rows.
  std::vector<std::int64_t> integers(int column, const RowList& rows) const;
  // Returns the ids of some rows.
  std::vector<std::uint64_t> ids(const RowList& rows) const;
  // Returns the homes of some rows.
  std::vector<std::int32_t> homes(const RowList& rows) const;
  // Returns all values of some rows, [row][word].
  std::vector<Word> words(const RowList& rows) const;
  // Returns all values, homes and flags of some rows.
  ReadRows read(const RowList& rows) const;

  // Appends rows. `uses_coarser_level` is as in ParticleColumns, all 0 if empty. Throws RunError
  // beyond 2^31 - 1 particles.
  void append(std::span<const Word> words, const std::vector<std::int32_t>& homes,
              const std::vector<std::uint8_t>& uses_coarser_level = {});
  // Replaces the words of rows, each listed once, but not their homes.
  void overwrite(const std::vector<std::int32_t>& rows, std::span<const Word> words);
  // Removes rows, given in ascending order; the last rows fill the gaps.
  void remove(const std::vector<std::int32_t>& rows);
  // Permutes rows: row n receives row source(n). The number of rows becomes that of sources.
  void permute(const DeviceArray<const std::int32_t>& source);

  // Sets the homes of rows.
  void set_homes(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& homes);

  // Sorts particles by home block (a counting sort by home, 0 .. slots - 1, which all rows must
  // have) if many were added or moved since the last sort. The order within a block is arbitrary.
  void sort_if_disordered(int slots);

  // Returns the number of particles by home. Rows without a home are not counted.
  std::vector<std::int32_t> counts(int slots) const;

  // Memory of the columns in bytes, including spare capacity.
  std::int64_t bytes() const;

 private:
  template <class Visit>
  void for_columns(const Visit& visit);
  RowWords row_words_here() const;
  void reserve(std::int64_t rows);

  int count_ = 0;
  // number of rows that were added or changed their home since the last sort
  std::int64_t unsorted_rows_ = 0;
  std::vector<DeviceArray<double>> reals_;
  std::vector<DeviceArray<std::int64_t>> integers_;
  DeviceArray<std::uint64_t> ids_;
  DeviceArray<std::int32_t> homes_;
  DeviceArray<std::uint8_t> uses_coarser_level_;
};

// Returns the rows 0 .. count - 1 for which `wanted(row)` is true, in ascending order.
template <class Wanted>
RowList select_rows(int count, const Wanted& wanted) {
  const DeviceArray<std::int32_t> found(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "selected rows"), count);
  int total = 0;
  Kokkos::parallel_scan(
      "select rows", count,
      KOKKOS_LAMBDA(int row, int& index, bool last) {
        if (!wanted(row)) return;
        if (last) found(index) = row;
        ++index;
      },
      total);
  if (total == 0) return {};
  const DeviceArray<const std::int32_t> rows = Kokkos::subview(found, std::pair(0, total));
  return {to_vector(TransferKind::lists, rows), rows};
}

// Several particle sets with consecutive numbers, for kernels that process the particles of all
// levels in one launch.
class JoinedSets {
 public:
  // A GPU kernel with more than 512 bytes of arguments waits for the previous one.
  static constexpr int k_max_sets = 8;

  // Set of a particle, and its row in the set.
  struct Row {
    int set, row;
  };

  // Appends a set; not allowed if is_full().
  void add(const ParticleSet& set) {
    OCTANT_REQUIRE(sets_ < k_max_sets, "at most {} sets of particles can be joined", k_max_sets);
    const ParticleColumns p = set.columns();
    mass_[sets_] = p.mass;
    for (int d = 0; d < 3; ++d) velocity_[sets_][d] = p.velocity[d];
    begin_[sets_ + 1] = begin_[sets_] + set.count();
    ++sets_;
  }
  // True if no further set can be added.
  bool is_full() const { return sets_ == k_max_sets; }
  // Number of particles in all sets.
  std::int64_t count() const { return begin_[sets_]; }

  // Set and row of particle n.
  KOKKOS_FORCEINLINE_FUNCTION Row row(std::int64_t n) const {
    int set = 0;
    while (n >= begin_[set + 1]) ++set;
    return {set, static_cast<int>(n - begin_[set])};
  }
  // Mass of a particle.
  KOKKOS_FORCEINLINE_FUNCTION double mass(const Row& at) const { return mass_[at.set][at.row]; }
  // Velocity component d of a particle.
  KOKKOS_FORCEINLINE_FUNCTION double velocity(const Row& at, int d) const {
    return velocity_[at.set][d][at.row];
  }

 private:
  int sets_ = 0;
  std::int64_t begin_[k_max_sets + 1] = {};
  const double* mass_[k_max_sets] = {};
  const double* velocity_[k_max_sets][3] = {};
};

}  // namespace octant::particles
