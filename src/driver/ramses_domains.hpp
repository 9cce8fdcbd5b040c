// The domains of an output of RAMSES: consecutive pieces of a space-filling curve, by which its
// readers choose the files that a region lies in.
//
// The curve is Hilbert's as RAMSES draws it, which is ours (decomp/hilbert.hpp) with y and z
// exchanged. A cell of level l is one of 2^l along each axis of the box; it belongs to the domain
// that its centre lies in, and an oct to that of the cell it divides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver/contents.hpp"

namespace octant::driver {

using RamsesPlace = std::array<std::int64_t, 3>;  // of a cell on its level, or of the oct in it

class RamsesDomains {
 public:
  // Shares out the mesh in equal numbers of octs that have leaves, for which no piece of the curve
  // is cut that Octant keeps together: octants, or blocks of 2^3 cells. Level 0 of the mesh is
  // level `base`. Collective.
  RamsesDomains(const MeshContents& contents, int base, int count);

  int count() const { return static_cast<int>(walls_.size()) + 1; }

  // The domains' ends on the curve, 0 and its end included, as keys of 3 `bits` bits; exact.
  std::vector<double> bounds(int bits) const;

  int owner(int level, const RamsesPlace& cell) const;

  // Those that hold a copy of the oct in this cell, its owner included, in ascending order: all
  // that reach into the cell or one of the 26 around it. So a domain holds the octs around each of
  // its own, those that contain what it holds, and all that cells of its octs are divided into.
  std::vector<int> holders(int level, const RamsesPlace& cell) const;

 private:
  struct Piece {
    Key begin, end;  // its last key
  };
  Piece piece(int level, const RamsesPlace& cell) const;
  int domain_at(Key key) const;

  int bits_;  // of a coordinate on the curve
  std::array<bool, 3> periodic_;
  std::vector<Key> walls_;  // where domains 1, 2, ... begin
};

}  // namespace octant::driver
