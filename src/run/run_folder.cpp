#include "run/run_folder.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <regex>
#include <system_error>
#include <vector>

#include <sys/stat.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/own_files.hpp"

namespace octant {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_lock = "run.lock";

// Returns BASE.WORD-N with the smallest unused N.
std::string free_name(const std::string& base, const char* word) {
  for (int n = 1;; ++n) {
    const std::string name = fmt::format("{}.{}-{}", base, word, n);
    if (!fs::exists(fs::symlink_status(name))) return name;
  }
}

// Creates the folder BASE.WORD-N with the smallest unused N.
std::string make_free_folder(const std::string& base, const char* word) {
  for (;;) {
    std::string name = free_name(base, word);
    std::error_code error;
    if (fs::create_directory(name, error)) return name;
    if (error)
      throw RunError("cannot create the directory '{}': {}", name, system_reason(error.value()));
  }
}

// Returns true for a mount point, which cannot be renamed.
bool is_mount_point(const fs::path& directory) {
  struct stat own, parent;
  return ::stat(directory.c_str(), &own) == 0 &&
         ::stat(directory.parent_path().c_str(), &parent) == 0 && own.st_dev != parent.st_dev;
}

FileLock take_lock(const std::string& directory) {
  FileLock lock(directory + "/" + k_lock);
  if (!lock.is_held())
    throw InputError(
        "output.directory = \"{}\": another run is writing to it: {}; wait until that run ends, "
        "stop it, or choose another --output",
        directory, lock.holder());
  if (!lock.is_enforced())
    log::warn(
        "{}: the file system does not support file locks: a second run could write to the same "
        "directory",
        directory);
  return lock;
}

// Returns the number in a file name; the largest integer if it overflows.
std::int64_t number_of(const std::string& digits) {
  std::int64_t number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return result.ec == std::errc() ? number : std::numeric_limits<std::int64_t>::max();
}

bool contains(const std::string& directory, const std::regex& name) {
  if (!fs::is_directory(directory)) return false;
  for (const auto& entry : fs::directory_iterator(directory))
    if (std::regex_match(entry.path().filename().string(), name)) return true;
  return false;
}

// Removes temporary files of a killed run. No other process writes them, because the folder is
// locked.
void remove_temporary_files(const std::string& directory) {
  static const std::regex remains(
      "(?:run\\.toml|history\\.csv|statistics\\.h5|profiles\\.csv|"
      "(?:snap|checkpoint|coarse|power|slice_[xyz][^_]*)_[0-9]{5,}\\.(?:h5|csv|xdmf)(?:\\.rows)?)"
      "\\.part|\\.[a-z_]+(?:_[0-9]+)?\\.parquet(?:\\.part)?");
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (std::regex_match(entry.path().filename().string(), remains) &&
        !fs::is_directory(entry.symlink_status()))
      found.push_back(entry.path());
  for (const fs::path& path : found) {
    std::error_code error;
    if (!fs::remove(path, error) && error)
      log::warn("cannot remove {}: {}", path.string(), system_reason(error.value()));
  }
}

void rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    throw RunError("cannot rename '{}' to '{}': {}", from, to, system_reason());
}

}  // namespace

bool holds_run(const std::string& directory) {
  static const std::regex results("history\\.csv|(snap|checkpoint)_[0-9]{5,}\\.h5"),
      telemetry(".*\\.parquet");
  return contains(directory, results) || contains(directory + "/telemetry", telemetry);
}

RunFolder::RunFolder(const Communicator& communicator, const std::string& directory,
                     OutputMode mode)
    : communicator_(communicator) {
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    try {
      claim(directory, mode);
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      throw InputError(
          "output.directory = \"{}\" is not writable: {}; check its permissions and the available "
          "disk space",
          directory, error.what());
    }
  });
  communicator_.broadcast(path_);
  temporary_ = communicator_.any(temporary_);
}

RunFolder::~RunFolder() {
  if (!temporary_ || !communicator_.is_root()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) log::warn("cannot remove {}: {}", path_, system_reason(error.value()));
}

void RunFolder::claim(const std::string& directory, OutputMode mode) {
  fs::create_directories(directory);
  lock_ = take_lock(directory);
  path_ = directory;
  if (mode == OutputMode::resume) remove_temporary_files(directory);
  if (mode == OutputMode::resume || !holds_run(directory)) return;
  if (mode == OutputMode::create)
    throw InputError(
        "output.directory = \"{}\" already contains a run; to continue it: --restart latest; to "
        "move it aside: --overwrite; to keep both: another --output",
        directory);
  open_temporary(directory);
}

void RunFolder::open_temporary(const std::string& directory) {
  place_ = fs::canonical(directory).string();
  if (is_mount_point(place_))
    throw InputError(
        "--overwrite: \"{}\" is the root of a file system, which cannot be moved aside; choose a "
        "subdirectory as --output",
        directory);
  path_ = make_free_folder(place_, "new");
  temporary_ = true;
  old_lock_ = std::move(lock_);
  lock_ = take_lock(path_);
}

void RunFolder::commit() {
  communicator_.collective_try([&] {
    if (communicator_.is_root() && temporary_) exchange();
  });
  temporary_ = false;
  communicator_.broadcast(path_);
}

// Exchanges the folders such that both runs are complete even if the process is killed.
void RunFolder::exchange() {
  const std::string old = free_name(place_, "old");
  rename(place_, old);
  try {
    rename(path_, place_);
  } catch (const RunError&) {
    rename(old, place_);
    throw;
  }
  sync_directory_of(place_);
  path_ = place_;
  old_lock_.reset();
  log::info("moved the existing run from {} to {}", place_, old);
}

void RunFolder::supersede_snapshots(std::int64_t first, std::int64_t first_cutout) {
  static const std::regex of_snapshot("(?:snap|power)_([0-9]{5,})\\..*"),
      of_ramses("output_([0-9]{5,})"),  // numbered from 1
      of_cutout("(?:slice_[xyz][^_]*|coarse)_([0-9]{5,})\\..*");
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    std::vector<fs::path> later;
    std::smatch match;
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if ((std::regex_match(name, match, of_snapshot) && number_of(match[1]) >= first) ||
          (std::regex_match(name, match, of_ramses) && number_of(match[1]) > first) ||
          (std::regex_match(name, match, of_cutout) && number_of(match[1]) >= first_cutout))
        later.push_back(entry.path());
    }
    if (later.empty()) return;
    const std::string shelf = make_free_folder(path_ + "/snapshots", "superseded");
    for (const fs::path& file : later)
      rename(file.string(), (fs::path(shelf) / file.filename()).string());
    log::info("moved snapshots written after the checkpoint, starting with {}, to {}", first,
              shelf);
  });
}

}  // namespace octant
