#include "io/hdf5_contents.hpp"

#ifdef OCTANT_HDF5

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/error.hpp"
#include "io/hdf5_handle.hpp"

namespace octant {
namespace {

// HDF5 File Format Specification 3.0, III.E (global heap) and IV.A.2.d (variable length).
constexpr std::size_t k_heap_header = 16, k_object_header = 16, k_reference = 16;
constexpr std::uint64_t k_largest_heap = std::uint64_t{1} << 30;

struct Reference {
  std::uint32_t length, object;
  std::uint64_t address;
};

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Conversion function for HDF5 that leaves references unchanged.
herr_t keep_reference(hid_t from, hid_t to, H5T_cdata_t* about, std::size_t, std::size_t,
                      std::size_t, void*, void*, hid_t) {
  if (about->command == H5T_CONV_FREE) return 0;
  about->need_bkg = H5T_BKG_NO;
  const bool is_reference = H5Tget_class(to) == H5T_OPAQUE && H5Tget_size(to) == k_reference;
  if (about->command == H5T_CONV_CONV && H5Tget_size(from) != k_reference) return -1;
  return is_reference ? 0 : -1;
}

Hdf5Handle reference_type() {
  Hdf5Handle type(H5Tcreate(H5T_OPAQUE, k_reference), H5Tclose);
  static const bool is_registered =
      H5Tregister(H5T_PERS_SOFT, "octant reference", text_type(), type, keep_reference) >= 0;
  if (!is_registered) throw InputError("cannot read strings: {}", hdf5_error_message());
  return type;
}

Reference reference_of(hid_t attribute) {
  std::array<std::byte, k_reference> bytes{};
  if (H5Aread(attribute, reference_type(), bytes.data()) < 0)
    throw InputError("cannot read the string: {}", hdf5_error_message());
  const std::span<const std::byte> all(bytes);
  return {number_at<std::uint32_t>(all, 0), number_at<std::uint32_t>(all, 12),
          number_at<std::uint64_t>(all, 4)};
}

[[noreturn]] void refuse() {
  throw InputError("the string is corrupt: its address does not point to string data");
}

}  // namespace

void Hdf5Heaps::open() {
  if (bytes_) return;
  const Hdf5Handle made(H5Fget_create_plist(file_), H5Pclose);
  std::size_t address_bytes = 0, length_bytes = 0;
  hsize_t begin = 0;
  if (H5Pget_sizes(made, &address_bytes, &length_bytes) < 0 || H5Pget_userblock(made, &begin) < 0)
    throw InputError("cannot read the string: {}", hdf5_error_message());
  if (address_bytes != 8 || length_bytes != 8)
    throw InputError("cannot read strings in files with {}-byte addresses; expected 8 bytes",
                     address_bytes);
  begin_ = begin;
  std::string path(static_cast<std::size_t>(H5Fget_name(file_, nullptr, 0)) + 1, '\0');
  H5Fget_name(file_, path.data(), path.size());
  path.pop_back();
  bytes_.emplace(path, PosixFile::Mode::read);
}

const Hdf5Heaps::Heap& Hdf5Heaps::heap_at(std::uint64_t address) {
  const auto known = heaps_.find(address);
  if (known != heaps_.end()) return known->second;
  open();
  const auto end = static_cast<std::uint64_t>(bytes_->size());
  const auto fits = [&](std::uint64_t size) {
    return address <= end && begin_ <= end - address && size <= end - address - begin_;
  };
  if (!fits(k_heap_header)) refuse();
  std::array<std::byte, k_heap_header> header{};
  bytes_->read_at(static_cast<std::int64_t>(begin_ + address), header);
  const auto size = number_at<std::uint64_t>(header, 8);
  if (std::memcmp(header.data(), "GCOL\1", 5) != 0 || size < k_heap_header ||
      size > k_largest_heap || !fits(size))
    refuse();
  Heap heap(static_cast<std::size_t>(size));
  bytes_->read_at(static_cast<std::int64_t>(begin_ + address), heap);
  return heaps_[address] = std::move(heap);
}

std::string Hdf5Heaps::text(hid_t attribute) {
  const Reference reference = reference_of(attribute);
  if (reference.length == 0 || reference.address == 0 ||
      reference.address == std::uint64_t{HADDR_UNDEF})
    return "";
  const Heap& heap = heap_at(reference.address);
  for (std::size_t offset = k_heap_header; offset + k_object_header <= heap.size();) {
    const auto number = number_at<std::uint16_t>(heap, offset);
    const auto size = number_at<std::uint64_t>(heap, offset + 8);
    const std::size_t begin = offset + k_object_header, remaining = heap.size() - begin;
    if (number == 0) break;  // the rest is free
    if (size > remaining) refuse();
    if (number == reference.object) {
      if (reference.length > size) refuse();
      const std::string text(reinterpret_cast<const char*>(heap.data()) + begin, reference.length);
      return text.substr(0, text.find('\0'));
    }
    const std::size_t padded = (static_cast<std::size_t>(size) + 7) / 8 * 8;
    if (padded > remaining) break;
    offset = begin + padded;
  }
  refuse();
}

// --- contents of a file --------------------------------------------------------------------------

namespace {

// Maximum accepted size of an attribute in bytes; larger sizes indicate a damaged file.
constexpr hsize_t k_largest_attribute = hsize_t{1} << 26;

// Reads text; fixed-length text is padded.
std::string read_text(hid_t attribute, hid_t type, Hdf5Heaps& heaps) {
  if (H5Tis_variable_str(type) > 0) return heaps.text(attribute);
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0)
    throw InputError("cannot read the string: {}", hdf5_error_message());
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

template <class T>
AttributeValue read_numbers(hid_t attribute, hid_t type, std::size_t count, bool scalar) {
  std::vector<T> values(count);
  if (count > 0 && H5Aread(attribute, type, values.data()) < 0) {
    throw InputError("cannot read numerical data: {}", hdf5_error_message());
  }
  if (scalar) return values.at(0);
  return values;
}

AttributeValue read_value(hid_t attribute, Hdf5Heaps& heaps) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const bool scalar = H5Sget_simple_extent_type(space) == H5S_SCALAR;
  const auto count =
      static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  if (H5Aget_storage_size(attribute) > k_largest_attribute)
    throw InputError("the attribute has {} bytes; expected at most {}",
                     H5Aget_storage_size(attribute), k_largest_attribute);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (count == 1) return read_text(attribute, type, heaps);
      break;
    case H5T_INTEGER: return read_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count, scalar);
    case H5T_FLOAT: return read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, scalar);
    default: break;
  }
  throw InputError("expected a string or numbers");
}

