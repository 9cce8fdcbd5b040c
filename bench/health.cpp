#include "bench/health.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "core/clock.hpp"

namespace octant::bench {

namespace {

constexpr int k_lanes = 1 << 16, k_chain = 96, k_chains = 4;
constexpr std::int64_t k_elements = std::int64_t{1} << 21;  // 48 MiB in three arrays
constexpr int k_meetings = 20;                              // per pair and repeat

using Array = Kokkos::View<double*>;
using Space = Kokkos::DefaultExecutionSpace;
constexpr bool k_on_host = std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>;

// Independent chains of multiplications and additions in registers.
void compute(const Array& results) {
  Kokkos::parallel_for(
      "health compute", k_lanes, KOKKOS_LAMBDA(const int n) {
        double x[k_chains] = {1.0, 2.0, 3.0, 4.0};
        const double factor = 1.0 - 1e-9 * n;
        for (int i = 0; i < k_chain; ++i)
          for (int c = 0; c < k_chains; ++c) x[c] = x[c] * factor + 0.5;
        results(n) = x[0] + x[1] + x[2] + x[3];
      });
  Kokkos::fence();
}

void triad(const Array& a, const Array& b, const Array& c) {
  Kokkos::parallel_for(
      "health triad", k_elements, KOKKOS_LAMBDA(const int n) { a(n) = b(n) + 3.0 * c(n); });
  Kokkos::fence();
}

// Time of a kernel on this rank: CPU time divided by its threads, if kernels run on CPUs.
double seconds_of(const std::function<void()>& kernel) {
  const std::int64_t cpu_before = process_cpu_ns();
  const Clock clock;
  kernel();
  if constexpr (!k_on_host) return clock.seconds();
  return 1e-9 * static_cast<double>(process_cpu_ns() - cpu_before) / Space().concurrency();
}

double least_seconds(int repeats, const std::function<void()>& kernel) {
  kernel();  // warm-up
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n < repeats; ++n) least = std::min(least, seconds_of(kernel));
  return least;
}

// Seconds for a barrier of two ranks, on both of them.
double meeting_seconds(const Communicator& pair, int repeats) {
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n <= repeats; ++n) {
    const Clock clock;
    for (int meeting = 0; meeting < k_meetings; ++meeting) pair.barrier();
    if (n > 0) least = std::min(least, clock.seconds() / k_meetings);
  }
  return least;
}

void measure_network(const Communicator& communicator, int repeats, RankHealth& health) {
  std::vector<double> ratios;
  double sum = 0.0;
  for (int distance = 1; distance < communicator.size(); distance *= 2) {
    const int partner = communicator.rank() ^ distance;
    const bool meets = partner < communicator.size();
    const Communicator pair =
        communicator.split(meets ? std::min(communicator.rank(), partner) : communicator.rank());
    const double seconds = meets ? meeting_seconds(pair, repeats) : 0.0;
    const double usual = median_over_ranks(communicator, seconds, meets);
    if (!meets) continue;
    ratios.push_back(seconds / usual);
    sum += seconds;
  }
  if (!ratios.empty()) health.latency_seconds = sum / static_cast<double>(ratios.size());
  // The partner of a slow rank is slow at one distance; the slow rank itself at all distances.
  if (ratios.size() < 2) return;
  std::nth_element(ratios.begin(), ratios.begin() + 1, ratios.end(), std::greater<>());
  health.latency_ratio = ratios[1];
}

// --- Nodes ---

std::string node_name(const Communicator& communicator, const HealthCheck& check) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  if (check.ranks_per_node == 0) return name.data();
  return fmt::format("{}:{}", name.data(), communicator.rank() / check.ranks_per_node);
}

// Ranks whose nodes have the same name, by 62 bits of a hash.
Communicator ranks_of_node(const Communicator& communicator, const std::string& name) {
  const std::uint64_t hash = std::hash<std::string>{}(name);
  const auto colour = [&](int shift) { return static_cast<int>(hash >> shift & 0x7fffffff); };
  return communicator.split(colour(0)).split(colour(31));
}

// Report of the first rank of a slow node to the root.
struct NodeReport {
  std::array<char, 256> name;
  int first_rank, ranks, slow_ranks;
  double compute_ratio, memory_ratio, latency_ratio;
};

void find_slow_nodes(const Communicator& communicator, const HealthCheck& check,
                     HealthResult& result) {
  const std::string name = node_name(communicator, check);
  const Communicator node = ranks_of_node(communicator, name);
  const double compute = result.own.compute_seconds / result.median.compute_seconds;
  const double memory = result.own.memory_seconds / result.median.memory_seconds;
  const bool slow = std::max(compute, memory) > check.slow || result.own.latency_ratio > check.late;

  NodeReport report{};
  name.copy(report.name.data(), report.name.size() - 1);
  report.first_rank = communicator.rank();
  report.ranks = node.size();
  report.slow_ranks = node.sum(std::int32_t{slow});
  report.compute_ratio = node.max(compute);
  report.memory_ratio = node.max(memory);
  report.latency_ratio = node.max(result.own.latency_ratio);
  const bool tells = node.is_root() && report.slow_ranks > 0;
  const auto reports =
      communicator.gather_to_root(std::span<const NodeReport>(&report, tells ? 1 : 0));
  for (const NodeReport& r : reports)
    result.slow_nodes.push_back({r.name.data(), r.first_rank, r.ranks, r.slow_ranks,
                                 r.compute_ratio, r.memory_ratio, r.latency_ratio});
  result.nodes = communicator.sum(std::int32_t{node.is_root()});
}

}  // namespace

double compute_flops() { return 2.0 * k_lanes * k_chain * k_chains; }
double memory_bytes() { return 24.0 * static_cast<double>(k_elements); }

double median_over_ranks(const Communicator& communicator, double value, bool counts) {
  // Non-negative doubles have the same order as the integers of the same bits.
  const auto bits = counts ? std::bit_cast<std::int64_t>(value) : std::int64_t{0};
  const std::int64_t half = (communicator.sum(std::int64_t{counts}) + 1) / 2;
  std::int64_t low = -1, high = communicator.max(bits);  // too low; sufficient
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool enough = communicator.sum(std::int64_t{counts && bits <= middle}) >= half;
    (enough ? high : low) = middle;
  }
  return std::bit_cast<double>(high);
}

RankHealth measure_rank(const Communicator& communicator, const HealthCheck& check) {
  RankHealth health;
  const Array results("results", k_lanes);
  const Array a("a", k_elements), b("b", k_elements), c("c", k_elements);
  const int times = communicator.rank() == check.slow_rank ? check.slow_factor : 1;
  communicator.barrier();
  health.compute_seconds = least_seconds(check.repeats, [&] {
    for (int n = 0; n < times; ++n) compute(results);
  });
  communicator.barrier();
  health.memory_seconds = least_seconds(check.repeats, [&] { triad(a, b, c); });
  communicator.barrier();
  measure_network(communicator, check.repeats, health);
  return health;
}

HealthResult compare_ranks(const Communicator& communicator, const HealthCheck& check,
                           const RankHealth& own) {
  HealthResult result;
  result.own = own;
  using Number = double RankHealth::*;
  for (const Number field : {&RankHealth::compute_seconds, &RankHealth::memory_seconds,
                             &RankHealth::latency_ratio, &RankHealth::latency_seconds}) {
    result.median.*field = median_over_ranks(communicator, result.own.*field);
    result.worst.*field = communicator.max(result.own.*field);
  }
  find_slow_nodes(communicator, check, result);
  return result;
}

}  // namespace octant::bench
