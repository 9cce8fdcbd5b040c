// Fields in files, as datasets [k][j][i] of the whole grid. A rank writes and reads plane by plane,
// so that it needs no copy of a field.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"

namespace octant::dns {

// A field, or a part of it, as files have it.
struct StoredField {
  std::string room;  // "fields", or "lower_faces" of what lies on the lower sides of the domain
  std::string name;
  DatasetMeaning meaning;
  int face_axis;        // its values lie on the upper faces along this axis; -1: at the centres
  pencil::Cells whole;  // its extents along x, y, z
  pencil::Box own;      // this rank's part of them
  // The part of one of this rank's planes, counted from the first: [j][i]. Local.
  std::function<std::vector<double>(int)> plane;

  bool is_inside() const { return room == "fields"; }
};

// All that files hold of a flow: velocity, pressure and scalar (null: none) in the cells, and on
// lower sides through which fluid leaves, as [k][j][1], [k][1][i] and [1][j][i], the velocity
// there. The fields must outlive the list.
std::vector<StoredField> stored_fields(const Domain& domain, const State& state,
                                       const Field* scalar);

// Throws InputError if the dataset is missing or of another grid. Collective.
void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field);

// The faces on lower sides through which fluid leaves. What was written without them is read as if
// the velocity had no gradient there. Collective.
void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state);

}  // namespace octant::dns
