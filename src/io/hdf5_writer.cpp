#ifdef OCTANT_HDF5

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>

#include "io/checksums.hpp"
#include "io/files.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_image.hpp"
#include "io/packed_rows.hpp"

namespace octant {
namespace {

hid_t checked(hid_t id, const std::string& attempt) {
  if (id < 0) throw RunError("cannot {}: {}", attempt, hdf5_error_message());
  return id;
}

// Disables time stamps: files of the same content have the same bytes.
hid_t without_times(const Hdf5Handle& properties) {
  H5Pset_obj_track_times(properties, false);
  return properties;
}

// Layout with early allocation, so that the position of a dataset is known at its creation, and
// without fill values.
Hdf5Handle contiguous_layout() {
  Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(layout, H5D_CONTIGUOUS);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  return layout;
}

// Creates the missing groups above an object.
void make_groups_above(hid_t file, const std::string& object) {
  const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  without_times(properties);
  for (std::size_t slash = object.find('/', 1); slash != std::string::npos;
       slash = object.find('/', slash + 1)) {
    const std::string path = object.substr(0, slash);
    if (H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0) continue;
    const Hdf5Handle group(
        checked(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT),
                fmt::format("create the group '{}'", path)),
        H5Gclose);
  }
}

Hdf5Handle extents(const std::vector<std::int64_t>& shape) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
}

struct AttributeWriter {
  hid_t object;
  const std::string& name;

  void operator()(const std::string& text) const {
    const char* characters = text.c_str();
    write(text_type(), {H5Screate(H5S_SCALAR), H5Sclose}, &characters);
  }
  void fixed(const std::string& text) const {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, text.size());
    H5Tset_strpad(type, H5T_STR_SPACEPAD);
    write(type, extents({1}), text.data());
  }
  void operator()(std::int64_t value) const {
    write(H5T_NATIVE_INT64, {H5Screate(H5S_SCALAR), H5Sclose}, &value);
  }
  void operator()(double value) const {
    write(H5T_NATIVE_DOUBLE, {H5Screate(H5S_SCALAR), H5Sclose}, &value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    write(H5T_NATIVE_INT64, extents({std::ssize(values)}), values.data());
  }
  void operator()(const std::vector<double>& values) const {
    write(H5T_NATIVE_DOUBLE, extents({std::ssize(values)}), values.data());
  }

 private:
  void write(hid_t type, const Hdf5Handle& space, const void* values) const {
    const std::string attempt = fmt::format("write the attribute '{}'", name);
    const Hdf5Handle attribute(
        checked(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), attempt),
        H5Aclose);
    checked(H5Awrite(attribute, type, values), attempt);
  }
};

Hdf5Handle owner_of_attribute(hid_t file, const std::string& object, const std::string& name) {
  return {checked(H5Oopen(file, object.c_str(), H5P_DEFAULT),
                  fmt::format("find '{}' for its attribute '{}'", object, name)),
          H5Oclose};
}

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  std::visit(AttributeWriter{object, name}, value);
}

// Two sums over the ranges of all ranks that identify a complete cover of rows 0 .. total - 1.
using CoverageSums = std::array<std::uint64_t, 2>;

CoverageSums coverage_sums(RowRange range) {
  const auto begin = static_cast<std::uint64_t>(range.begin);
  const auto end = static_cast<std::uint64_t>(range.end());
  return {end - begin, end * (end - 1) - begin * (begin - 1)};
}

constexpr std::int64_t k_no_place = -1;  // place of a dataset that could not be created

}  // namespace

struct Hdf5Writer::State {
  State(const Communicator& c, const std::string& path, Compression chosen)
      : communicator(c), compression(chosen), whole(c, path), packed(c, path) {}

  // Runs a step on this rank unless one has failed; keeps the error for agree(). Local.
  void attempt(const std::function<void()>& step) {
    if (failure) return;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
  }

  // Runs a step on the root only, as attempt().
  void attempt_on_root(const std::function<void()>& step) {
    if (communicator.is_root()) attempt(step);
  }

  // Throws on all ranks if a step has failed on any.
  void agree() const {
    communicator.collective_try([&] {
      try {
        if (failure) std::rethrow_exception(failure);
      } catch (const RunError& error) {
        throw RunError("'{}' could not be written: {}", whole.path(), error.what());
      }
    });
  }

