// The rows of a file's datasets that are stored compressed, in HDF5's chunks. Internal to io/.
//
// How long a chunk will be is known only when it has been compressed, and ranks write rows as they
// have them, not by chunks. So they park rows as they are in a file beside the one that is written;
// when all are there each rank compresses its share of the chunks, HDF5 on the root gives them
// their places, and each rank writes there. The bytes of the file do not depend on the number of
// ranks.
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
#include "io/hdf5_handle.hpp"
#include "io/posix_file.hpp"

namespace octant {

// A dataset [rows][row_shape...] in chunks of some rows; the last one is filled up with zeros.
struct PackedDataset {
  PackedDataset(std::string path, ElementType type, std::vector<std::int64_t> shape);

  std::int64_t bytes() const { return shape[0] * row_bytes; }
  std::int64_t chunks() const { return (shape[0] + chunk_rows - 1) / chunk_rows; }
  std::int64_t chunk_bytes() const { return chunk_rows * row_bytes; }
  std::vector<hsize_t> chunk_shape() const;
  // How HDF5 stores it: bytes shuffled, deflated, and with a checksum that every reader compares.
  Hdf5Handle layout() const;

  std::string path;
  ElementType type;
  std::vector<std::int64_t> shape;
  std::int64_t row_bytes, chunk_rows;
  std::int64_t parked = 0;  // where its rows are parked
};

// A chunk as it is stored: its length, and which filters did not pay, as HDF5 notes that.
struct PackedChunk {
  std::int64_t size;
  std::uint32_t left_out;
};

class PackedRows {
 public:
  // For the file `path`; nothing is made before the first dataset.
  PackedRows(const Communicator& communicator, std::string path);
  ~PackedRows();

  // Whether it pays: small datasets stay as they are.
  static bool wants(std::int64_t bytes) { return bytes >= 1 << 16; }

  // Every rank adds the same datasets in the same order, and gets the place for the rows of each.
  // Collective. Throws RunError on every rank if nothing can be parked, or HDF5 cannot compress.
  std::int64_t add(PackedDataset dataset);
  // Parks bytes of a dataset's rows. Local.
  void write_at(std::int64_t place, std::span<const std::byte> bytes);

  // The places that HDF5 gives all chunks of a dataset, in their order. Called on the root.
  using Allot =
      std::function<std::vector<std::int64_t>(const PackedDataset&, std::span<const PackedChunk>)>;
  // Compresses all datasets and writes them to `part`, with their checksums. Collective. Throws
  // RunError on every rank, unless each byte was parked once, too.
  void store(PosixFile& part, ChecksumWriter& checksums, const Allot& allot);

 private:
  void store(const PackedDataset& dataset, PosixFile& part, ChecksumWriter& checksums,
             const Allot& allot);

  struct Parking;
  Communicator communicator_;
  std::string path_;
  std::unique_ptr<Parking> parking_;
  std::vector<PackedDataset> datasets_;
  std::int64_t end_ = 0, written_ = 0;  // bytes of all datasets, and those from this rank
};

}  // namespace octant
