#ifdef OCTANT_HDF5

#include "io/hdf5_image.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace octant {

void Hdf5Image::write(std::int64_t offset, std::span<const std::byte> bytes) {
  size_ = std::max(size_, offset + std::ssize(bytes));
  if (bytes.data() == dummy_rows_) {
    dummy_rows_offset_ = offset;
    return;
  }
  while (!bytes.empty()) {
    const std::int64_t within = offset % k_page;
    const std::int64_t count = std::min(std::ssize(bytes), k_page - within);
    Page& page = pages_[offset / k_page];
    std::memcpy(page.bytes.data() + within, bytes.data(), static_cast<std::size_t>(count));
    for (std::int64_t n = within; n < within + count; ++n) page.written.set(n);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void Hdf5Image::read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::int64_t within = offset % k_page;
    const auto count = static_cast<std::size_t>(std::min(std::ssize(bytes), k_page - within));
    const auto page = pages_.find(offset / k_page);
    if (page == pages_.end()) {
      std::memset(bytes.data(), 0, count);
    } else {
      std::memcpy(bytes.data(), page->second.bytes.data() + within, count);
    }
    bytes = bytes.subspan(count);
    offset += static_cast<std::int64_t>(count);
  }
}

void Hdf5Image::write_to(PosixFile& file) const {
  for (const auto& [number, page] : pages_) {
    for (std::int64_t begin = 0, end = 0; begin < k_page; begin = end + 1) {
      for (end = begin; end < k_page && page.written[end];) ++end;
      file.write_at(number * k_page + begin, std::span(page.bytes).subspan(begin, end - begin));
    }
  }
  file.resize(size_);
}

// HDF5 driver: functions that HDF5 calls instead of system calls.
namespace {

struct ImageFile {
  H5FD_t base;  // must be first: HDF5 identifies the file by it
  Hdf5Image* image;
  haddr_t end_of_allocation;
};

ImageFile* mine(H5FD_t* file) { return reinterpret_cast<ImageFile*>(file); }
const ImageFile* mine(const H5FD_t* file) { return reinterpret_cast<const ImageFile*>(file); }

// Driver information in an access property list.
struct Information {
  Hdf5Image* image;
};

H5FD_t* open_image(const char*, unsigned, hid_t access, haddr_t) {
  auto* file = new ImageFile{};
  file->image = static_cast<const Information*>(H5Pget_driver_info(access))->image;
  return &file->base;
}

herr_t close_image(H5FD_t* file) {
  delete mine(file);
  return 0;
}

herr_t query_image(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA;
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return mine(file)->end_of_allocation; }

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  mine(file)->end_of_allocation = end;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return static_cast<haddr_t>(mine(file)->image->size());
}

herr_t read_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t size, void* bytes) {
  mine(file)->image->read(static_cast<std::int64_t>(offset),
                          {static_cast<std::byte*>(bytes), size});
  return 0;
}

herr_t write_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t size,
                   const void* bytes) {
  mine(file)->image->write(static_cast<std::int64_t>(offset),
                           {static_cast<const std::byte*>(bytes), size});
  return 0;
}

herr_t truncate_image(H5FD_t* file, hid_t, hbool_t) {
  mine(file)->image->resize(static_cast<std::int64_t>(mine(file)->end_of_allocation));
  return 0;
}

H5FD_class_t image_driver() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // in the range for private use
#endif
  driver.name = "octant_image";
  driver.maxaddr = std::numeric_limits<std::int64_t>::max();
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Information);
  driver.open = open_image;
  driver.close = close_image;
  driver.query = query_image;
  driver.get_eoa = end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = end_of_file;
  driver.read = read_image;
  driver.write = write_image;
  driver.truncate = truncate_image;
  return driver;
}

}  // namespace

Hdf5Handle access_to_image(Hdf5Image& image) {
  static const H5FD_class_t functions = image_driver();
  static const hid_t driver = H5FDregister(&functions);
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  // Keeps the rows of compressed datasets together, with few tables in between.
  H5Pset_meta_block_size(access, 1 << 16);
  const Information information{&image};
  H5Pset_driver(access, driver, &information);
  return access;
}

}  // namespace octant

#endif
