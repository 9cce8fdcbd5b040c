#include "telemetry/archive.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "telemetry/parquet_file.hpp"
#include "telemetry/window.hpp"

namespace octant::telemetry {

namespace {

constexpr int k_schema = 1;  // version of the schema in docs/telemetry.md
// Limits of the work at the end of a run to about a second: bytes of files that are decompressed
// and merged, and bytes whose row groups are copied unchanged.
constexpr std::uintmax_t k_max_merged = std::uintmax_t{2} << 20;
constexpr std::uintmax_t k_max_joined = std::uintmax_t{256} << 20;

std::int64_t unix_ns() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Parquet files of a folder, including hidden files of interrupted writers.
std::vector<std::string> parquet_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".parquet") || name.ends_with(".parquet.part"))
      files.push_back(entry.path().string());
  }
  return files;
}

// Creates the folder and lists its contents.
std::vector<std::string> prepare(const std::string& folder, bool restart) {
  try {
    std::filesystem::create_directories(folder);  // may be a link to another disk
    std::vector<std::string> left;
    for (const std::string& path : parquet_files(folder)) {
      if (restart && path.ends_with(".parquet")) left.push_back(path);
      else std::filesystem::remove(path);
    }
    if (::access(folder.c_str(), W_OK) != 0) throw RunError("no permission to write");
    return left;
  } catch (const std::exception& error) {
    throw InputError(
        "{}: cannot write telemetry: {}; check the permissions, or set telemetry.enabled = false",
        folder, error.what());
  }
}

// Returns no metadata for damaged files, which must not prevent a restart.
Metadata metadata_or_none(const std::string& path) {
  try {
    return parquet_metadata(path);
  } catch (const RunError& error) {
    log::warn("{}; the file is left unchanged", error.what());
    return {};
  }
}

// Adds to an error message how to run without telemetry.
void with_advice(const auto& write) {
  try {
    write();
  } catch (const RunError& error) {
    throw RunError("{}; or run with telemetry.enabled = false", error.what());
  }
}

void merge_parquet_whole(std::span<const std::string> inputs, const std::string& path,
                         const Metadata& metadata) {
  with_advice([&] { merge_parquet(inputs, path, metadata); });
}

// Replaces files by a single file with all their rows.
void make_one(const auto& files, const std::string& path, const Metadata& metadata,
              const auto& write) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.path);
  write(paths, path, metadata);
  for (const std::string& before : paths)
    if (before != path) std::filesystem::remove(before);
}

std::string folder_in(const std::string& directory) { return directory + "/telemetry"; }

}  // namespace

Ranks alone() {
  return {.gather =
              [](std::span<const std::byte> bytes) {
                return std::vector<std::byte>(bytes.begin(), bytes.end());
              },
          .collective_try = [](const std::function<void()>& step) { step(); },
          .max = [](double value) { return value; },
          .broadcast = [](std::string&) {},
          .align_clocks = [] { return Alignment{}; }};
}

Archive::Archive(const RunFacts& attributes, const Ranks& ranks)
    : folder_(folder_in(attributes.directory)), ranks_(ranks) {
  ranks_.collective_try([&] {
    if (ranks_.rank == 0) find_identity(prepare(folder_, attributes.restart));
  });
  std::string identity = fmt::format("{} {}", run_, segment_);
  ranks_.broadcast(identity);
  run_ = identity.substr(0, identity.find(' '));
  segment_ = static_cast<std::int16_t>(std::stoi(identity.substr(identity.find(' '))));
  metadata_ = {{"octant.schema", fmt::to_string(k_schema)},
               {"octant.run", run_},
               {"octant.segment", fmt::to_string(segment_)},
               {"octant.ranks", fmt::to_string(ranks_.size)},
               {"octant.ranks_per_node", fmt::to_string(ranks_.ranks_per_node)},
               {"octant.model", attributes.model},
               {"octant.block_size", fmt::to_string(attributes.block_size)},
               {"octant.detail", attributes.detail},
               {"octant.start_unix_ns", fmt::to_string(unix_ns())},
               {"octant.clock_error_ns", "0"},
               {"octant.events_dropped", "0"}};
  metadata_.insert(attributes.extra_metadata.begin(), attributes.extra_metadata.end());
}

void Archive::set_directory(const std::string& directory) {
  OCTANT_REQUIRE(table_files_.empty(), "telemetry already has files in {}", folder_);
  folder_ = folder_in(directory);
}

