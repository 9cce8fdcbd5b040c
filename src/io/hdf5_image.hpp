// Part of an HDF5 file that HDF5 itself writes, held in memory until it is complete. Internal to
// io/.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "io/files.hpp"
#include "io/hdf5_handle.hpp"

namespace octant {

// Bytes at scattered positions of a file: HDF5's tables between the rows of datasets; the rows are
// never stored here. A write to memory cannot fail for lack of disk space, which HDF5 does not
// handle: it leaves the file half closed, and crashes when the program ends.
class Hdf5Image {
 public:
  // Stores bytes at a position of the file.
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  // Sets dummy bytes for rows that ranks will write themselves: HDF5 allocates their position, and
  // nothing is stored.
  void set_dummy_rows(const std::byte* bytes) { dummy_rows_ = bytes; }
  // Position that HDF5 has given to the dummy bytes.
  std::int64_t dummy_rows_offset() const { return dummy_rows_offset_; }
  // Reads bytes from a position; zeros where nothing was written.
  void read(std::int64_t offset,
            std::span<std::byte> bytes) const;  // zero where nothing was written

  // Length of the file, as set by HDF5.
  std::int64_t size() const { return size_; }
  // Sets the length of the file.
  void resize(std::int64_t size) { size_ = size; }

  // Writes the stored bytes to their positions, and sets the file's length.
  void write_to(PosixFile& file) const;

 private:
  static constexpr std::int64_t k_page = 4096;
  struct Page {
    std::array<std::byte, k_page> bytes{};
    std::bitset<k_page> written;
  };

  std::map<std::int64_t, Page> pages_;  // by offset / k_page
  std::int64_t size_ = 0;
  const std::byte* dummy_rows_ = nullptr;
  std::int64_t dummy_rows_offset_ = 0;
};

// Access property list with which HDF5 creates its file in the image, which must outlive the file.
Hdf5Handle access_to_image(Hdf5Image& image);

}  // namespace octant
