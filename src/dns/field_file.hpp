// Fields in HDF5 files, as datasets [k][j][i] of the whole grid.
#pragma once

#include <string>
#include <vector>

#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"
#include "pencil/transpose.hpp"

namespace octant::dns {

// Moves fields between the pencils and the whole planes that a rank reads and writes. Memory: three
// fields, while it lives. All functions are collective.
class FieldShuffle {
 public:
  explicit FieldShuffle(const Domain& domain);

  void write(Hdf5Writer& file, const std::string& dataset, const Field& field,
             const DatasetMeaning& meaning);
  // Throws InputError if the dataset is missing or of another grid.
  void read(const Hdf5Reader& file, const std::string& dataset, Field& field);

 private:
  const Domain& domain_;
  RowRange planes_;  // of this rank
  pencil::Transpose to_planes_;
  std::vector<double> pencil_, slab_;
};

}  // namespace octant::dns
