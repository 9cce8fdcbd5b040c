// A ball made of whole cells of the finest level, whatever the level that asks for it.
#pragma once

#include <array>
#include <cstdint>

#include "mesh/geometry.hpp"

namespace octant::problems {

// The cells of the finest level (mesh.max_level, whether or not they exist) whose centres lie
// within a distance of a point. Across periodic boundaries the nearest image counts. The lattice
// goes on beyond other boundaries, so that a ball cut by a reflecting wall stays a part of the
// whole ball.
class LatticeBall {
 public:
  LatticeBall() = default;

  // The radius is in cells of the finest level; from sqrt(3)/2 on the ball holds at least one cell.
  // Throws InputError if the centre is outside the domain or the ball too large for a periodic one.
  LatticeBall(const mesh::Geometry& geometry, const std::array<double, 3>& centre, double radius);

  // Volume of the whole ball.
  double volume() const { return static_cast<double>(cells_) * cell_ * cell_ * cell_; }

  // The share of a cell's volume that belongs to the ball. The cell may be of any level.
  double fraction(const std::array<double, 3>& cell_centre, double cell_size) const;

 private:
  using Index = std::int64_t;
  struct Range {
    Index begin, end;
  };
  Index count(const std::array<Range, 3>& ranges) const;

  double cell_ = 1.0, radius_ = 0.0;          // radius in cells
  std::array<double, 3> lower_{}, centre_{};  // centre in cells from the lower corner
  std::array<Index, 3> period_{};             // cells; 0 where not periodic
  std::array<Range, 3> bounds_{};
  Index cells_ = 0;
};

}  // namespace octant::problems
