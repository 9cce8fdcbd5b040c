// Fields in HDF5 files, as datasets [k][j][i] of the whole grid. A rank writes and reads plane by
// plane, so that it needs no copy of a field. All functions are collective.
#pragma once

#include <string>

#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"

namespace octant::dns {

void write_field(Hdf5Writer& file, const Domain& domain, const std::string& dataset,
                 const Field& field, const DatasetMeaning& meaning);

// Throws InputError if the dataset is missing or of another grid.
void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field);

// The faces on lower sides through which fluid leaves, as datasets /lower_faces/u [k][j][1],
// /lower_faces/v [k][1][i] and /lower_faces/w [1][j][i]; nothing where there are none. What was
// written without them is read as if the velocity had no gradient there.
void write_lower_faces(Hdf5Writer& file, const Domain& domain, const State& state);
void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state);

}  // namespace octant::dns
