// Log lines of a run: on the screen, in colour if it is a terminal and the environment variable
// NO_COLOR is not set, and as plain text in a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace octant::log {

// Severity of a line.
enum class Level { debug, info, warn, error, off };

// Configures the output. Rank 0 writes lines of at least `level` to the screen (warnings and errors
// to stderr, the rest to stdout) and, if `file` is not empty, appends them to that file; all other
// ranks are silent. Before the first call, lines of at least `info` go to the screen only. Throws
// InputError if the file cannot be opened. Lines that cannot be written later are lost; one warning
// is given for the file, none for the screen.
void start(int rank, const std::string& file = "", Level level = Level::info);

// Writes one line.
void write(Level level, std::string_view line);

// Shows a status line, which the next status or log line overwrites. At most five are shown per
// second. Does nothing unless stdout is a terminal, NO_COLOR is not set, and this rank writes to
// the screen.
void show_status(std::string_view line);

// Writes a line of severity `debug`.
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
// Writes a line of severity `info`.
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
// Writes a warning.
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warn, fmt::format(format, std::forward<Args>(args)...));
}
// Writes an error.
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}
// Shows a status line; see show_status().
template <class... Args>
void status(fmt::format_string<Args...> format, Args&&... args) {
  show_status(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace octant::log
