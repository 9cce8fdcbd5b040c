// Fields from files of another grid: interpolated to the run's.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"

namespace octant::dns {

// The points of a grid along an axis: centres of its cells, or upper faces.
std::vector<double> centres(const Grid& grid, int axis);
std::vector<double> faces(const Grid& grid, int axis);

// A file's grid, by /grid/{x,y,z} and /grid/{x,y,z}_face as in snapshots.
class StoredPoints {
 public:
  // Throws InputError on every rank where the file's domain is not the run's, or its points do not
  // ascend. Collective.
  StoredPoints(const Hdf5Reader& file, const Domain& domain);

  // Whether the file's grid is the run's: it has as many cells, and /grid, if the file has that,
  // says the same.
  bool is_same() const { return is_same_; }

  // Sets a velocity component, or what lies at the centres (-1), from a dataset [k][j][i]: axis by
  // axis, through the four nearest points, which is exact for cubic polynomials; what boundaries
  // prescribe is one of them. The same bits on any ranks. Throws InputError on every rank for a
  // dataset that is missing, of another shape, or holds what is no number. Collective.
  void interpolate(const std::string& dataset, int component, Field& field) const;

 private:
  struct Points {
    std::vector<double> centres, faces;
  };
  const Hdf5Reader& file_;
  const Domain& domain_;
  std::array<Points, 3> points_;
  bool is_same_ = true;
};

// Gives the faces on the lower side along an axis, through which fluid leaves, what the next ones
// inside have. Local.
void open_lower_faces(const Domain& domain, int axis, State& state);

}  // namespace octant::dns
