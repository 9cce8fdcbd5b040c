#ifdef OCTANT_HDF5

#include "io/hdf5_contents.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/error.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_heap.hpp"

namespace octant {
namespace {

// No attribute of Octant's comes near it: a size above is that of a damaged one.
constexpr hsize_t k_largest_attribute = hsize_t{1} << 26;

// Text of fixed length is padded.
std::string read_text(hid_t attribute, hid_t type, Hdf5Heaps& heaps) {
  if (H5Tis_variable_str(type) > 0) return heaps.text(attribute);
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0)
    throw InputError("cannot read the text: {}", hdf5_reason());
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

AttributeValue read_value(hid_t attribute, Hdf5Heaps& heaps) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const bool scalar = H5Sget_simple_extent_type(space) == H5S_SCALAR;
  const auto count =
      static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  if (H5Aget_storage_size(attribute) > k_largest_attribute)
    throw InputError("it has {} bytes; expected at most {}", H5Aget_storage_size(attribute),
                     k_largest_attribute);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (count == 1) return read_text(attribute, type, heaps);
      break;
    case H5T_INTEGER: return read_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count, scalar);
    case H5T_FLOAT: return read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, scalar);
    default: break;
  }
  throw InputError("it is neither a text nor made of numbers");
}

StoredAttribute read_attribute(hid_t owner, const char* name, Hdf5Heaps& heaps) {
  const Hdf5Handle attribute(H5Aopen(owner, name, H5P_DEFAULT), H5Aclose);
  if (attribute < 0) return {{}, hdf5_reason()};
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
  const Hdf5Handle made(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(made) != H5D_CONTIGUOUS || H5Pget_external_count(made) > 0) return;
  const haddr_t place = H5Dget_offset(dataset);
  if (place != HADDR_UNDEF) object.place = static_cast<std::int64_t>(place);
}

StoredObject describe(hid_t file, const char* path, Hdf5Heaps& heaps) {
  StoredObject object;
  const Hdf5Handle handle(H5Oopen(file, path, H5P_DEFAULT), H5Oclose);
  if (handle < 0) {
    object.problem = hdf5_reason();
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
    throw InputError("{}", hdf5_reason());
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
    packer.put(object.place);
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
    object.place = unpacker.get<std::int64_t>();
  }
  return contents;
}

}  // namespace octant

#endif