void Archive::find_identity(const std::vector<std::string>& present) {
  const auto seed = static_cast<std::uint64_t>(unix_ns()) * 0x9E3779B97F4A7C15U ^
                    static_cast<std::uint64_t>(::getpid());
  run_ = fmt::format("{:016x}", seed);
  segment_ = 0;
  for (const std::string& path : present) {
    const Metadata metadata = metadata_or_none(path);
    const auto run = metadata.find("octant.run"), segment = metadata.find("octant.segment");
    if (run == metadata.end() || segment == metadata.end()) continue;
    run_ = run->second;
    segment_ = std::max(segment_, static_cast<std::int16_t>(std::stoi(segment->second) + 1));
  }
}

std::string Archive::path_of(const std::string& table, std::int64_t first,
                             std::int64_t last) const {
  return fmt::format("{}/{}-{:08d}-{:08d}-n{:04d}.parquet", folder_, table, first, last,
                     ranks_.node);
}

Archive::TableFiles& Archive::files_of(const std::string& table) {
  const auto found = std::find_if(table_files_.begin(), table_files_.end(),
                                  [&](const TableFiles& s) { return s.table == table; });
  if (found != table_files_.end()) return *found;
  return table_files_.emplace_back(TableFiles{table, {}, {}});
}

void Archive::write(const Window& own, std::int64_t first, std::int64_t last,
                    std::int64_t clock_error_ns) {
  metadata_["octant.clock_error_ns"] = fmt::to_string(clock_error_ns);
  const double of_node = ranks_.max(static_cast<double>(own.bytes())) * ranks_.ranks_per_node;
  const std::int64_t steps = std::max<std::int64_t>(1, last - first + 1);
  const auto pieces =
      std::min(steps, 1 + static_cast<std::int64_t>(of_node / double{k_max_gathered}));
  if (pieces == 1) return write_piece(own, first, last);
  for (std::int64_t n = 0; n < pieces; ++n) {
    const std::int64_t begin = first + n * steps / pieces;
    const std::int64_t end = first + (n + 1) * steps / pieces - 1;
    write_piece(own.between(begin, end), begin, end);
  }
}

void Archive::write_piece(const Window& own, std::int64_t first, std::int64_t last) {
  const bool one_rank_per_node = ranks_.ranks_per_node == 1;
  const auto all = one_rank_per_node ? std::vector<std::byte>() : ranks_.gather(own.packed());
  ranks_.collective_try([&] {
    if (!ranks_.writes) return;
    Window gathered;
    gathered.append_packed(all);
    const Window& rows = one_rank_per_node ? own : gathered;
    metadata_["octant.events_dropped"] = fmt::to_string(rows.events_dropped);
    rows.for_each_table([&](const char* table, std::size_t count, std::vector<Column> columns) {
      write_table(table, count, std::move(columns), first, last);
    });
  });
}

void Archive::write_table(const std::string& table, std::size_t rows, std::vector<Column> columns,
                          std::int64_t first, std::int64_t last) {
  if (rows == 0) return;
  columns.insert(columns.begin(), {"segment", std::vector<std::int16_t>(rows, segment_)});
  const std::string path = path_of(table, first, last);
  with_advice([&] { write_parquet(path, columns, metadata_); });
  files_of(table).fresh.push_back({first, last, path});
}

Archive::File Archive::merged(const std::string& table, const std::vector<File>& files) const {
  const File result{files.front().first, files.back().last,
                    path_of(table, files.front().first, files.back().last)};
  make_one(files, result.path, metadata_, merge_parquet_whole);
  return result;
}

void Archive::merge() {
  ranks_.collective_try([&] {
    for (auto& [table, merged_files, fresh] : table_files_) {
      if (fresh.empty()) continue;
      merged_files.push_back(fresh.size() > 1 ? merged(table, fresh) : fresh.front());
      fresh.clear();
    }
  });
}

void Archive::merge_all() {
  merge();
  ranks_.collective_try([&] {
    std::uintmax_t compressed = 0;
    for (auto& [table, files, fresh] : table_files_) {
      std::uintmax_t bytes = 0;
      for (const File& file : files) bytes += std::filesystem::file_size(file.path);
      if (files.size() < 2 || bytes > k_max_joined) continue;
      if (compressed + bytes <= k_max_merged) {
        compressed += bytes;
        files = {merged(table, files)};
        continue;
      }
      const File result{files.front().first, files.back().last,
                        path_of(table, files.front().first, files.back().last)};
      make_one(files, result.path, metadata_, join_parquet);
      files = {result};
    }
  });
}

}  // namespace octant::telemetry
