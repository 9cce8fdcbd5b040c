// Rows of some steps: of one rank, or of all ranks of a node on the rank that writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/measured_rows.hpp"
#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// List of names with numbers.
class NameList {
 public:
  // Returns the number of a name; adds new names.
  std::int32_t number(std::string_view name) {
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    names_.emplace_back(name);
    return numbers_.emplace(name, static_cast<std::int32_t>(names_.size()) - 1).first->second;
  }
  // Names by number.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

// Telemetry rows of all tables for a range of steps.
struct Window {
  NameList names;
  std::vector<StepRow> steps;
  std::vector<RankRow> ranks;
  std::vector<PhaseRow> phases;
  std::vector<KernelRow> kernels;
  std::vector<LaunchRow> launches;
  std::vector<SampleRow> samples;
  std::vector<MessageRow> messages;
  std::vector<CopyRow> copies;
  std::vector<BlockRow> blocks;
  std::vector<PlacementRow> placement;
  std::vector<EventRow> events;
  std::int64_t events_dropped = 0;

  // Removes the rows; names remain.
  void clear();

  // Adds the rows of another window with the same names.
  void append(const Window& other);

  // Returns the rows of the steps first to last, with the same names.
  Window between(std::int64_t first, std::int64_t last) const;
  std::int64_t bytes() const;  // size of all rows

  // Packs all rows and names as bytes for another rank.
  std::vector<std::byte> packed() const;
  // Adds the packed windows of any number of ranks, concatenated.
  void append_packed(std::span<const std::byte> bytes);

  // Visits all tables with their number of rows and their columns after `segment`: names and types
  // as in docs/telemetry.md.
  using VisitTable = std::function<void(const char* table, std::size_t rows, std::vector<Column>)>;
  // Visits all tables.
  void for_each_table(const VisitTable& visit) const;
};

}  // namespace octant::telemetry
