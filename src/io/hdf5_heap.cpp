#ifdef OCTANT_HDF5

#include "io/hdf5_heap.hpp"

#include <array>
#include <cstring>
#include <span>

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
T number_at(std::span<const std::byte> bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

// HDF5 calls this to turn a reference into bytes of the program: they stay as they are.
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
  static const bool is_known =
      H5Tregister(H5T_PERS_SOFT, "octant reference", text_type(), type, keep_reference) >= 0;
  if (!is_known) throw InputError("cannot read texts: {}", hdf5_reason());
  return type;
}

Reference reference_of(hid_t attribute) {
  std::array<std::byte, k_reference> bytes{};
  if (H5Aread(attribute, reference_type(), bytes.data()) < 0)
    throw InputError("cannot read the text: {}", hdf5_reason());
  const std::span<const std::byte> all(bytes);
  return {number_at<std::uint32_t>(all, 0), number_at<std::uint32_t>(all, 12),
          number_at<std::uint64_t>(all, 4)};
}

[[noreturn]] void refuse() {
  throw InputError("the text is damaged: its place in the file is not that of a text");
}

}  // namespace

void Hdf5Heaps::open() {
  if (bytes_) return;
  const Hdf5Handle made(H5Fget_create_plist(file_), H5Pclose);
  std::size_t address_bytes = 0, length_bytes = 0;
  hsize_t begin = 0;
  if (H5Pget_sizes(made, &address_bytes, &length_bytes) < 0 || H5Pget_userblock(made, &begin) < 0)
    throw InputError("cannot read the text: {}", hdf5_reason());
  if (address_bytes != 8 || length_bytes != 8)
    throw InputError("texts of files whose addresses have {} bytes cannot be read; expected 8",
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
  for (std::size_t place = k_heap_header; place + k_object_header <= heap.size();) {
    const auto number = number_at<std::uint16_t>(heap, place);
    const auto size = number_at<std::uint64_t>(heap, place + 8);
    const std::size_t begin = place + k_object_header, room = heap.size() - begin;
    if (number == 0) break;  // what follows is free
    if (size > room) refuse();
    if (number == reference.object) {
      if (reference.length > size) refuse();
      const std::string text(reinterpret_cast<const char*>(heap.data()) + begin, reference.length);
      return text.substr(0, text.find('\0'));
    }
    const std::size_t padded = (static_cast<std::size_t>(size) + 7) / 8 * 8;
    if (padded > room) break;
    place = begin + padded;
  }
  refuse();
}

}  // namespace octant

#endif
