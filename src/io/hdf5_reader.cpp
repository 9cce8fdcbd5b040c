#ifdef OCTANT_HDF5

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "io/checksums.hpp"
#include "io/files.hpp"
#include "io/hdf5_contents.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

namespace octant {
namespace {

// Converts failures to read a file to InputError.
template <class Step>
auto reading(const Step& step) {
  try {
    return step();
  } catch (const RunError& error) {
    throw InputError("{}", error.what());
  }
}

std::unique_ptr<StoredChecksums> open_checksums(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InputError("'{}' is a directory, not a file", path);
  return reading([&] { return StoredChecksums::load(path); });
}

Hdf5Handle open_file(const std::string& path) {
  if (H5Fis_hdf5(path.c_str()) <= 0) throw InputError("'{}' is not an HDF5 file", path);
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, reading_access()), close_file);
  if (file < 0) throw InputError("'{}' is corrupt or incomplete: {}", path, hdf5_error_message());
  return file;
}

}  // namespace

struct Hdf5Reader::State {
  using Kind = StoredObject::Kind;

  [[noreturn]] void fail(const std::string& object, const std::string& problem) const {
    throw InputError("'{}': {}: {}", path, object, problem);
  }

  const StoredObject& object(const std::string& name) const {
    const auto found = contents.find(name);
    if (found == contents.end()) {
      // A group in another file is known, but not its content.
      for (auto end = name.rfind('/'); end != std::string::npos && end > 0;
           end = name.rfind('/', end - 1))
        if (contents.contains(name.substr(0, end))) object(name.substr(0, end));
      fail(name, "the object is missing");
    }
    if (!found->second.problem.empty()) fail(name, found->second.problem);
    return found->second;
  }

  const StoredObject& dataset(const std::string& name) const {
    const StoredObject& found = object(name);
    if (found.kind != Kind::dataset) fail(name, "this is not a dataset");
    if (found.extents.empty()) fail(name, "this dataset has no rows");
    return found;
  }

  // Verifies the description, because HDF5 does not detect damage to it.
  void open() {
    communicator.collective_try([&] {
      if (!communicator.is_root()) return;
      checksums = open_checksums(path);
      has_checksums = checksums != nullptr;
      if (checksums) reading([&] { checksums->require_description(); });
    });
    communicator.broadcast(has_checksums);
    std::vector<std::byte> description;
    communicator.collective_try([&] {
      if (communicator.is_root()) description = packed(described());
    });
    communicator.broadcast(description);
    contents = unpacked(description);
  }

  FileContents described() const {
    const Hdf5Handle opened = open_file(path);
    try {
      return read_contents(opened);
    } catch (const InputError& error) {
      throw InputError("'{}' is corrupt or incomplete: {}", path, error.what());
    }
  }

  // Reads rows of a dataset in stored form, and verifies them.
  void read_rows(const std::string& name, const StoredObject& dataset, hid_t type, RowRange range,
                 std::span<std::byte> bytes) const {
    if (dataset.offset >= 0) {
      const std::int64_t row_bytes = std::ssize(bytes) / range.count;
      reading([&] {
        if (!rows) rows.emplace(path, PosixFile::Mode::read);
        rows->read_at(dataset.offset + range.begin * row_bytes, bytes);
        if (has_checksums) stored_checksums().require_rows(name, range, bytes);
      });
    } else {
      read_by_hdf5(name, type, range, bytes);
    }
  }

  // Returns the checksums. Ranks other than the root load them when they first read rows.
  const StoredChecksums& stored_checksums() const {
    if (!checksums) checksums = StoredChecksums::load(path);
    if (!checksums) throw InputError("'{}' changed while it was read: it has no checksums", path);
    return *checksums;
  }

  // Reads rows in chunks, whose checksums HDF5 verifies, or rows without storage.
  void read_by_hdf5(const std::string& name, hid_t type, RowRange range,
                    std::span<std::byte> bytes) const {
    if (file < 0) file = open_file(path);
    const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    const auto& extents = contents.at(name).extents;
    std::vector<hsize_t> sizes(extents.begin(), extents.end()), start(sizes.size(), 0);
    start[0] = static_cast<hsize_t>(range.begin);
    sizes[0] = static_cast<hsize_t>(range.count);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, sizes.data(), nullptr);
    const Hdf5Handle memory(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                            H5Sclose);
    if (H5Dread(dataset, type, memory, space, H5P_DEFAULT, bytes.data()) < 0)
      fail(name, fmt::format("cannot read rows {} to {}: {}", range.begin, range.end() - 1,
                             hdf5_error_message()));
  }

  Communicator communicator;
  std::string path;
  bool has_checksums = false;
  FileContents contents;
  mutable std::unique_ptr<StoredChecksums> checksums;  // null: none, or not loaded
  // Opened when a rank first reads rows, by system calls or HDF5.
  mutable std::optional<PosixFile> rows;
  mutable Hdf5Handle file;
};

