// Checks of the shapes and values in a file that may have been edited. All functions throw
// InputError on every rank, with the names of the file and the object.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "core/log.hpp"
#include "io/hdf5_file.hpp"

namespace octant {

// Throws unless a dataset has these extents, slowest first. Collective.
void require_shape(const Hdf5Reader& file, const std::string& dataset,
                   const std::vector<std::int64_t>& extents);

// Reads numbers with Hdf5Reader::read that must be finite and greater than `bound`. Collective.
std::vector<double> read_finite(const Hdf5Reader& file, const std::string& dataset, RowRange range,
                                double bound = -std::numeric_limits<double>::infinity());

// Reads a whole dataset of such numbers with Hdf5Reader::read_on_root. Collective.
std::vector<double> read_finite_on_root(const Hdf5Reader& file, const std::string& dataset,
                                        double bound = -std::numeric_limits<double>::infinity());

// Reads an attribute that must be a finite number. Collective.
double finite_attribute(const Hdf5Reader& file, const std::string& object, const std::string& name);
// Reads an attribute of `count` finite numbers. Collective.
std::vector<double> finite_attributes(const Hdf5Reader& file, const std::string& object,
                                      const std::string& name, std::size_t count);
// Reads an attribute that must be a non-negative integer. Collective.
std::int64_t count_attribute(const Hdf5Reader& file, const std::string& object,
                             const std::string& name);
// Reads an attribute of `count` non-negative integers. Collective.
std::vector<std::int64_t> count_attributes(const Hdf5Reader& file, const std::string& object,
                                           const std::string& name, std::size_t count);

// Warns, in one message, of the members of a group that are not among those that are read; no
// warning if there is no such group. Collective.
inline void report_unread(const Hdf5Reader& file, const std::string& group,
                          const std::vector<std::string>& read) {
  if (!file.exists(group)) return;
  std::vector<std::string> unread;
  for (const std::string& name : file.children(group))
    if (std::find(read.begin(), read.end(), name) == read.end()) unread.push_back(name);
  if (!unread.empty()) log::warn("{}: {}: ignored {}", file.path(), group, fmt::join(unread, ", "));
}

}  // namespace octant
