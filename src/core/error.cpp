#include "core/error.hpp"

namespace octant {

namespace {

// Returns the path from `src/` on, which does not depend on the location of the repository.
std::string_view path_in_repository(std::string_view file) {
  const auto source = file.rfind("src/");
  return source == std::string_view::npos ? file : file.substr(source);
}

}  // namespace

void fail_requirement(std::string_view condition, std::string_view message, std::string_view file,
                      int line) {
  throw RunError("{} [{}:{} requires {}]", message, path_in_repository(file), line, condition);
}

}  // namespace octant