  // Runs a step on the root only; all ranks throw if it, or an earlier step, has failed.
  void on_root(const std::function<void()>& step) {
    attempt_on_root(step);
    agree();
  }

  // Runs a step on all ranks, which throw if it, or an earlier step, has failed on any.
  void run(const std::function<void()>& step) {
    attempt(step);
    agree();
  }

  // Makes HDF5 allocate the chunks of a dataset by writing dummy bytes.
  std::vector<std::int64_t> allot(const PackedDataset& dataset,
                                  std::span<const PackedChunk> chunks) {
    const Hdf5Handle rows(checked(H5Dopen2(file, dataset.path.c_str(), H5P_DEFAULT),
                                  fmt::format("find the dataset '{}'", dataset.path)),
                          H5Dclose);
    std::int64_t largest = 0;
    for (const PackedChunk& chunk : chunks) largest = std::max(largest, chunk.size);
    const std::vector<std::byte> blank(static_cast<std::size_t>(largest));
    image.set_dummy_rows(blank.data());
    std::vector<hsize_t> first(dataset.shape.size(), 0);
    std::vector<std::int64_t> places;
    for (const PackedChunk& chunk : chunks) {
      checked(H5Dwrite_chunk(rows, H5P_DEFAULT, chunk.left_out, first.data(),
                             static_cast<std::size_t>(chunk.size), blank.data()),
              fmt::format("find a place for a chunk of '{}'", dataset.path));
      places.push_back(image.dummy_rows_offset());
      first[0] += static_cast<hsize_t>(dataset.chunk_rows);
    }
    image.set_dummy_rows(nullptr);
    return places;
  }

  Communicator communicator;
  Compression compression;
  WholeFile whole;
  std::optional<PosixFile> part;
  Hdf5Image image;  // on the root: contents written by HDF5
  Hdf5Handle file;  // on the root: HDF5's file, in the image
  ChecksumWriter checksums;
  PackedRows packed;
  std::exception_ptr failure;  // first error of a step on this rank
};

Hdf5Writer::Hdf5Writer(const Communicator& communicator, const std::string& path,
                       Compression compression)
    : state_(std::make_unique<State>(communicator, path, compression)) {
  silence_hdf5();
  state_->on_root([&] {
    const Hdf5Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    state_->file =
        Hdf5Handle(checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, without_times(properties),
                                     access_to_image(state_->image)),
                           "create an HDF5 file in memory"),
                   close_file);
    const Hdf5Handle root(H5Oopen(state_->file, "/", H5P_DEFAULT), H5Oclose);
    write_attribute(root, k_checksums, "CRC-32C");
  });
  state_->run([&] { state_->part.emplace(state_->whole.part_path(), PosixFile::Mode::update); });
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(const std::string& path) {
  state_->attempt_on_root([&] {
    if (H5Lexists(state_->file, path.c_str(), H5P_DEFAULT) > 0)
      throw RunError("cannot create the group '{}': it already exists", path);
    make_groups_above(state_->file, path + "/");
  });
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name,
                           const AttributeValue& value) {
  state_->attempt_on_root(
      [&] { write_attribute(owner_of_attribute(state_->file, object, name), name, value); });
}

void Hdf5Writer::fixed_text(const std::string& object, const std::string& name,
                            const std::string& text) {
  state_->attempt_on_root([&] {
    const Hdf5Handle owner = owner_of_attribute(state_->file, object, name);
    AttributeWriter{owner, name}.fixed(text);
  });
}

// Returns the total number of rows of all ranks. Throws if a step has failed on any rank, or if the
// ranges leave gaps or overlap.
std::int64_t Hdf5Writer::covered_rows(const std::string& path, RowRange range) const {
  const CoverageSums own = coverage_sums(range);
  std::array<std::uint64_t, 3> sums{own[0], own[1], state_->failure ? 1U : 0U};
  state_->communicator.sum_in_place(std::span<std::uint64_t>(sums));
  if (sums[2] > 0) state_->agree();
  const auto total = static_cast<std::int64_t>(sums[0]);
  const bool covers = CoverageSums{sums[0], sums[1]} == coverage_sums({0, total});
  state_->attempt([&] {
    OCTANT_REQUIRE(covers && range.begin >= 0 && range.count >= 0 && range.end() <= total,
                   "the ranks' rows of '{}' leave gaps or overlap", path);
  });
  if (!covers) state_->agree();
  return total;
}