StoredAttribute read_attribute(hid_t owner, const char* name, Hdf5Heaps& heaps) {
  const Hdf5Handle attribute(H5Aopen(owner, name, H5P_DEFAULT), H5Aclose);
  if (attribute < 0) return {{}, hdf5_error_message()};
  try {
    return {read_value(attribute, heaps), ""};
  } catch (const std::runtime_error& error) {
    return {{}, error.what()};
  }
}

struct AttributeVisit {
  StoredObject& object;
  Hdf5Heaps& heaps;
};

herr_t add_attribute(hid_t owner, const char* name, const H5A_info_t*, void* visit) {
  auto& [object, heaps] = *static_cast<AttributeVisit*>(visit);
  object.attributes.emplace(name, read_attribute(owner, name, heaps));
  return 0;
}

// Path of the external link that a search has reached, if any.
struct ExternalLink {
  std::string file, object;
};

// Records an external link, and refuses to follow it.
herr_t refuse_link(const char*, const char*, const char* file, const char* object, unsigned*, hid_t,
                   void* found) {
  *static_cast<ExternalLink*>(found) = {file, object};
  return -1;
}

// Access by names that does not follow external links to other files, but records them in `found`.
Hdf5Handle access_within_file(ExternalLink& found) {
  Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_cb(access, refuse_link, &found);
  return access;
}

// Reason to refuse an object in another file: checksums do not include it, and HDF5 replaces a
// missing file of a virtual dataset by fill values.
std::string in_another_file(const std::string& how) {
  return fmt::format(
      "it lies in another file ({}), which is not supported; store its values in this file, for "
      "example with h5py: file[name] = values",
      how);
}

