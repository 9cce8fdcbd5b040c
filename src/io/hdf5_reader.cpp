#ifdef OCTANT_HDF5

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>

#include "io/checksums.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/posix_file.hpp"

namespace octant {
namespace {

bool link_exists(hid_t file, const std::string& object) {
  for (std::size_t slash = object.find('/', 1); slash != std::string::npos;
       slash = object.find('/', slash + 1)) {
    if (H5Lexists(file, object.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return object == "/" || H5Lexists(file, object.c_str(), H5P_DEFAULT) > 0;
}

std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return sizes;
}

bool is_chunked(hid_t dataset) {
  const Hdf5Handle layout(H5Dget_create_plist(dataset), H5Pclose);
  return H5Pget_layout(layout) == H5D_CHUNKED;
}

Hdf5Handle space_of(hid_t dataset) { return {H5Dget_space(dataset), H5Sclose}; }

// Text of any length comes as a pointer that HDF5 allocated; text of fixed length is padded.
std::string read_text(hid_t attribute, hid_t type) {
  if (H5Tis_variable_str(type) > 0) {
    char* characters = nullptr;
    if (H5Aread(attribute, type, &characters) < 0 || characters == nullptr) return "";
    std::string text(characters);
    H5free_memory(characters);
    return text;
  }
  std::string text(H5Tget_size(type), '\0');
  H5Aread(attribute, type, text.data());
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

template <class T>
AttributeValue read_numbers(hid_t attribute, hid_t type, std::size_t count, bool scalar) {
  std::vector<T> values(count);
  if (count > 0 && H5Aread(attribute, type, values.data()) < 0) {
    throw InputError("cannot read the numbers: {}", hdf5_reason());
  }
  if (scalar) return values.at(0);
  return values;
}

AttributeValue read_value(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const bool scalar = H5Sget_simple_extent_type(space) == H5S_SCALAR;
  const auto count =
      static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (count == 1) return read_text(attribute, type);
      break;
    case H5T_INTEGER: return read_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count, scalar);
    case H5T_FLOAT: return read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, scalar);
    default: break;
  }
  throw InputError("it is neither a text nor made of numbers");
}

herr_t add_link_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

herr_t add_attribute_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

// A file that cannot be read is a wrong one.
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
    throw InputError("'{}' is a folder, not a file", path);
  return reading([&] { return StoredChecksums::load(path); });
}

Hdf5Handle open_file(const std::string& path) {
  if (H5Fis_hdf5(path.c_str()) <= 0) throw InputError("'{}' is not an HDF5 file", path);
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, reading_access()), H5Fclose);
  if (file < 0) throw InputError("'{}' is damaged or incomplete: {}", path, hdf5_reason());
  return file;
}

}  // namespace

struct Hdf5Reader::State {
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const {
    throw InputError("'{}': {}: {}", path, object, problem);
  }

  Hdf5Handle open_object(const std::string& object) const {
    if (!link_exists(file, object)) fail(object, "there is no such object in this file");
    Hdf5Handle handle(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
    if (handle < 0) fail(object, hdf5_reason());
    return handle;
  }

  Hdf5Handle open_kind(const std::string& object, H5I_type_t kind, const char* name) const {
    Hdf5Handle handle = open_object(object);
    if (H5Iget_type(handle) != kind) fail(object, fmt::format("this is not a {}", name));
    return handle;
  }

  Hdf5Handle open_dataset(const std::string& object) const {
    Hdf5Handle dataset = open_kind(object, H5I_DATASET, "dataset");
    if (H5Sget_simple_extent_ndims(space_of(dataset)) < 1) fail(object, "this dataset has no rows");
    return dataset;
  }

  // HDF5 does not see a description that is damaged.
  void open() {
    communicator.agree([&] {
      checksums = open_checksums(path);
      if (checksums && communicator.is_root()) reading([&] { checksums->require_description(); });
    });
    communicator.agree([&] { file = open_file(path); });
  }

  // Reads rows of a dataset as they are stored, and checks them.
  void read_rows(const std::string& object, hid_t dataset, RowRange range,
                 std::span<std::byte> bytes) const {
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    const Hdf5Handle space = space_of(dataset);
    auto sizes = extents_of(space);
    std::vector<hsize_t> start(sizes.size(), 0);
    start[0] = static_cast<hsize_t>(range.begin);
    sizes[0] = static_cast<hsize_t>(range.count);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, sizes.data(), nullptr);
    const Hdf5Handle memory(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                            H5Sclose);
    if (H5Dread(dataset, type, memory, space, H5P_DEFAULT, bytes.data()) < 0) {
      fail(object, fmt::format("cannot read rows {} to {}: {}", range.begin, range.end() - 1,
                               hdf5_reason()));
    }
    // HDF5 has compared the checksums of chunks, which are compressed.
    if (checksums && !is_chunked(dataset))
      reading([&] { checksums->require_rows(object, range, bytes); });
  }

