// Checksums of a file: a CRC-32C for every batch of rows of its datasets, and one for the rest of
// the file, its description. They are stored after the end of the HDF5 part, where HDF5 readers
// ignore them:
//
//   HDF5 part of the file
//   uint32 [batches]   the CRCs of the batches, dataset by dataset
//   text               a line for each dataset: offset, rows, bytes per row, path
//   footer             see docs/running.md
//
// Batches begin at fixed rows, independent of the ranks that write or read them: ranks add the
// contributions of their own bytes. Internal to io/.
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
#include "io/files.hpp"
#include "io/row_range.hpp"

namespace octant {

// Dataset with checksums: its path, and its bytes in the file.
struct SummedDataset {
  std::string path;
  std::int64_t offset = 0, rows = 0, row_bytes = 0;  // position in the file; size
  std::int64_t first_batch = 0;                      // number of its first checksum in the file

  // Number of rows per batch: about 64 KiB, at least one row.
  std::int64_t rows_per_batch() const;
  // Number of batches.
  std::int64_t batches() const;
  // Size in bytes.
  std::int64_t bytes() const { return rows * row_bytes; }
  // Rows of the n-th batch of the dataset.
  RowRange batch(std::int64_t n) const;
};

// Function that reads bytes from a position.
using ReadBytes = std::function<void(std::int64_t offset, std::span<std::byte>)>;

// Checksums of a file during writing.
class ChecksumWriter {
 public:
  // Adds a dataset and returns its number. Every rank must add the same datasets in the same order.
  int add_dataset(const std::string& path, std::int64_t offset, std::int64_t rows,
                  std::int64_t row_bytes);

  // Adds bytes of a dataset that this rank has written, from its byte `offset` on. Local.
  void add_bytes(int dataset, std::int64_t offset, std::span<const std::byte> bytes);

  // Sums the contributions of all ranks; each rank then holds its part of the checksums. Throws
  // RunError on every rank unless they have written each byte of every dataset once. Collective.
  void sum_over_ranks(const Communicator& communicator);

  // Writes this rank's part of the CRCs after `end`, the end of the HDF5 part. Local.
  void write_share(PosixFile& file, std::int64_t end) const;
  // Writes the table on the root after the CRCs. It includes the CRC of the bytes outside of
  // datasets before `end`, read by `description`. Returns the final length of the file. Local.
  std::int64_t write_table(PosixFile& file, std::int64_t end, const ReadBytes& description) const;

 private:
  struct Contribution {
    std::int64_t batch;
    std::uint32_t crc;
  };

  std::vector<SummedDataset> datasets_;
  std::vector<std::int64_t> written_;  // bytes by this rank, for each dataset
  std::int64_t batches_ = 0;
  std::vector<Contribution> contributions_;
  RowRange share_;  // batches of this rank
  std::vector<std::uint32_t> crcs_;
};

// Checksums of an existing file, which each rank that loads them opens; local, except damage().
// Throws RunError if the file cannot be read.
class StoredChecksums {
 public:
  // Returns null if the file has no checksums.
  static std::unique_ptr<StoredChecksums> load(const std::string& path);

  // Number of batches of all datasets.
  std::int64_t batches() const { return batches_; }

  // Throws InputError if the table of checksums or the description is damaged.
  void require_description() const;

  // Throws InputError if batches are damaged that contain some of these rows of a dataset, whose
  // bytes have been read already. Reads the rest of those batches.
  void require_rows(const std::string& path, RowRange rows, std::span<const std::byte> bytes) const;

  // Describes all damaged parts, on the root. Collective.
  std::vector<std::string> damage(const Communicator& communicator) const;

 private:
  explicit StoredChecksums(PosixFile file) : file_(std::move(file)) {}
  std::vector<std::string> damage_beside_rows() const;
  std::vector<std::uint32_t> read_crcs(std::int64_t first, std::int64_t count) const;
  std::vector<std::int64_t> damaged_batches(RowRange batches) const;
  std::vector<std::string> in_words(std::span<const std::int64_t> damaged) const;

  PosixFile file_;
  bool table_is_whole_ = false;          // if false, the table is ignored
  std::vector<SummedDataset> datasets_;  // in the order of their batches
  std::int64_t end_ = 0, batches_ = 0;
  std::uint32_t description_ = 0;
};

// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and others.

// CRC of these bytes; 0 for none. Any single flipped bit changes it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// Contribution of bytes with the CRC `crc` to that of a longer text in which `count` more bytes
// follow: crc32c(a + b) = crc32c_followed(crc32c(a), size of b) ^ crc32c(b). Parts of a text may
// therefore be summed in any order.
std::uint32_t crc32c_followed(std::uint32_t crc, std::int64_t count);

}  // namespace octant