// Length of the file that contains an object; the largest number if it is unknown.
hsize_t length_of_file(hid_t object) {
  const Hdf5Handle file(H5Iget_file_id(object), H5Fclose);
  hsize_t length = 0;
  return H5Fget_filesize(file, &length) < 0 ? std::numeric_limits<hsize_t>::max() : length;
}

// Returns true if the values of a dataset are stored without compression or with deflate alone,
// whose largest gain is known.
bool has_known_gain(hid_t creation) {
  int compressions = 0;
  for (int n = 0; n < H5Pget_nfilters(creation); ++n) {
    unsigned flags = 0;
    std::size_t parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation, static_cast<unsigned>(n), &flags,
                                               &parameters, nullptr, 0, nullptr, nullptr);
    if (filter == H5Z_FILTER_DEFLATE) ++compressions;
    else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) return false;
  }
  return compressions <= 1;
}

// Returns true if values that were never written have a value that the writer of the file chose.
bool has_fill_value(hid_t creation) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  return H5Pfill_value_defined(creation, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED;
}

// Returns the reason to refuse a dataset whose extents describe far more values than a file of this
// length can contain, or "".
std::string excess_of_values(hid_t type, hid_t creation, const std::vector<hsize_t>& sizes,
                             hsize_t length) {
  // Deflate gains at most a factor of 1032. Small datasets and those with a chosen fill value need
  // not be stored.
  constexpr hsize_t k_most_per_byte = 1100, k_small = hsize_t{1} << 24;
  constexpr hsize_t k_most_of_fill_values = hsize_t{1} << 32;
  constexpr hsize_t k_most = std::numeric_limits<std::int64_t>::max();
  hsize_t bytes = std::max<std::size_t>(1, H5Tget_size(type));
  for (const hsize_t size : sizes) {
    if (size > k_most / bytes) return "the extents are too large";
    bytes *= std::max<hsize_t>(1, size);
  }
  const bool is_empty = std::ranges::find(sizes, hsize_t{0}) != sizes.end();
  if (is_empty || bytes <= k_small || bytes / k_most_per_byte <= length) return "";
  if (!has_known_gain(creation)) return "";
  if (has_fill_value(creation) && bytes <= k_most_of_fill_values) return "";
  return fmt::format(
      "the extents describe {} bytes of values, but the file has {} bytes; write all values, for "
      "example with h5py: file[name][...] = values",
      bytes, length);
}

// Returns the reason to refuse contiguous values that end beyond the end of the file, or "".
std::string missing_bytes(hid_t dataset, haddr_t offset, hsize_t length) {
  const hsize_t bytes = H5Dget_storage_size(dataset);
  if (offset <= length && bytes <= length - offset) return "";
  return fmt::format("the dataset has {} bytes from byte {} on, but the file ends at byte {}",
                     bytes, offset, length);
}

void describe_dataset(hid_t dataset, StoredObject& object) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  object.extents.assign(sizes.begin(), sizes.end());
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  std::size_t bytes = 0;
  H5Tencode(type, nullptr, &bytes);
  object.type.resize(bytes);
  H5Tencode(type, object.type.data(), &bytes);
  const hsize_t length = length_of_file(dataset);
  const Hdf5Handle made(H5Dget_create_plist(dataset), H5Pclose);
  object.problem = excess_of_values(type, made, sizes, length);
  const H5D_layout_t layout = H5Pget_layout(made);
  if (layout == H5D_VIRTUAL) object.problem = in_another_file("virtual dataset");
  if (layout != H5D_CONTIGUOUS) return;
  if (H5Pget_external_count(made) > 0) {
    object.problem = in_another_file("external storage");
    return;
  }
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) return;
  object.offset = static_cast<std::int64_t>(offset);
  if (object.problem.empty()) object.problem = missing_bytes(dataset, offset, length);
}

