#include "bench/health_bench.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/health.hpp"
#include "bench/report.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

struct HealthRequest {
  HealthCheck check;
  std::string exclude_file;
};

void declare(Options& options, HealthRequest& request) {
  HealthCheck& check = request.check;
  options.file("--exclude", request.exclude_file,
               "Output file with the names of slow nodes, one per line, the slowest first");
  options.number("--slow", check.slow, 1.01, 1000.0,
                 "Ratio to the median time above which computing or memory is slow");
  options.number("--late", check.late, 1.01, 1000.0,
                 "Ratio to the median time above which messages are slow");
  options.count("--repeats", check.repeats,
                "Number of repeats of each measurement; the best is used");
  options.count("--node-size", check.ranks_per_node,
                "Number of ranks that are treated as one node");
  options.number("--debug-slow-rank", check.slow_rank, 0, 1 << 30,
                 "Rank that is slowed down artificially");
  options.count("--debug-slow-factor", check.slow_factor, "Slow-down factor of --debug-slow-rank");
}

double worst_ratio(const SlowNode& node) {
  return std::max({node.compute_ratio, node.memory_ratio, node.latency_ratio});
}

// Writes the slowest nodes first, for jobs with fewer spare nodes.
void write_exclude_list(const Communicator& communicator, const std::string& path,
                        std::vector<SlowNode> nodes) {
  if (path.empty()) return;
  std::stable_sort(nodes.begin(), nodes.end(), [](const SlowNode& a, const SlowNode& b) {
    return worst_ratio(a) > worst_ratio(b);
  });
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    std::ofstream file(path);
    for (const SlowNode& node : nodes) file << node.name << '\n';
    file.flush();
    if (!file)
      throw InputError(
          "--exclude {}: the file cannot be written; check the directory and its permissions",
          path);
  });
}

constexpr const char* k_health_row = "{:<10} {:>14} {:>14} {:>10}";

void report_ranks(const Report& report, const HealthResult& r) {
  const auto row = [&](const char* what, double median, double worst, const char* unit) {
    report.line(fmt::format(k_health_row, what, fmt::format("{:.3g} {}", median, unit),
                            fmt::format("{:.3g} {}", worst, unit),
                            fmt::format("{:.2f}", std::max(median / worst, worst / median))));
  };
  report.line(fmt::format(k_health_row, "per rank", "median", "worst", "ratio"));
  row("computing", 1e-9 * compute_flops() / r.median.compute_seconds,
      1e-9 * compute_flops() / r.worst.compute_seconds, "Gflop/s");
  row("memory", 1e-9 * memory_bytes() / r.median.memory_seconds,
      1e-9 * memory_bytes() / r.worst.memory_seconds, "GB/s");
  if (r.median.latency_seconds > 0.0)
    row("messages", 1e6 * r.median.latency_seconds, 1e6 * r.worst.latency_seconds, "us");
}

void report_nodes(const Report& report, const std::vector<SlowNode>& nodes) {
  if (nodes.empty()) return report.line("\nno node is slow");
  report.line("\nslow nodes (times relative to the median rank):");
  for (const SlowNode& node : nodes)
    report.line(
        fmt::format("{}: {} of {} rank(s) from rank {} on; computing {:.2f}, memory {:.2f}, "
                    "messages {:.2f}",
                    node.name, node.slow_ranks, node.ranks, node.first_rank, node.compute_ratio,
                    node.memory_ratio, node.latency_ratio));
}

JsonObject json(const Communicator& communicator, const HealthResult& r) {
  JsonObject nodes;
  for (const SlowNode& node : r.slow_nodes)
    nodes.add(node.name, JsonObject()
                             .add("first_rank", node.first_rank)
                             .add("ranks", node.ranks)
                             .add("slow_ranks", node.slow_ranks)
                             .add("compute_ratio", node.compute_ratio)
                             .add("memory_ratio", node.memory_ratio)
                             .add("latency_ratio", node.latency_ratio));
  JsonObject object;
  object.add("ranks", communicator.size())
      .add("nodes", r.nodes)
      .add("flops_per_second_median", compute_flops() / r.median.compute_seconds)
      .add("flops_per_second_least", compute_flops() / r.worst.compute_seconds)
      .add("bytes_per_second_median", memory_bytes() / r.median.memory_seconds)
      .add("bytes_per_second_least", memory_bytes() / r.worst.memory_seconds)
      .add("latency_seconds_median", r.median.latency_seconds)
      .add("latency_seconds_most", r.worst.latency_seconds)
      .add("slow_nodes", nodes);
  return object;
}

void measure_all(const HealthRequest& request, const Communicator& communicator, Report& report) {
  write_exclude_list(communicator, request.exclude_file, {});  // tests writing first
  const HealthResult result =
      compare_ranks(communicator, request.check, measure_rank(communicator, request.check));
  report.line(fmt::format("{} rank(s) on {} node(s), simultaneously; best of {}\n",
                          communicator.size(), result.nodes, request.check.repeats));
  report_ranks(report, result);
  report_nodes(report, result.slow_nodes);
  report.add(json(communicator, result));
  write_exclude_list(communicator, request.exclude_file, result.slow_nodes);
}

}  // namespace

int health_bench(const std::vector<std::string>& words) {
  return run_command<HealthRequest>("health", "Slow nodes", declare, measure_all, words);
}

}  // namespace octant::bench
