#include "run/machine.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sched.h>
#include <Kokkos_Core.hpp>

#include "comm/clocks.hpp"
#include "core/log.hpp"
#include "core/version.hpp"

namespace octant {

namespace {

// Processors of a node on which a process may run, one bit each.
using ProcessorSet = std::array<std::uint64_t, CPU_SETSIZE / 64>;

// Processors allowed for any thread, because OpenMP may have bound the first thread to a part of
// them. All zero if unknown.
ProcessorSet allowed_processors() {
  ProcessorSet set{};
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    cpu_set_t allowed;
    const auto id = static_cast<pid_t>(std::stol(thread.path().filename()));
    if (::sched_getaffinity(id, sizeof allowed, &allowed) != 0) continue;
    for (int n = 0; n < CPU_SETSIZE; ++n)
      if (CPU_ISSET(n, &allowed)) set[n / 64] |= std::uint64_t{1} << (n % 64);
  }
  return set;
}

int count(const ProcessorSet& set) {
  int total = 0;
  for (const std::uint64_t bits : set) total += std::popcount(bits);
  return total > 0 ? total : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string name_of_node() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string name_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "";
}

std::string describe(const Devices& devices) {
  if (devices.count == 0) return "";
  return fmt::format(
      "; kernels on {} GPU(s) ({}, {:.1f} GB each), with ranks distributed round-robin",
      devices.count, devices.name, 1e-9 * static_cast<double>(devices.bytes_of_each));
}

}  // namespace

std::string Machine::describe() const {
  return fmt::format(
      "{}{}: {} rank(s) per node, {} thread(s) per rank, {} processors, {}{}",
      name.empty() ? "machine" : name, processor.empty() ? "" : fmt::format(" ({})", processor),
      ranks_per_node, threads_per_rank, processors,
      is_bound() ? fmt::format("ranks bound to {}", processors_per_rank) : "ranks not bound",
      octant::describe(devices));
}

std::vector<std::string> Machine::warnings() const {
  std::vector<std::string> all;
  if (shares_devices())
    all.push_back(
        fmt::format("{} rank(s) share {} GPU(s) and their memory; one rank per GPU is faster",
                    ranks_per_node, devices.count));
  if (is_crowded())
    all.push_back(
        fmt::format("{} rank(s) of {} thread(s) share {} processor(s){} and wait for each other; "
                    "use fewer ranks, or fewer threads (./octant -t, OMP_NUM_THREADS)",
                    ranks_per_node, threads_per_rank, processors,
                    is_bound() ? fmt::format(", bound to {} each", processors_per_rank) : ""));
  return all;
}

Machine machine_of(const Communicator& communicator) {
  const Communicator node = communicator.split_by_node();
  ProcessorSet processors = allowed_processors();
  const int own = count(processors);
  node.bitwise_or_in_place(std::span<std::uint64_t>(processors));
  Machine machine{.name = name_of_node(),
                  .processor = name_of_processor(),
                  .ranks_per_node = node.size(),
                  .threads_per_rank = Kokkos::DefaultHostExecutionSpace().concurrency(),
                  .processors = count(processors),
                  .processors_per_rank = own,
                  .devices = devices_of(node)};
  communicator.broadcast(machine.devices.name);
  communicator.broadcast(machine.name);
  communicator.broadcast(machine.processor);
  const double crowd =
      static_cast<double>(machine.ranks_per_node * machine.threads_per_rank) / machine.processors;
  const bool is_fullest = crowd == communicator.max(crowd);
  const int there = communicator.min(is_fullest ? communicator.rank() : communicator.size());
  for (int* number : {&machine.ranks_per_node, &machine.threads_per_rank, &machine.processors,
                      &machine.processors_per_rank, &machine.devices.count})
    communicator.broadcast(*number, there);
  return machine;
}

NodeOfRank find_node_of_rank(const Communicator& communicator, const DebugOptions& debug) {
  const int rank = communicator.rank();
  if (debug.ranks_per_node > 0) {
    const int number = rank / debug.ranks_per_node;
    return {communicator.split(number), number, debug.ranks_per_node};
  }
  const Communicator ranks = communicator.split_by_node();
  std::int32_t number = communicator.exclusive_scan(std::int32_t{ranks.is_root() ? 1 : 0});
  ranks.broadcast(number);
  return {ranks, number, communicator.max(ranks.size())};
}

namespace {

telemetry::Metadata machine_metadata(const Machine& machine) {
  return {{"octant.machine", machine.name},
          {"octant.processor", machine.processor},
          {"octant.gpu", machine.devices.name},
          {"octant.processors_per_node", fmt::to_string(machine.processors)},
          {"octant.processors_per_rank", fmt::to_string(machine.processors_per_rank)},
          {"octant.threads_per_rank", fmt::to_string(machine.threads_per_rank)},
          {"octant.version", fmt::format("{} ({})", k_version, k_git_revision)},
          {"octant.built_with", k_tools},
          {"octant.built_for", k_processor}};
}

}  // namespace

std::unique_ptr<telemetry::Recorder> make_recorder(const Communicator& communicator,
                                                   const RunSettings& settings,
                                                   const std::string& directory, bool restart,
                                                   const Machine& machine) {
  if (!settings.telemetry.enabled) return nullptr;
  const NodeOfRank place = find_node_of_rank(communicator, settings.debug);
  const Communicator neighbours = communicator.split_by_node();
  const telemetry::Ranks ranks{
      .rank = communicator.rank(),
      .size = communicator.size(),
      .node = place.number,
      .ranks_per_node = place.ranks_per_node,
      .writes = place.ranks.is_root(),
      .gather = [node = place.ranks](
                    std::span<const std::byte> rows) { return node.gather_to_root(rows); },
      .collective_try =
          [communicator](const std::function<void()>& step) { communicator.collective_try(step); },
      .max = [communicator](double value) { return communicator.max(value); },
      .broadcast = [communicator](std::string& text) { communicator.broadcast(text); },
      .align_clocks =
          [communicator, neighbours] {
            const ClockOffset own = align_clocks(communicator, neighbours);
            return telemetry::Alignment{own.offset_ns, communicator.max(own.error_ns)};
          }};
  const telemetry::RunFacts attributes{.directory = directory,
                                       .restart = restart,
                                       .model = name_of(settings.model),
                                       .block_size = settings.block_size,
                                       .detail = name_of(settings.telemetry.detail),
                                       .extra_metadata = machine_metadata(machine)};
  return std::make_unique<telemetry::Recorder>(settings.telemetry, attributes, ranks);
}

}  // namespace octant