StoredObject describe(hid_t file, const char* path, Hdf5Heaps& heaps) {
  StoredObject object;
  ExternalLink link;
  const Hdf5Handle access = access_within_file(link);
  const Hdf5Handle handle(H5Oopen(file, path, access), H5Oclose);
  if (handle < 0) {
    object.problem = hdf5_error_message();
    if (!link.file.empty())
      object.problem =
          in_another_file(fmt::format("external link to {} in '{}'", link.object, link.file));
    return object;
  }
  if (H5Iget_type(handle) == H5I_GROUP) object.kind = StoredObject::Kind::group;
  if (H5Iget_type(handle) == H5I_DATASET) {
    object.kind = StoredObject::Kind::dataset;
    describe_dataset(handle, object);
  }
  AttributeVisit visit{object, heaps};
  H5Aiterate2(handle, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &visit);
  return object;
}

struct ObjectVisit {
  FileContents contents;
  Hdf5Heaps heaps;
};

herr_t add_object(hid_t file, const char* path, const H5L_info_t*, void* visit) {
  auto& [contents, heaps] = *static_cast<ObjectVisit*>(visit);
  contents.emplace(std::string("/") + path, describe(file, path, heaps));
  return 0;
}

class Packer {
 public:
  std::vector<std::byte> bytes;

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_bytes(std::as_bytes(std::span(&value, 1))); }
  template <class Values>
  requires requires(Values values) { values.data(); }
  void put(const Values& values) {
    put(values.size());
    put_bytes(std::as_bytes(std::span(values)));
  }
  void put(const AttributeValue& value) {
    put(value.index());
    std::visit([this](const auto& content) { put(content); }, value);
  }

 private:
  void put_bytes(std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if constexpr (requires { value.resize(std::size_t{}); }) {
      value.resize(get<std::size_t>());
      take(std::as_writable_bytes(std::span(value)));
    } else {
      take(std::as_writable_bytes(std::span(&value, 1)));
    }
    return value;
  }
  AttributeValue get_value() {
    switch (get<std::size_t>()) {
      case 0: return get<std::string>();
      case 1: return get<std::int64_t>();
      case 2: return get<double>();
      case 3: return get<std::vector<std::int64_t>>();
      default: return get<std::vector<double>>();
    }
  }

 private:
  void take(std::span<std::byte> to) {
    std::copy_n(bytes_.begin(), to.size(), to.begin());
    bytes_ = bytes_.subspan(to.size());
  }
  std::span<const std::byte> bytes_;
};

}  // namespace

FileContents read_contents(hid_t file) {
  ObjectVisit visit{{}, Hdf5Heaps(file)};
  visit.contents.emplace("/", describe(file, "/", visit.heaps));
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add_object, &visit) < 0)
    throw InputError("{}", hdf5_error_message());
  return std::move(visit.contents);
}

std::vector<std::byte> packed(const FileContents& contents) {
  Packer packer;
  packer.put(contents.size());
  for (const auto& [path, object] : contents) {
    packer.put(path);
    packer.put(object.kind);
    packer.put(object.problem);
    packer.put(object.attributes.size());
    for (const auto& [name, attribute] : object.attributes) {
      packer.put(name);
      packer.put(attribute.value);
      packer.put(attribute.problem);
    }
    packer.put(object.extents);
    packer.put(object.type);
    packer.put(object.offset);
  }
  return std::move(packer.bytes);
}

FileContents unpacked(const std::vector<std::byte>& bytes) {
  Unpacker unpacker(bytes);
  FileContents contents;
  for (auto objects = unpacker.get<std::size_t>(); objects > 0; --objects) {
    StoredObject& object = contents[unpacker.get<std::string>()];
    object.kind = unpacker.get<StoredObject::Kind>();
    object.problem = unpacker.get<std::string>();
    for (auto attributes = unpacker.get<std::size_t>(); attributes > 0; --attributes) {
      StoredAttribute& attribute = object.attributes[unpacker.get<std::string>()];
      attribute.value = unpacker.get_value();
      attribute.problem = unpacker.get<std::string>();
    }
    object.extents = unpacker.get<std::vector<std::int64_t>>();
    object.type = unpacker.get<std::vector<std::byte>>();
    object.offset = unpacker.get<std::int64_t>();
  }
  return contents;
}

}  // namespace octant

#endif
