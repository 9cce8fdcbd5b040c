// The checksums of a file: a CRC-32C for every batch of rows of its datasets, and one for all the
// rest of it, its description. They lie behind the end of what HDF5 knows of, whose readers do not
// see them:
//
//   HDF5's part of the file
//   uint32 [batches]   the CRCs of the batches, dataset by dataset
//   text               a line for each dataset: place, rows, bytes per row, path
//   footer             see docs/running.md
//
// Batches begin at the same rows whoever writes or reads them: ranks add what their own bytes
// contribute. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "io/posix_file.hpp"
#include "io/row_range.hpp"

namespace octant {

// A dataset as its checksums see it.
struct SummedDataset {
  std::string path;
  std::int64_t place = 0, rows = 0, row_bytes = 0;  // where it lies in the file, and what of
  std::int64_t first_batch = 0;                     // number of its first checksum in the file

  // About 64 KiB, and at least one row.
  std::int64_t rows_per_batch() const;
  std::int64_t batches() const;
  std::int64_t bytes() const { return rows * row_bytes; }
  // The rows of its own n-th batch.
  RowRange batch(std::int64_t n) const;
};

// Reads bytes from a place.
using ReadBytes = std::function<void(std::int64_t place, std::span<std::byte>)>;

// The checksums of a file that is being written.
class ChecksumWriter {
 public:
  // Every rank adds the same datasets in the same order, and gets the number of each.
  int add_dataset(const std::string& path, std::int64_t place, std::int64_t rows,
                  std::int64_t row_bytes);

  // This rank has written these bytes of a dataset, from its byte `offset` on. Local.
  void add_bytes(int dataset, std::int64_t offset, std::span<const std::byte> bytes);

  // Adds up what the ranks have contributed; each then holds its share of the checksums. Throws
  // RunError on every rank if they have not written each byte of every dataset once. Collective.
  void settle(const Communicator& communicator);

  // Both local, behind `end`, the end of HDF5's part: every rank writes its share of the CRCs, and
  // the root the table, with what lies outside of datasets before `end` as `description` reads it.
  // The latter returns the length that the file then has.
  void write_share(PosixFile& file, std::int64_t end) const;
  std::int64_t write_table(PosixFile& file, std::int64_t end, const ReadBytes& description) const;

 private:
  struct Contribution {
    std::int64_t batch;
    std::uint32_t crc;
  };

  std::vector<SummedDataset> datasets_;
  std::vector<std::int64_t> written_;  // bytes by this rank, by dataset
  std::int64_t batches_ = 0;
  std::vector<Contribution> contributions_;
  RowRange share_;  // of the batches
  std::vector<std::uint32_t> crcs_;
};

// The checksums of an existing file. Every rank opens it for itself; local, but for damage().
// Everything throws RunError where the file cannot be read.
class StoredChecksums {
 public:
  // Null where the file has none.
  static std::unique_ptr<StoredChecksums> load(const std::string& path);

  std::int64_t batches() const { return batches_; }

  // Throws InputError if the table of checksums or the description is damaged.
  void require_description() const;

  // Throws InputError if batches are damaged that hold some of these rows of a dataset, whose bytes
  // were read already. Reads the rest of those batches.
  void require_rows(const std::string& path, RowRange rows, std::span<const std::byte> bytes) const;

  // All that is damaged, in words, on the root. Collective.
  std::vector<std::string> damage(const Communicator& communicator) const;

 private:
  explicit StoredChecksums(PosixFile file) : file_(std::move(file)) {}
  std::vector<std::string> damage_beside_rows() const;
  std::vector<std::uint32_t> read_crcs(std::int64_t first, std::int64_t count) const;
  std::vector<std::int64_t> damaged_batches(RowRange batches) const;
  std::vector<std::string> in_words(std::span<const std::int64_t> damaged) const;

  PosixFile file_;
  bool table_is_whole_ = false;          // or else it is left out, and holds no batches
  std::vector<SummedDataset> datasets_;  // in the order of their batches
  std::int64_t end_ = 0, batches_ = 0;
  std::uint32_t description_ = 0;
};

}  // namespace octant
