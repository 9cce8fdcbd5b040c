// Tells users what of a file is not read.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "core/log.hpp"
#include "io/hdf5_file.hpp"

namespace octant {

// Warns of the members of a group, by name and in one message, that are none of those that are
// read; nothing if there is no such group. Collective.
inline void report_unread(const Hdf5Reader& file, const std::string& group,
                          const std::vector<std::string>& read) {
  if (!file.exists(group)) return;
  std::vector<std::string> unread;
  for (const std::string& name : file.children(group))
    if (std::find(read.begin(), read.end(), name) == read.end()) unread.push_back(name);
  if (!unread.empty())
    log::warn("{}: {}: not read: {}", file.path(), group, fmt::join(unread, ", "));
}

}  // namespace octant
