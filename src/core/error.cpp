#include "core/error.hpp"

namespace octant {

namespace {

// The path from `src/` on: the rest depends on where somebody cloned the repository.
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
