#include "core/log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "core/own_files.hpp"

namespace octant::log {

namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warn: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    default: return spdlog::level::off;
  }
}

// Returns true if colours are disabled, also under mpirun, whose pipes look like terminals
// (https://no-color.org).
bool is_plain() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0';
}

template <class Sink>
std::unique_ptr<spdlog::logger> screen_logger() {
  const auto colours = is_plain() ? spdlog::color_mode::never : spdlog::color_mode::automatic;
  auto logger = std::make_unique<spdlog::logger>("octant", std::make_shared<Sink>(colours));
  logger->set_pattern("%^%v%$");
  logger->set_error_handler([](const std::string&) {});  // the terminal or pipe may be closed
  return logger;
}

// Outputs of this process.
struct Destinations {
  std::unique_ptr<spdlog::logger> normal = screen_logger<spdlog::sinks::stdout_color_sink_mt>();
  std::unique_ptr<spdlog::logger> urgent = screen_logger<spdlog::sinks::stderr_color_sink_mt>();
  std::unique_ptr<spdlog::logger> file;
  Level level = Level::info;
  bool status_is_shown = false;
  std::optional<Clock> status_age;  // time since the last status line; empty: none
};

Destinations& destinations() {
  static Destinations current;
  return current;
}

void erase_status() {
  if (destinations().status_is_shown) {
    std::fputs("\r\033[K", stdout);
    std::fflush(stdout);
    destinations().status_is_shown = false;
  }
}

// Warns once about a failed write; a full disk must not end a run because of its log.
void warn_once(const std::string& reason) {
  static bool warned = false;
  if (!std::exchange(warned, true))
    destinations().urgent->warn("some lines could not be written to the log file: {}", reason);
}

// Sink that appends to the file, line by line.
class OwnFileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit OwnFileSink(const std::string& path)
      : descriptor_(open_own_file(path, Absent::is_created, Position::at_end)) {}
  ~OwnFileSink() override { ::close(descriptor_); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (std::size_t begin = 0; begin < line.size();) {
      const ssize_t written = ::write(descriptor_, line.data() + begin, line.size() - begin);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw RunError("{}", system_reason());
      begin += static_cast<std::size_t>(written);
    }
  }
  void flush_() override {}

 private:
  int descriptor_;
};

// Returns null for a link, which is not followed: the run continues without a log file.
std::unique_ptr<spdlog::logger> file_logger(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored))) {
    warn_once(fmt::format("{} is a symbolic link; remove the link", file));
    return nullptr;
  }
  try {
    auto logger = std::make_unique<spdlog::logger>("octant", std::make_shared<OwnFileSink>(file));
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e  %-7l  %v");
    logger->set_level(spdlog::level::debug);
    logger->set_error_handler(warn_once);
    return logger;
  } catch (const RunError& failure) {
    throw InputError("cannot write the log file {}: {}", file, failure.what());
  }
}

}  // namespace

void start(int rank, const std::string& file, Level level) {
  erase_status();
  auto& to = destinations();
  to.level = rank == 0 ? level : Level::off;
  to.file = rank == 0 && !file.empty() ? file_logger(file) : nullptr;
  to.normal->set_level(spdlog::level::debug);
}

void write(Level level, std::string_view line) {
  auto& to = destinations();
  if (level < to.level) return;
  const std::string text = printable(line, true);
  erase_status();
  auto& screen = level >= Level::warn ? *to.urgent : *to.normal;
  const spdlog::string_view_t shown(text.data(), text.size());
  screen.log(spdlog_level(level), shown);
  screen.flush();
  if (to.file) to.file->log(spdlog_level(level), shown);
}

void show_status(std::string_view line) {
  constexpr double k_seconds_between = 0.2;
  auto& to = destinations();
  if (to.level > Level::info || is_plain() || ::isatty(STDOUT_FILENO) == 0) return;
  if (to.status_age && to.status_age->seconds() < k_seconds_between) return;
  to.status_age.emplace();
  std::fputs("\r\033[K", stdout);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  to.status_is_shown = true;
}

}  // namespace octant::log
