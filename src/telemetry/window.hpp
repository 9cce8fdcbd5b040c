// The rows of some steps: of one rank, or of all ranks of a node on the one that writes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "telemetry/measured_rows.hpp"
#include "telemetry/name_list.hpp"

namespace octant::telemetry {

struct Window {
  NameList names;
  std::vector<StepRow> steps;
  std::vector<RankRow> ranks;
  std::vector<PhaseRow> phases;
  std::vector<KernelRow> kernels;
  std::vector<LaunchRow> launches;
  std::vector<MessageRow> messages;
  std::vector<CopyRow> copies;
  std::vector<BlockRow> blocks;
  std::vector<PlacementRow> placement;
  std::vector<EventRow> events;
  std::int64_t events_dropped = 0;

  // Forgets the rows; names stay.
  void clear();

  // Adds the rows of another window with the same names.
  void append(const Window& other);

  // The rows of the steps first to last alone, with the same names.
  Window between(std::int64_t first, std::int64_t last) const;
  std::int64_t bytes() const;  // of all rows

  // All rows and names as bytes, for another rank.
  std::vector<std::byte> packed() const;
  // Adds the windows of any number of ranks, packed and one after the other.
  void append_packed(std::span<const std::byte> bytes);
};

}  // namespace octant::telemetry
