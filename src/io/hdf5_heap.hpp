// Texts of variable length in HDF5 files. HDF5 keeps them in global heaps, which have no checksums,
// and its own reader of heaps follows damaged references out of its memory. This one checks them.
// Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "io/posix_file.hpp"

namespace octant {

// The heaps of an open file, which are read by the system's calls.
class Hdf5Heaps {
 public:
  // The file must stay open as long as this object is used.
  explicit Hdf5Heaps(hid_t file) : file_(file) {}

  // The text of an attribute that holds one text of variable length. Throws InputError if the
  // reference or the heap is damaged.
  std::string text(hid_t attribute);

 private:
  using Heap = std::vector<std::byte>;
  const Heap& heap_at(std::uint64_t address);
  void open();

  hid_t file_;
  std::optional<PosixFile> bytes_;
  std::uint64_t begin_ = 0;  // of HDF5's part of the file
  std::map<std::uint64_t, Heap> heaps_;
};

}  // namespace octant
