// Telemetry folder of a run: writes windows of rows as files, and merges files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/parquet_file.hpp"
#include "telemetry/window.hpp"

namespace octant::telemetry {

// Communication functions for the recorder, provided by the owner of a communicator.

// Offset from Observer::now() to the clock of rank 0, and the maximum error of the offset over all
// ranks.
struct Alignment {
  std::int64_t offset_ns = 0, error_ns = 0;
};

// Communication between the ranks of a run. All functions are collective over the run; `gather`
// over the ranks of the node.
struct Ranks {
  int rank = 0, size = 1;
  int node = 0, ranks_per_node = 1;
  bool writes = true;  // true for the rank that writes for its node
  // Concatenates the bytes of all ranks on the rank that writes; empty on the others.
  std::function<std::vector<std::byte>(std::span<const std::byte>)> gather;
  // Runs a step that may fail on some ranks; all ranks then throw.
  std::function<void(const std::function<void()>&)> collective_try;
  std::function<double(double)> max;
  std::function<void(std::string&)> broadcast;  // from rank 0
  std::function<Alignment()> align_clocks;
};

// Communication functions of a single rank.
Ranks alone();

// Attributes for the metadata of every file.
struct RunFacts {
  std::string directory;  // of the run; files are in its folder telemetry/
  bool restart = false;
  std::string model;
  int block_size = 0;  // 0 without blocks
  std::string detail;
  Metadata extra_metadata;  // additional metadata by key
};

// Files of a run's telemetry. Functions are collective over the run and throw on all of its ranks.
class Archive {
 public:
  // Maximum bytes of a node's rows that its writing rank gathers at a time.
  static constexpr std::int64_t k_max_gathered = std::int64_t{64} << 20;

  // Creates the folder. A new run removes the files of an earlier one; a restart continues its
  // identity with the next segment. Throws InputError if the folder cannot be created.
  Archive(const RunFacts& attributes, const Ranks& ranks);

  // Changes the run's directory. Throws RunError if a file has already been written.
  void set_directory(const std::string& directory);

  // Number of the run's segment, which each restart increases.
  std::int16_t segment() const { return segment_; }

  // Writes the rows of all ranks for the steps first to last, one file per table and node. Splits
  // the steps into several files if a node has more than k_max_gathered bytes of rows. Tables
  // without rows have no file. Throws RunError.
  void write(const Window& own, std::int64_t first, std::int64_t last, std::int64_t clock_error_ns);

  // Merges the files of each table written since the last merge.
  void merge();
  // Merges all files of this segment, at the end of a run.
  void merge_all();

 private:
  struct File {
    std::int64_t first, last;
    std::string path;
  };
  struct TableFiles {  // files of a table
    std::string table;
    std::vector<File> merged, fresh;
  };
  void find_identity(const std::vector<std::string>& present);
  void write_piece(const Window& own, std::int64_t first, std::int64_t last);
  void write_table(const std::string& table, std::size_t rows, std::vector<Column> columns,
                   std::int64_t first, std::int64_t last);
  File merged(const std::string& table, const std::vector<File>& files) const;
  TableFiles& files_of(const std::string& table);
  std::string path_of(const std::string& table, std::int64_t first, std::int64_t last) const;

  std::string folder_;
  Ranks ranks_;
  std::string run_;
  std::int16_t segment_ = 0;
  Metadata metadata_;
  std::vector<TableFiles> table_files_;
};

}  // namespace octant::telemetry
