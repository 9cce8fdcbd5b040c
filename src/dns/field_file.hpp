// Fields in files, as datasets [k][j][i] of the global grid. Ranks write and read plane by plane,
// without a copy of the field.
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
  std::string group;  // HDF5 group: "fields", or "lower_faces" for lower outflow sides
  std::string name;
  DatasetMeaning meaning;
  int face_axis;        // values are on the upper faces along this axis; -1: at the centres
  pencil::Cells whole;  // extents of the dataset along x, y, z
  pencil::Box own;      // this rank's part
  // Function that returns this rank's part of plane k, counted from its first plane: [j][i]. Local.
  std::function<std::vector<double>(int)> plane;

  // True for a field on all cells, false for values on lower outflow sides.
  bool is_inside() const { return group == "fields"; }
};

// Returns all fields of a flow that are written to files: velocity, pressure and scalar (null:
// none) in the cells, and the velocity on lower outflow sides as [k][j][1], [k][1][i] and
// [1][j][i]. The fields must outlive the list.
std::vector<StoredField> stored_fields(const Domain& domain, const State& state,
                                       const Field* scalar);

// Reads a field. Throws InputError if the dataset is missing or has another shape. Collective.
void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field);

// Reads the velocity on lower outflow sides. If the file has no such data, the values of the next
// interior faces are used. Collective.
void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state);

// Returns the cell centres of a grid along an axis.
std::vector<double> centres(const Grid& grid, int axis);
// Returns the upper faces of the cells of a grid along an axis.
std::vector<double> faces(const Grid& grid, int axis);

// Grid stored in a file, in /grid/{x,y,z} and /grid/{x,y,z}_face as in snapshots.
class StoredPoints {
 public:
  // Reads the grid. Throws InputError on every rank if the domain of the file differs from that of
  // the run, or if its points do not ascend. Collective.
  StoredPoints(const Hdf5Reader& file, const Domain& domain);

  // Returns true if the grid of the file equals that of the run: the same number of cells, and the
  // same points if the file contains /grid.
  bool is_same() const { return is_same_; }

  // Interpolates a velocity component, or a cell-centred field (component -1), from a dataset
  // [k][j][i], axis by axis with the four nearest points, including values that boundaries
  // prescribe. Exact for cubic polynomials. Results do not depend on the number of ranks. Throws
  // InputError on every rank if the dataset is missing, has another shape, or contains non-finite
  // values. Collective.
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

// Sets the velocity on the lower outflow side along an axis to that on the next interior faces.
// Local.
void open_lower_faces(const Domain& domain, int axis, State& state);

}  // namespace octant::dns
