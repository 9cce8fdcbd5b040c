#ifdef OCTANT_HDF5

#include "io/packed_rows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/files.hpp"
#include "io/row_range.hpp"

namespace octant {
namespace {

// Chunk sizes: small enough for HDF5's cache of a dataset, unless there would be too many.
constexpr std::int64_t k_min_chunk = 1 << 18, k_largest_chunk = 1 << 24, k_many_chunks = 1 << 14;

// Maximum growth in bytes of a chunk that cannot be compressed, due to its checksum.
constexpr std::int64_t k_growth = 64;

constexpr unsigned k_deflate_level = 1;  // higher levels take twice as long and save a few per cent

std::int64_t product(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

void require_hdf5(bool succeeded, const char* attempt) {
  if (!succeeded) throw RunError("HDF5 cannot {}: {}", attempt, hdf5_error_message());
}

// Applies HDF5's filters to one chunk after the other in a file in memory.
class ChunkPacker {
 public:
  explicit ChunkPacker(const PackedDataset& dataset)
      : type_(native_type(dataset.type)), first_(dataset.shape.size(), 0) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access, k_min_chunk, false);
    file_ = Hdf5Handle(H5Fcreate("chunk", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    const std::vector<hsize_t> shape = dataset.chunk_shape();
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                           H5Sclose);
    chunk_ = Hdf5Handle(
        H5Dcreate2(file_, "chunk", type_, space, H5P_DEFAULT, dataset.layout(), H5P_DEFAULT),
        H5Dclose);
    require_hdf5(chunk_ >= 0, "create a compressed dataset");
  }

  // Returns the chunk with these elements; its bytes are valid until the next call.
  PackedChunk pack(std::span<const std::byte> elements) {
    hsize_t size = 0;
    PackedChunk packed{};
    require_hdf5(H5Dwrite(chunk_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()) >= 0 &&
                     H5Dflush(chunk_) >= 0 &&
                     H5Dget_chunk_storage_size(chunk_, first_.data(), &size) >= 0,
                 "compress a chunk");
    bytes_.resize(size);
    require_hdf5(
        H5Dread_chunk(chunk_, H5P_DEFAULT, first_.data(), &packed.left_out, bytes_.data()) >= 0,
        "read back a compressed chunk");
    packed.size = static_cast<std::int64_t>(size);
    return packed;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  hid_t type_;
  std::vector<hsize_t> first_;
  Hdf5Handle file_, chunk_;
  std::vector<std::byte> bytes_;
};

// Chunks that are contiguous in the file.
struct Run {
  std::int64_t offset, bytes;
};

std::vector<Run> runs_of(std::span<const PackedChunk> chunks,
                         std::span<const std::int64_t> offsets) {
  std::vector<Run> runs;
  for (std::size_t n = 0; n < chunks.size(); ++n)
    if (!runs.empty() && runs.back().offset + runs.back().bytes == offsets[n])
      runs.back().bytes += chunks[n].size;
    else runs.push_back({offsets[n], chunks[n].size});
  return runs;
}

}  // namespace

PackedDataset::PackedDataset(std::string path_, ElementType type_, std::vector<std::int64_t> shape_)
    : path(std::move(path_)), type(type_), shape(std::move(shape_)) {
  row_bytes = static_cast<std::int64_t>(element_bytes(type)) * product(std::span(shape).subspan(1));
  const std::int64_t wanted = std::clamp(bytes() / k_many_chunks, k_min_chunk, k_largest_chunk);
  chunk_rows = std::clamp<std::int64_t>(wanted / row_bytes, 1, shape[0]);
}

std::vector<hsize_t> PackedDataset::chunk_shape() const {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  chunk[0] = static_cast<hsize_t>(chunk_rows);
  return chunk;
}

Hdf5Handle PackedDataset::layout() const {
  const std::vector<hsize_t> chunk = chunk_shape();
  Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool made = H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
                    H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER) >= 0 &&
                    H5Pset_shuffle(layout) >= 0 && H5Pset_deflate(layout, k_deflate_level) >= 0 &&
                    H5Pset_fletcher32(layout) >= 0;
  require_hdf5(made, "compress the data (output.compression = \"none\" avoids compression)");
  return layout;
}

// Temporary file for rows, then for the chunks of the current dataset.
struct PackedRows::TemporaryFile {
  TemporaryFile(const Communicator& communicator, const std::string& path)
      : name(communicator, path) {
    communicator.collective_try([&] { file.emplace(name.part_path(), PosixFile::Mode::update); });
  }
  WholeFile name;  // never committed, so it is removed
  std::optional<PosixFile> file;
};

PackedRows::PackedRows(const Communicator& communicator, std::string path)
    : communicator_(communicator), path_(std::move(path)) {}

PackedRows::~PackedRows() = default;

std::int64_t PackedRows::add(PackedDataset dataset) {
  if (!temporary_) temporary_ = std::make_unique<TemporaryFile>(communicator_, path_ + ".rows");
  dataset.position = std::exchange(end_, end_ + dataset.bytes());
  datasets_.push_back(std::move(dataset));
  return datasets_.back().position;
}

void PackedRows::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  temporary_->file->write_at(offset, bytes);
  written_ += std::ssize(bytes);
}

