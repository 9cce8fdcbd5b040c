// What a program may expect of a file that somebody may have edited: shapes, and numbers that are
// numbers. Everything throws InputError on every rank, naming the file and the object.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "io/hdf5_file.hpp"

namespace octant {

// Throws unless a dataset has these extents, slowest first. Collective.
void require_shape(const Hdf5Reader& file, const std::string& dataset,
                   const std::vector<std::int64_t>& extents);

// Hdf5Reader::read of numbers that must be finite, and greater than `bound`. Collective.
std::vector<double> read_finite(const Hdf5Reader& file, const std::string& dataset, RowRange range,
                                double bound = -std::numeric_limits<double>::infinity());

// Attributes: a finite number, an integer that is not negative; as many of them as expected.
// Collective.
double finite_attribute(const Hdf5Reader& file, const std::string& object, const std::string& name);
std::vector<double> finite_attributes(const Hdf5Reader& file, const std::string& object,
                                      const std::string& name, std::size_t count);
std::int64_t count_attribute(const Hdf5Reader& file, const std::string& object,
                             const std::string& name);
std::vector<std::int64_t> count_attributes(const Hdf5Reader& file, const std::string& object,
                                           const std::string& name, std::size_t count);

}  // namespace octant
