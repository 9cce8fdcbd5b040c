// The two error types of Octant, and the check of invariants.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace octant {

// Invalid user input: `octant` ends with exit code 2. The message contains the file, the line or
// key, the expectation, and a remedy.
class InputError : public std::runtime_error {
 public:
  template <class... Args>
  explicit InputError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// Failure of a run after its start: `octant` ends with exit code 1 on every rank.
class RunError : public std::runtime_error {
 public:
  template <class... Args>
  explicit RunError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// Throws the RunError of a failed OCTANT_REQUIRE.
[[noreturn]] void fail_requirement(std::string_view condition, std::string_view message,
                                   std::string_view file, int line);

}  // namespace octant

// Throws a RunError with file and line unless `condition` holds. Active in every build. The message
// is a fmt format string with its arguments, which are evaluated only on failure. Host code only.
#define OCTANT_REQUIRE(condition, ...)                                                        \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      ::octant::fail_requirement(#condition, ::fmt::format(__VA_ARGS__), __FILE__, __LINE__); \
    }                                                                                         \
  } while (false)