void PackedRows::store(PosixFile& part, ChecksumWriter& checksums, const Allot& allot) {
  const std::int64_t written = communicator_.sum(written_);
  OCTANT_REQUIRE(written == end_, "compressed datasets have {} bytes, but {} were written", end_,
                 written);
  for (const PackedDataset& dataset : datasets_) store(dataset, part, checksums, allot);
}

void PackedRows::store(const PackedDataset& dataset, PosixFile& part, ChecksumWriter& checksums,
                       const Allot& allot) {
  const RowRange own = even_share(dataset.chunks(), communicator_.rank(), communicator_.size());
  const auto slot = [&](std::int64_t n) { return end_ + n * (dataset.chunk_bytes() + k_growth); };
  PosixFile& temporary = *temporary_->file;
  std::vector<PackedChunk> chunks;
  communicator_.collective_try([&] {
    ChunkPacker packer(dataset);
    std::vector<std::byte> rows(static_cast<std::size_t>(dataset.chunk_bytes()));
    for (std::int64_t n = own.begin; n < own.end(); ++n) {
      const std::int64_t before = n * dataset.chunk_bytes();
      const std::int64_t count = std::min(dataset.chunk_bytes(), dataset.bytes() - before);
      temporary.read_at(dataset.position + before, std::span(rows).first(count));
      std::fill(rows.begin() + count, rows.end(), std::byte{0});
      chunks.push_back(packer.pack(rows));
      temporary.write_at(slot(n), packer.bytes());
    }
  });

  const auto all = communicator_.gather_to_root(std::span<const PackedChunk>(chunks));
  std::vector<Run> runs;
  communicator_.collective_try([&] {
    if (communicator_.is_root()) runs = runs_of(all, allot(dataset, all));
  });
  communicator_.broadcast(runs);
  std::vector<int> sums;
  for (const Run& run : runs)
    sums.push_back(checksums.add_dataset(dataset.path + " (compressed, a row is a byte)",
                                         run.offset, run.bytes, 1));

  std::int64_t offset = 0;  // within the compressed bytes of the dataset, then of a run
  for (const PackedChunk& chunk : chunks) offset += chunk.size;
  offset = communicator_.exclusive_scan(offset);
  communicator_.collective_try([&] {
    std::size_t run = 0;
    std::vector<std::byte> bytes;
    for (std::int64_t n = own.begin; n < own.end(); ++n) {
      for (; offset >= runs[run].bytes; ++run) offset -= runs[run].bytes;
      bytes.resize(static_cast<std::size_t>(chunks[n - own.begin].size));
      temporary.read_at(slot(n), bytes);
      checksums.add_bytes(sums[run], offset, bytes);
      part.write_at(runs[run].offset + offset, bytes);
      offset += std::ssize(bytes);
    }
  });
}

}  // namespace octant

#endif
