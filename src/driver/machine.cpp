#include "driver/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

namespace octant::driver {

namespace {

// One bit for each processor of a node that the system gives a process leave to run on.
using ProcessorSet = std::array<std::uint64_t, CPU_SETSIZE / 64>;

// Of any thread: OpenMP may have bound the first one to a part of what it was given. All zero where
// the system does not tell.
ProcessorSet own_processors() {
  ProcessorSet set{};
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    cpu_set_t allowed;
    const int id = std::atoi(thread.path().filename().c_str());
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
  return fmt::format("; kernels on {} GPU(s) ({}, {:.1f} GB each), ranks on each in turn",
                     devices.count, devices.name,
                     1e-9 * static_cast<double>(devices.bytes_of_each));
}

}  // namespace

std::string Machine::describe() const {
  return fmt::format(
      "{}{}: {} rank(s) per node, {} thread(s) per rank, {} processors, {}{}",
      name.empty() ? "machine" : name, processor.empty() ? "" : fmt::format(" ({})", processor),
      ranks_per_node, threads_per_rank, processors,
      is_bound() ? fmt::format("ranks bound to {}", processors_per_rank) : "ranks not bound",
      driver::describe(devices));
}

std::vector<std::string> Machine::warnings() const {
  std::vector<std::string> all;
  if (shares_devices())
    all.push_back(fmt::format(
        "{} rank(s) on {} GPU(s): they take turns, and each holds its own part of the memory; one "
        "rank for each GPU is faster",
        ranks_per_node, devices.count));
  if (is_crowded())
    all.push_back(fmt::format(
        "{} rank(s) of {} thread(s) on {} processor(s){}: they take turns, and wait for each "
        "other; give fewer ranks, or fewer threads (./octant -t, OMP_NUM_THREADS)",
        ranks_per_node, threads_per_rank, processors,
        is_bound() ? fmt::format(", bound to {} each", processors_per_rank) : ""));
  return all;
}

Machine machine_of(const Communicator& communicator) {
  const Communicator node = communicator.split_by_node();
  ProcessorSet processors = own_processors();
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

}  // namespace octant::driver
