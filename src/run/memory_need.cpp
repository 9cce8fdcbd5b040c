#include "run/memory_need.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "comm/runtime.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"

namespace octant {

MemoryUse scarce_memory_use() {
  const MemoryUse device = device_memory_use();
  return device.peak > 0 ? device : memory_use();
}

std::string why_too_little(const NodeMemory& memory, const std::string& what,
                           const std::string& smaller) {
  constexpr double k_gigabyte = 1e9;
  if (memory.needed <= memory.there) return "";
  return fmt::format(
      "not enough memory: {} needs {:.4g} GB on a node of {} rank(s), but only {:.4g} GB are "
      "available{}; use more nodes, or a smaller {}",
      what, memory.needed / k_gigabyte, memory.ranks, memory.there / k_gigabyte,
      memory.devices > 0 ? fmt::format(" on {} GPU(s)", memory.devices) : "", smaller);
}

void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller) {
  const Communicator node = communicator.split_by_node();
  const auto megabytes = static_cast<std::int64_t>(1e-6 * rank_bytes);
  const Devices devices = devices_of(node);
  const NodeMemory memory{
      .needed = 1e6 * static_cast<double>(node.sum(megabytes)),
      .there = devices.count > 0 ? devices.bytes() : static_cast<double>(memory_limit()),
      .ranks = node.size(),
      .devices = devices.count};
  communicator.collective_try([&] {
    const std::string why = why_too_little(memory, what, smaller);
    if (!why.empty()) throw InputError("{}", why);
  });
}

// Returns the message of an allocation error; Kokkos and CUDA have no exception type for it.
std::optional<std::string> missing_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "";
  const std::string_view words = error.what();
  for (const char* lack : {"space failed to allocate", "ErrorMemoryAllocation", "ErrorOutOfMemory"})
    if (words.find(lack) != std::string_view::npos) return std::string(words);
  return std::nullopt;
}

namespace {

// Labels of arrays with a common purpose; a label matches arrays whose names begin with its words.
struct Purpose {
  const char* name;
  std::vector<std::string_view> labels;
};

const std::vector<Purpose>& purposes() {
  static const std::vector<Purpose> all{
      {"gas", {"blocks"}},
      {"ghost cells", {"halo"}},
      {"fluxes at level jumps", {"flux registers", "mass flow"}},
      {"messages",
       {"send buffer", "received", "leaving", "arriving", "patch message", "box message",
        "sent cells", "ghost values", "ghost masses"}},
      {"tables of the mesh",
       {"own blocks", "boxes", "tiles", "tile", "boundary tasks", "scratch boundary",
        "interpolation", "interpolations", "corrected", "correction", "restriction", "octant",
        "pack", "flux requests", "new"}},
      {"working memory: solver, ghosts", {"temporary fields"}},
      {"gravity, stored", {"gravity fields"}},
      {"gravity, multigrid",
       {"cover", "diagonal", "residuals", "patch", "patches", "box", "masked", "cells inside",
        "far", "pieces", "near cells", "cubes", "density of the far field"}},
      {"gravity, multipoles",
       {"fmm", "brick", "bricks", "child bricks", "moments", "points", "work"}},
      {"particles",
       {"particles", "selected rows", "rows", "gathered rows", "order", "home", "homes", "places",
        "movers", "holes"}},
      {"fields of the flow", {"fields and lines of pencils", "coefficients", "factors", "lines"}}};
  return all;
}

// Returns the purpose with the longest label at the start of an array's name; -1: none.
int purpose_of(std::string_view label) {
  int best = -1;
  std::size_t longest = 0;
  for (std::size_t n = 0; n < purposes().size(); ++n)
    for (const std::string_view known : purposes()[n].labels)
      if (label.starts_with(known) && known.size() > longest &&
          (label.size() == known.size() || label[known.size()] == ' '))
        best = static_cast<int>(n), longest = known.size();
  return best;
}

struct Row {
  std::string name;
  double bytes = 0.0;
};

std::vector<Row> rows_of(const MemoryAccount& account) {
  std::vector<Row> rows;
  for (const Purpose& purpose : purposes()) rows.push_back({purpose.name});
  rows.push_back({"other arrays"});
  Row on_device{"of these, on the GPU"};
  for (const MemoryAccount::Arrays& arrays : account.arrays) {
    const int purpose = purpose_of(arrays.label);
    (purpose < 0 ? rows.back() : rows[purpose]).bytes += static_cast<double>(arrays.bytes);
    if (arrays.on_device) on_device.bytes += static_cast<double>(arrays.bytes);
  }
  rows.push_back(on_device);
  rows.push_back({"tables and lists on the heap", static_cast<double>(account.lists)});
  rows.push_back({"freed, kept by the C library", static_cast<double>(account.unused_heap)});
  rows.push_back({"program and libraries", static_cast<double>(account.at_start)});
  rows.push_back({"library buffers, stacks", static_cast<double>(account.others())});
  rows.push_back({"all", static_cast<double>(account.resident)});
  return rows;
}

}  // namespace

std::string memory_table(const Communicator& communicator, double cells,
                         const std::string& prefix) {
  const std::vector<Row> rows = rows_of(memory_account_at_peak());
  std::vector<double> least, sums;
  for (const Row& row : rows) least.push_back(row.bytes);
  std::vector<double> most = least;
  std::vector<std::int64_t> all(least.begin(), least.end());
  communicator.min_in_place(std::span<double>(least));
  communicator.max_in_place(std::span<double>(most));
  communicator.sum_in_place(std::span<std::int64_t>(all));
  if (most.back() == 0.0) return "";
  std::string table = fmt::format("{}{:<30}{:>10}{:>10}{:>16}\n", prefix, "memory by purpose",
                                  "least MB", "most MB", "bytes per leaf");
  for (std::size_t n = 0; n < rows.size(); ++n)
    if (most[n] >= 5e4 || least[n] < 0.0)
      table += fmt::format("{}{:<30}{:>10.1f}{:>10.1f}{:>16.1f}\n", prefix, rows[n].name,
                           1e-6 * least[n], 1e-6 * most[n],
                           cells > 0.0 ? static_cast<double>(all[n]) / cells : 0.0);
  return table;
}

}  // namespace octant
