// What an HDF5 file holds, but for the elements of its datasets. One rank reads it and tells the
// others, so that a file's description is read once and not by every rank. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hdf5.h>

#include "io/hdf5_file.hpp"

namespace octant {

struct StoredAttribute {
  AttributeValue value;
  std::string problem;  // why there is no value
};

struct StoredObject {
  enum class Kind : std::uint8_t { group, dataset, other };
  Kind kind = Kind::other;
  std::string problem;  // why it cannot be opened
  std::map<std::string, StoredAttribute> attributes;

  // Of datasets: extents, the type of elements as H5Tencode() gives it, and where they begin in the
  // file; -1 where they do not lie in one piece as they are.
  std::vector<std::int64_t> extents;
  std::vector<std::byte> type;
  std::int64_t place = -1;
};

// By absolute path; the root group is "/".
using FileContents = std::map<std::string, StoredObject>;

// Of all links of a file and what they lead to. What cannot be read is told by the objects; throws
// InputError with HDF5's reason where a group's links cannot be.
FileContents read_contents(hid_t file);

// For other ranks.
std::vector<std::byte> packed(const FileContents& contents);
FileContents unpacked(const std::vector<std::byte>& bytes);

}  // namespace octant
