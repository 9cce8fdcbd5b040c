// Fields in files, as datasets [k][j][i] of the whole grid. Ranks write and read plane by plane,
// without a copy of a field.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"

namespace octant::dns {

// A field, or a part of it, in a file.
struct StoredField {
  std::string group;  // in files: "fields", or "lower_faces" for lower outflow sides of the domain
  std::string name;
  DatasetMeaning meaning;
  int face_axis;        // values are on the upper faces along this axis; -1: at the centres
  pencil::Cells whole;  // extents of the dataset along x, y, z
  pencil::Box own;      // this rank's part
  // Returns this rank's part of one of its planes, counted from the first: [j][i]. Local.
  std::function<std::vector<double>(int)> plane;

  // True for a field of the cells, false for one of lower outflow sides.
  bool is_inside() const { return group == "fields"; }
};

// Returns all fields of a flow that files contain: velocity, pressure and scalar (null: none) in
// the cells, and the velocity on lower outflow sides as [k][j][1], [k][1][i] and [1][j][i]. The
// fields must outlive the list.
std::vector<StoredField> stored_fields(const Domain& domain, const State& state,
                                       const Field* scalar);

// Reads a field. Throws InputError if the dataset is missing or of another grid. Collective.
void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field);

// Reads the velocity on lower outflow sides. If the file has none, its gradient there is 0.
// Collective.
void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state);

// Returns the cell centres of a grid along an axis.
std::vector<double> centres(const Grid& grid, int axis);
// Returns the upper faces of the cells of a grid along an axis.
std::vector<double> faces(const Grid& grid, int axis);

// Grid of a file, from /grid/{x,y,z} and /grid/{x,y,z}_face as in snapshots.
class StoredPoints {
 public:
  // Throws InputError on every rank if the file's domain is not the run's, or its points do not
  // ascend. Collective.
  StoredPoints(const Hdf5Reader& file, const Domain& domain);

  // Returns true if the file's grid is the run's: the same number of cells, and the same /grid, if
  // the file has one.
  bool is_same() const { return is_same_; }

  // Interpolates a velocity component, or a cell-centred field (-1), from a dataset [k][j][i]: axis
  // by axis, through the four nearest points, including values that boundaries prescribe. Exact for
  // cubic polynomials. Same bits on any ranks. Throws InputError on every rank if the dataset is
  // missing, has another shape, or contains values that are not finite. Collective.
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

// Sets the faces on the lower outflow side along an axis to the values of the next ones inside.
// Local.
void open_lower_faces(const Domain& domain, int axis, State& state);

}  // namespace octant::dns
