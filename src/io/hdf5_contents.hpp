// Contents of an HDF5 file except the elements of its datasets. One rank reads and broadcasts them,
// so that a file's description is read once and not by every rank. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "io/files.hpp"
#include "io/hdf5_file.hpp"

namespace octant {

// Variable-length texts in HDF5 files. HDF5 stores them in global heaps, which have no checksums,
// and its own reader follows damaged references to invalid memory. This reader checks them.
// Internal to io/.

// Heaps of an open file, read by system calls.
class Hdf5Heaps {
 public:
  // The file must stay open as long as this object is used.
  explicit Hdf5Heaps(hid_t file) : file_(file) {}

  // Text of an attribute with a single variable-length text. Throws InputError if the reference or
  // the heap is damaged.
  std::string text(hid_t attribute);

 private:
  using Heap = std::vector<std::byte>;
  const Heap& heap_at(std::uint64_t address);
  void open();

  hid_t file_;
  std::optional<PosixFile> bytes_;
  std::uint64_t begin_ = 0;  // start of the HDF5 part of the file
  std::map<std::uint64_t, Heap> heaps_;
};

// Attribute in a file.
struct StoredAttribute {
  AttributeValue value;
  std::string problem;  // reason for a missing value
};

// Group or dataset in a file.
struct StoredObject {
  // Type of the object.
  enum class Kind : std::uint8_t { group, dataset, other };
  Kind kind = Kind::other;
  std::string problem;  // reason why it cannot be opened, or why it is refused
  std::map<std::string, StoredAttribute> attributes;

  // Datasets: extents, the type of elements as given by H5Tencode(), and their position in the
  // file; -1 if they are not contiguous and uncompressed.
  std::vector<std::int64_t> extents;
  std::vector<std::byte> type;
  std::int64_t offset = -1;
};

// Objects by absolute path; the root group is "/".
using FileContents = std::map<std::string, StoredObject>;

// Reads all links of a file and their targets. Unreadable objects record the problem, as do objects
// whose values lie in other files: external links, external storage and virtual datasets. Throws
// InputError with HDF5's reason if the links of a group cannot be read.
FileContents read_contents(hid_t file);

// Packs contents as bytes for other ranks.
std::vector<std::byte> packed(const FileContents& contents);
// Inverse of packed().
FileContents unpacked(const std::vector<std::byte>& bytes);

}  // namespace octant
