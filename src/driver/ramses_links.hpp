// What the files of a domain list of a level of RAMSES's tree, and how these octs are linked.
//
// Beyond walls RAMSES keeps images of the octs that touch them, in regions with lists of their own
// (its &BOUNDARY_PARAMS): two for each axis with walls, below and above, in the order of axes. What
// lies beyond several walls is in the region of the last axis.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decomp/key_table.hpp"
#include "driver/ramses_domains.hpp"
#include "io/ramses_writer.hpp"

namespace octant::driver {

// An oct in the box, on its way to who writes a domain.
struct OctItem {
  Key key;
  std::int32_t owner;
  std::uint32_t refined;
};

// An oct beyond walls: which of those in the box it is the image of, and, bit by axis, along which
// it is mirrored.
struct OctImage {
  RamsesPlace place;
  std::int32_t region;
  std::uint32_t mirrored;
  std::int64_t of;
};

// A level in the order of the files: by owner, then by key; then the images, by region.
struct HeldLevel {
  int number = 1;
  std::vector<OctItem> octs;
  std::vector<OctImage> images;
  std::int32_t first_oct = 1;  // the number that the first one has in the files

  std::int64_t size() const { return std::ssize(octs) + std::ssize(images); }
};

// Sets the images of its octs.
void add_images(const RamsesOutput& output, HeldLevel& level);

// Where the numbers of octs are found, also of images.
class OctNumbers {
 public:
  OctNumbers() = default;
  explicit OctNumbers(const HeldLevel& level);

  // Of the oct at a place; 0 if there is none.
  std::int32_t at(const RamsesPlace& place) const;

 private:
  KeyTable<std::int32_t> numbers_;
};

// The links of a level's octs, given the numbers of those on the levels beside it. A file has room
// for `most` octs.
RamsesTreeLevel linked(const RamsesOutput& output, const RamsesDomains& domains,
                       const HeldLevel& level, const OctNumbers& coarser, const OctNumbers& finer,
                       std::int64_t most);

// The octs that the coarse cells are divided into, by cell.
std::vector<std::int32_t> sons_of_coarse_cells(const RamsesOutput& output, const HeldLevel& first);

}  // namespace octant::driver
