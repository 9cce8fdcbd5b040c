// Rows of datasets that are stored compressed, in HDF5's chunks. Internal to io/.
//
// The length of a chunk is known only after its compression, and ranks write rows independently of
// chunks. They therefore write uncompressed rows to a temporary file; when all are present, each
// rank compresses its part of the chunks, HDF5 on the root assigns their positions, and each rank
// writes there. The bytes of the file do not depend on the number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/checksums.hpp"
#include "io/files.hpp"
#include "io/hdf5_handle.hpp"

namespace octant {

// Dataset [rows][row_shape...] in chunks of some rows; the last one is padded with zeros.
struct PackedDataset {
  PackedDataset(std::string path, ElementType type, std::vector<std::int64_t> shape);

  // Size of all rows in bytes, uncompressed.
  std::int64_t bytes() const { return shape[0] * row_bytes; }
  // Number of chunks.
  std::int64_t chunks() const { return (shape[0] + chunk_rows - 1) / chunk_rows; }
  // Size of a chunk in bytes, uncompressed.
  std::int64_t chunk_bytes() const { return chunk_rows * row_bytes; }
  // Extents of a chunk.
  std::vector<hsize_t> chunk_shape() const;
  // HDF5 layout: shuffled, deflated, and with a checksum that every reader verifies.
  Hdf5Handle layout() const;

  std::string path;
  ElementType type;
  std::vector<std::int64_t> shape;
  std::int64_t row_bytes, chunk_rows;
  std::int64_t position = 0;  // position of its rows in the temporary file
};

// Stored chunk: its length, and HDF5's mask of skipped filters.
struct PackedChunk {
  std::int64_t size;
  std::uint32_t left_out;
};

// Compressed datasets during writing.
class PackedRows {
 public:
  // `path` is the final file. Nothing is created before the first dataset.
  PackedRows(const Communicator& communicator, std::string path);
  ~PackedRows();

  // Returns true if compression pays: small datasets are not compressed.
  static bool wants(std::int64_t bytes) { return bytes >= 1 << 16; }

  // Adds a dataset and returns the position for its rows. Every rank must add the same datasets in
  // the same order. Collective. Throws RunError on every rank if the temporary file cannot be
  // written or HDF5 cannot compress.
  std::int64_t add(PackedDataset dataset);
  // Writes bytes of a dataset's rows to the temporary file. Local.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);

  // Returns the positions that HDF5 assigns to all chunks of a dataset, in order. Called on the
  // root.
  using Allot =
      std::function<std::vector<std::int64_t>(const PackedDataset&, std::span<const PackedChunk>)>;
  // Compresses all datasets and writes them to `part`, with their checksums. Collective. Throws
  // RunError on every rank on failure, or unless each byte was written exactly once.
  void store(PosixFile& part, ChecksumWriter& checksums, const Allot& allot);

 private:
  void store(const PackedDataset& dataset, PosixFile& part, ChecksumWriter& checksums,
             const Allot& allot);

  struct TemporaryFile;
  Communicator communicator_;
  std::string path_;
  std::unique_ptr<TemporaryFile> temporary_;
  std::vector<PackedDataset> datasets_;
  std::int64_t end_ = 0, written_ = 0;  // bytes of all datasets, and those from this rank
};

}  // namespace octant
