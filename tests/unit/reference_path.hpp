// Reference data that other programs made, in the folder that the variable OCTANT_DATA names.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace octant {

// The path of a file or folder of the reference data, such as "galaxy/bondi_lambda.csv". Empty
// where OCTANT_DATA is not set or the folder lacks it: the test is then skipped.
inline std::string reference_path(const std::string& name) {
  const char* folder = std::getenv("OCTANT_DATA");
  const std::string path = folder ? std::string(folder) + "/" + name : "";
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace octant