Hdf5Reader::Hdf5Reader(const Communicator& communicator, const std::string& path)
    : state_(std::make_unique<State>(State{.communicator = communicator,
                                           .path = path,
                                           .contents = {},
                                           .checksums = {},
                                           .rows = {},
                                           .file = {}})) {
  silence_hdf5();
  state_->open();
}

Hdf5Reader::~Hdf5Reader() = default;

const std::string& Hdf5Reader::path() const { return state_->path; }
const Communicator& Hdf5Reader::communicator() const { return state_->communicator; }

bool Hdf5Reader::has_checksums() const { return state_->has_checksums; }

bool Hdf5Reader::lost_checksums() const {
  return !has_checksums() && has_attribute("/", k_checksums);
}

void Hdf5Reader::require_unchanged() const {
  if (lost_checksums())
    throw InputError(
        "'{}' was modified or truncated after it was written: the checksums at its end are missing",
        path());
}

bool Hdf5Reader::exists(const std::string& object) const {
  return state_->contents.contains(object);
}

bool Hdf5Reader::has_attribute(const std::string& object, const std::string& name) const {
  return exists(object) && state_->contents.at(object).attributes.contains(name);
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  if (state_->object(group).kind != State::Kind::group) state_->fail(group, "this is not a group");
  const std::string before = group == "/" ? group : group + "/";
  std::vector<std::string> names;
  for (auto next = state_->contents.upper_bound(before);
       next != state_->contents.end() && next->first.starts_with(before); ++next) {
    const std::string name = next->first.substr(before.size());
    if (name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Hdf5Reader::attribute_names(const std::string& object) const {
  std::vector<std::string> names;
  for (const auto& [name, attribute] : state_->object(object).attributes) names.push_back(name);
  return names;
}

AttributeValue Hdf5Reader::attribute_value(const std::string& object,
                                           const std::string& name) const {
  const auto& attributes = state_->object(object).attributes;
  const auto found = attributes.find(name);
  if (found == attributes.end())
    state_->fail(object, fmt::format("the attribute '{}' is missing", name));
  const auto& [value, problem] = found->second;
  if (!problem.empty()) state_->fail(object, fmt::format("attribute '{}': {}", name, problem));
  return value;
}

void Hdf5Reader::throw_wrong_attribute(const std::string& object, const std::string& name) const {
  state_->fail(object, fmt::format("attribute '{}' has an unexpected type", name));
}

std::vector<std::int64_t> Hdf5Reader::shape(const std::string& dataset) const {
  return state_->dataset(dataset).extents;
}

std::int64_t Hdf5Reader::elements_in(const std::string& dataset, RowRange range) const {
  const auto sizes = shape(dataset);
  state_->communicator.collective_try([&] {
    if (range.begin < 0 || range.count < 0 || range.end() > sizes[0]) {
      state_->fail(dataset, fmt::format("the dataset has {} rows, but rows {} to {} are required",
                                        sizes[0], range.begin, range.end() - 1));
    }
  });
  return std::accumulate(sizes.begin() + 1, sizes.end(), range.count, std::multiplies<>());
}

void Hdf5Reader::read_dataset(const std::string& dataset, RowRange range, ElementType type,
                              std::span<std::byte> data) const {
  state_->communicator.collective_try([&] {
    const StoredObject& object = state_->dataset(dataset);
    const Hdf5Handle stored(H5Tdecode(object.type.data()), H5Tclose);
    if (H5Tget_class(stored) != H5Tget_class(native_type(type))) {
      state_->fail(dataset, "the elements have an unexpected type");
    }
    if (data.empty()) return;
    if (H5Tequal(stored, native_type(type)) > 0)
      return state_->read_rows(dataset, object, stored, range, data);
    const std::size_t count = data.size() / element_bytes(type), size = H5Tget_size(stored);
    std::vector<std::byte> elements(std::max(data.size(), count * size));
    state_->read_rows(dataset, object, stored, range, std::span(elements).first(count * size));
    if (H5Tconvert(stored, native_type(type), count, elements.data(), nullptr, H5P_DEFAULT) < 0) {
      state_->fail(dataset, hdf5_error_message());
    }
    std::copy_n(elements.begin(), data.size(), data.begin());
  });
}

FileCheck check_file(const Communicator& communicator, const std::string& path) {
  std::unique_ptr<StoredChecksums> checksums;
  communicator.collective_try([&] { checksums = open_checksums(path); });
  if (!checksums) {
    Hdf5Reader(communicator, path).require_unchanged();
    return {};
  }
  FileCheck check{true, false, checksums->batches(), checksums->damage(communicator)};
  check.is_whole = !communicator.any(!check.damaged.empty());
  return check;
}

}  // namespace octant

#endif
