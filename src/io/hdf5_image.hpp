// The part of an HDF5 file that HDF5 itself writes, kept in memory until it is complete.
// Internal to io/.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "io/hdf5_handle.hpp"
#include "io/posix_file.hpp"

namespace octant {

// Bytes at scattered places of a file: HDF5's tables between the rows of datasets, which are not
// kept here, even if HDF5 is made to write them. A write to memory cannot fail for want of disk
// space, which HDF5 does not survive: it leaves the file half closed, and crashes when the program
// ends.
class Hdf5Image {
 public:
  void write(std::int64_t place, std::span<const std::byte> bytes);
  // HDF5 may be given bytes in place of rows that ranks will write themselves: it finds a place for
  // them, and nothing is kept.
  void stand_in(const std::byte* bytes) { stand_in_ = bytes; }
  std::int64_t place_of_stand_in() const { return place_of_stand_in_; }
  void read(std::int64_t place,
            std::span<std::byte> bytes) const;  // zero where nothing was written

  // The length of the file, as HDF5 wants it.
  std::int64_t size() const { return size_; }
  void resize(std::int64_t size) { size_ = size; }

  // Writes what is kept here to the places where it belongs, and gives the file its length.
  void write_to(PosixFile& file) const;

 private:
  static constexpr std::int64_t k_page = 4096;
  struct Page {
    std::array<std::byte, k_page> bytes{};
    std::bitset<k_page> written;
  };

  std::map<std::int64_t, Page> pages_;  // by place / k_page
  std::int64_t size_ = 0;
  const std::byte* stand_in_ = nullptr;
  std::int64_t place_of_stand_in_ = 0;
};

// Makes HDF5 create its file in the image, which must live until the file is closed.
Hdf5Handle access_to_image(Hdf5Image& image);

}  // namespace octant
