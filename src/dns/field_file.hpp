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

}  // namespace octant::dns