Hdf5Rows Hdf5Writer::create(const std::string& path, std::int64_t total,
                            const std::vector<std::int64_t>& row_shape, ElementType type,
                            const DatasetMeaning& meaning) {
  Hdf5Rows rows{.path = path, .type = type, .total = total};
  rows.row_bytes =
      std::accumulate(row_shape.begin(), row_shape.end(),
                      static_cast<std::int64_t>(element_bytes(type)), std::multiplies<>());
  rows.is_packed =
      state_->compression == Compression::deflate && PackedRows::wants(rows.total * rows.row_bytes);
  std::vector<std::int64_t> shape{total};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  rows.place = k_no_place;
  state_->attempt_on_root([&] {
    OCTANT_REQUIRE(!meaning.units.empty() && !meaning.description.empty(),
                   "'{}' requires units and a description", path);
    make_groups_above(state_->file, path);
    const Hdf5Handle layout =
        rows.is_packed ? PackedDataset(path, type, shape).layout() : contiguous_layout();
    const Hdf5Handle dataset(
        checked(H5Dcreate2(state_->file, path.c_str(), native_type(type), extents(shape),
                           H5P_DEFAULT, without_times(layout), H5P_DEFAULT),
                fmt::format("create the dataset '{}'", path)),
        H5Dclose);
    write_attribute(dataset, "units", meaning.units);
    write_attribute(dataset, "description", meaning.description);
    rows.place = rows.is_packed ? 0 : static_cast<std::int64_t>(H5Dget_offset(dataset));
  });
  state_->communicator.broadcast(rows.place);
  if (rows.place == k_no_place) state_->agree();
  if (rows.is_packed) {
    rows.place = state_->packed.add({path, type, shape});
    return rows;
  }
  rows.number = state_->checksums.add_dataset(path, rows.place, total, rows.row_bytes);
  return rows;
}

void Hdf5Writer::write(const Hdf5Rows& rows, RowRange range, ElementType type,
                       std::span<const std::byte> data) {
  state_->attempt([&] {
    OCTANT_REQUIRE(type == rows.type && range.begin >= 0 && range.end() <= rows.total,
                   "rows {} to {} do not match the type or the {} rows of '{}'", range.begin,
                   range.end(), rows.total, rows.path);
    OCTANT_REQUIRE(std::ssize(data) == range.count * rows.row_bytes,
                   "'{}' has {} rows of {} bytes here, but {} bytes were given", rows.path,
                   range.count, rows.row_bytes, data.size());
    const std::int64_t offset = range.begin * rows.row_bytes;
    if (rows.is_packed) return state_->packed.write_at(rows.place + offset, data);
    state_->checksums.add_bytes(rows.number, offset, data);
    state_->part->write_at(rows.place + offset, data);
  });
}

void Hdf5Writer::commit() {
  state_->agree();
  PosixFile& part = *state_->part;
  const Hdf5Image& image = state_->image;
  state_->packed.store(part, state_->checksums, [&](const auto& dataset, auto chunks) {
    return state_->allot(dataset, chunks);
  });
  state_->on_root([&] {
    if (!state_->file.close())
      throw RunError("cannot close the HDF5 file: {}", hdf5_error_message());
    image.write_to(part);
  });
  std::int64_t end = image.size(), size = 0;
  state_->communicator.broadcast(end);
  state_->checksums.sum_over_ranks(state_->communicator);
  state_->run([&] { state_->checksums.write_share(part, end); });
  state_->on_root([&] {
    size = state_->checksums.write_table(
        part, end,
        [&](std::int64_t place, std::span<std::byte> bytes) { image.read(place, bytes); });
  });
  state_->run([&] { part.sync(); });
  state_->on_root([&] {
    const Hdf5Handle written(
        checked(H5Fopen(state_->whole.part_path().c_str(), H5F_ACC_RDONLY, reading_access()),
                "open the file that was just written"),
        close_file);
    OCTANT_REQUIRE(part.size() == size, "the file has {} bytes instead of {}", part.size(), size);
  });
  state_->whole.commit();
}

}  // namespace octant

#endif