  Communicator communicator;
  std::string path;
  std::unique_ptr<StoredChecksums> checksums;
  Hdf5Handle file;
};

Hdf5Reader::Hdf5Reader(const Communicator& communicator, const std::string& path)
    : state_(std::make_unique<State>(State{communicator, path, {}, {}})) {
  silence_hdf5();
  state_->open();
}

Hdf5Reader::~Hdf5Reader() = default;

const std::string& Hdf5Reader::path() const { return state_->path; }
const Communicator& Hdf5Reader::communicator() const { return state_->communicator; }

bool Hdf5Reader::has_checksums() const { return state_->checksums != nullptr; }

bool Hdf5Reader::lost_checksums() const {
  return !has_checksums() && has_attribute("/", k_checksums);
}

void Hdf5Reader::require_unchanged() const {
  if (lost_checksums())
    throw InputError(
        "'{}' was changed or cut after it was written: the checksums that were at its end are gone",
        path());
}

bool Hdf5Reader::exists(const std::string& object) const {
  return link_exists(state_->file, object);
}

bool Hdf5Reader::has_attribute(const std::string& object, const std::string& name) const {
  return exists(object) &&
         H5Aexists_by_name(state_->file, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  std::vector<std::string> names;
  state_->communicator.agree([&] {
    const Hdf5Handle handle = state_->open_kind(group, H5I_GROUP, "group");
    H5Literate(handle, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link_name, &names);
  });
  return names;
}

std::vector<std::string> Hdf5Reader::attribute_names(const std::string& object) const {
  std::vector<std::string> names;
  state_->communicator.agree([&] {
    const Hdf5Handle handle = state_->open_object(object);
    H5Aiterate2(handle, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute_name, &names);
  });
  return names;
}

AttributeValue Hdf5Reader::attribute_value(const std::string& object,
                                           const std::string& name) const {
  AttributeValue value;
  state_->communicator.agree([&] {
    const Hdf5Handle owner = state_->open_object(object);
    const Hdf5Handle attribute(H5Aopen(owner, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (attribute < 0) state_->fail(object, fmt::format("it has no attribute '{}'", name));
    try {
      value = read_value(attribute);
    } catch (const InputError& error) {
      state_->fail(object, fmt::format("attribute '{}': {}", name, error.what()));
    }
  });
  return value;
}

void Hdf5Reader::throw_wrong_attribute(const std::string& object, const std::string& name) const {
  state_->fail(object, fmt::format("attribute '{}' is of another type than expected", name));
}

std::vector<std::int64_t> Hdf5Reader::shape(const std::string& dataset) const {
  std::vector<std::int64_t> sizes;
  state_->communicator.agree([&] {
    const auto extents = extents_of(space_of(state_->open_dataset(dataset)));
    sizes.assign(extents.begin(), extents.end());
  });
  return sizes;
}

std::int64_t Hdf5Reader::elements_in(const std::string& dataset, RowRange range) const {
  const auto sizes = shape(dataset);
  state_->communicator.agree([&] {
    if (range.begin < 0 || range.count < 0 || range.end() > sizes[0]) {
      state_->fail(dataset, fmt::format("it has {} rows, but rows {} to {} are needed", sizes[0],
                                        range.begin, range.end() - 1));
    }
  });
  return std::accumulate(sizes.begin() + 1, sizes.end(), range.count, std::multiplies<>());
}

void Hdf5Reader::read_dataset(const std::string& path, RowRange range, ElementType type,
                              std::span<std::byte> data) const {
  state_->communicator.agree([&] {
    const Hdf5Handle dataset = state_->open_dataset(path);
    const Hdf5Handle stored(H5Dget_type(dataset), H5Tclose);
    if (H5Tget_class(stored) != H5Tget_class(native_type(type))) {
      state_->fail(path, "its elements are of another kind than expected");
    }
    if (data.empty()) return;
    if (H5Tequal(stored, native_type(type)) > 0)
      return state_->read_rows(path, dataset, range, data);
    const std::size_t count = data.size() / element_bytes(type), size = H5Tget_size(stored);
    std::vector<std::byte> elements(std::max(data.size(), count * size));
    state_->read_rows(path, dataset, range, std::span(elements).first(count * size));
    if (H5Tconvert(stored, native_type(type), count, elements.data(), nullptr, H5P_DEFAULT) < 0) {
      state_->fail(path, hdf5_reason());
    }
    std::copy_n(elements.begin(), data.size(), data.begin());
  });
}

FileCheck check_file(const Communicator& communicator, const std::string& path) {
  std::unique_ptr<StoredChecksums> checksums;
  communicator.agree([&] { checksums = open_checksums(path); });
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
