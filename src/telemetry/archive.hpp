// The telemetry folder of a run: windows of rows become files, and files become fewer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/parquet_file.hpp"
#include "telemetry/ranks.hpp"
#include "telemetry/window.hpp"

namespace octant::telemetry {

// What goes into the metadata of every file.
struct RunFacts {
  std::string directory;  // the run's; the files go to its folder telemetry/
  bool restart = false;
  std::string model;
  int block_size = 0;  // 0: no blocks
  std::string detail;
  Metadata circumstances;  // by key, beside those of every run
};

// Functions are collective over the run and throw on all of its ranks.
class Archive {
 public:
  // Of a node's rows, that its writing rank takes at a time.
  static constexpr std::int64_t k_most_gathered = std::int64_t{64} << 20;

  // Makes the folder. A new run removes the files that an earlier one left there; a restart goes on
  // with that one's identity as its next segment. Throws InputError if the folder cannot be made.
  Archive(const RunFacts& facts, const Ranks& ranks);

  // Before the first file is written: the run's directory has another name.
  void set_directory(const std::string& directory);

  std::int16_t segment() const { return segment_; }

  // Writes the rows of all ranks for the steps first to last, a file per table and node; several
  // of fewer steps each, down to one, where a node has more than k_most_gathered bytes of rows. A
  // table without rows gets none. Throws RunError.
  void write(const Window& own, std::int64_t first, std::int64_t last, std::int64_t clock_error_ns);

  // Makes one file of those that were written since the last merge, for every table; at the end of
  // a run of all that this segment has written.
  void merge();
  void merge_all();

 private:
  struct File {
    std::int64_t first, last;
    std::string path;
  };
  struct Shelf {  // the files of a table
    std::string table;
    std::vector<File> merged, fresh;
  };
  void find_identity(const std::vector<std::string>& present);
  void write_piece(const Window& own, std::int64_t first, std::int64_t last);
  void write_tables(const Window& rows, std::int64_t first, std::int64_t last);
  void write_table(const std::string& table, std::size_t rows, std::vector<Column> columns,
                   std::int64_t first, std::int64_t last);
  File merged(const std::string& table, const std::vector<File>& files) const;
  Shelf& shelf(const std::string& table);
  std::string path_of(const std::string& table, std::int64_t first, std::int64_t last) const;

  std::string folder_;
  Ranks ranks_;
  std::string run_;
  std::int16_t segment_ = 0;
  Metadata metadata_;
  std::vector<Shelf> shelves_;
};

}  // namespace octant::telemetry
