#include "bench/fof_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/number_rows.hpp"
#include "bench/report.hpp"
#include "comm/route.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "subgrid/friends/distributed.hpp"

namespace octant::bench {

namespace {

using namespace subgrid::friends;

constexpr const char* k_distributed = "distributed";

struct FofRequest {
  Choice cases{{"uniform", "clustered"}, "all"};
  Choice methods{{"brute", "octree", "octree_threads", "cells", k_distributed}, "all"};
  std::vector<int> points{100'000, 1'000'000};
  int most_for_brute = 100'000;
  int repeats = 5;
  std::string file, groups_file;
  double length = 0.0, period = 0.0;
};

// Bodies of this rank; their ids are the numbers of points.
struct FofCase {
  std::string name;
  std::int64_t points;  // over all ranks
  Linking linking;
  std::vector<Body> bodies;
};

struct FofResult {
  // Minimum over all repeats: wall-clock time of the slowest rank, and CPU time of all ranks.
  double seconds = std::numeric_limits<double>::infinity();
  double cpu_seconds = std::numeric_limits<double>::infinity();
  std::vector<std::uint64_t> label;  // of each body of this rank
  std::int64_t copies = 0;           // over all ranks
  int rounds = 0;
};

// Points distributed over a periodic box, or in clusters of fifty, which are dense because random
// offsets are cubed.
Point point_of(const std::string& name, std::int64_t n, std::int64_t points) {
  constexpr std::int64_t k_members = 50;
  constexpr double k_spread = 0.4;
  const auto clusters = static_cast<std::uint64_t>(std::max<std::int64_t>(1, points / k_members));
  const auto number = static_cast<std::uint64_t>(n);
  const RandomStream own(1, number, 0), of_cluster(2, number % clusters, 0);
  Point point;
  for (int d = 0; d < 3; ++d) {
    const double offset = own.uniform(d) - 0.5;
    const double x = name == "uniform"
                         ? own.uniform(d)
                         : of_cluster.uniform(d) + k_spread * offset * offset * offset;
    point[d] = x - std::floor(x);
  }
  return point;
}

// Sends the bodies of one slab to each rank.
std::vector<Body> to_slabs(const Communicator& communicator, const std::vector<Body>& bodies,
                           double lower, double width) {
  const int ranks = communicator.size();
  std::vector<int> owners;
  for (const Body& body : bodies) {
    const double slab = width > 0.0 ? ranks * (body.position[0] - lower) / width : 0.0;
    owners.push_back(static_cast<int>(std::clamp(slab, 0.0, ranks - 1.0)));
  }
  return route(communicator, owners, std::span<const Body>(bodies)).items;
}

// The linking length is 0.2 mean separations, as usual for haloes.
FofCase made_up_case(const Communicator& communicator, const std::string& name,
                     std::int64_t points) {
  FofCase c{name, points, {0.2 / std::cbrt(static_cast<double>(points)), {1.0, 1.0, 1.0}}, {}};
  const std::int64_t ranks = communicator.size(), rank = communicator.rank();
  for (std::int64_t n = points * rank / ranks; n < points * (rank + 1) / ranks; ++n)
    c.bodies.push_back(
        {.position = point_of(name, n, points), .id = static_cast<std::uint64_t>(n)});
  c.bodies = to_slabs(communicator, c.bodies, 0.0, 1.0);
  return c;
}

FofCase case_of_file(const Communicator& communicator, const FofRequest& request) {
  if (!(request.length > 0.0))
    throw InputError("bench fof: --file {} requires --length, the linking length", request.file);
  const double period = request.period > 0.0 ? request.period : k_open;
  FofCase c{request.file, 0, {request.length, {period, period, period}}, {}};
  Box box;
  communicator.collective_try([&] {
    for (const auto& row : read_rows(request.file, 3)) {
      box.add({row[0], row[1], row[2]});
      if (c.points++ % communicator.size() == communicator.rank())
        c.bodies.push_back(
            {.position = {row[0], row[1], row[2]}, .id = static_cast<std::uint64_t>(c.points - 1)});
    }
  });
  c.bodies = to_slabs(communicator, c.bodies, box.lower[0], box.upper[0] - box.lower[0]);
  return c;
}

FofResult find_once(const Communicator& communicator, const FofCase& c, const std::string& method,
                    FastestMethod& fastest) {
  FofResult result;
  if (method == k_distributed) {
    communicator.barrier();
    const std::int64_t cpu_before = process_cpu_ns();
    const Clock clock;
    DistributedGroups groups = find_groups(communicator, c.bodies, c.linking, fastest);
    result.seconds = communicator.max(seconds_with_kernels(clock));
    result.cpu_seconds =
        1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu_before));
    result.label = std::move(groups.label);
    result.copies = communicator.sum(groups.copies);
    result.rounds = groups.rounds;
    return result;
  }
  std::vector<Point> points;
  for (const Body& body : c.bodies) points.push_back(body.position);
  const int number = static_cast<int>(
      std::find(k_method_names, k_method_names + k_methods, method) - k_method_names);
  const std::int64_t cpu_before = process_cpu_ns();
  const Clock clock;
  const auto groups = find_groups(static_cast<Method>(number), points, c.linking);
  result.seconds = seconds_with_kernels(clock);
  result.cpu_seconds = 1e-9 * static_cast<double>(process_cpu_ns() - cpu_before);
  for (const int group : groups) result.label.push_back(c.bodies[group].id);
  return result;
}

FofResult find_well(const Communicator& communicator, const FofCase& c, const std::string& method,
                    int repeats) {
  FastestMethod fastest;
  if (method == k_distributed)  // tries its methods first
    for (int n = 0; n < k_methods; ++n) find_once(communicator, c, method, fastest);
  FofResult best;
  for (int n = 0; n < (method == "brute" ? 1 : repeats); ++n) {
    FofResult result = find_once(communicator, c, method, fastest);
    result.seconds = std::min(result.seconds, best.seconds);
    result.cpu_seconds = std::min(result.cpu_seconds, best.cpu_seconds);
    best = std::move(result);
  }
  return best;
}

std::int64_t count_groups(const Communicator& communicator, const FofCase& c,
                          const std::vector<std::uint64_t>& label) {
  std::int64_t groups = 0;  // groups are counted by the body with the smallest id
  for (std::size_t n = 0; n < label.size(); ++n) groups += label[n] == c.bodies[n].id;
  return communicator.sum(groups);
}

// Writes one line per point: the number, from 0, of the first point in its group.
void write_groups(const Communicator& communicator, const FofCase& c,
                  const std::vector<std::uint64_t>& label, const std::string& path) {
  struct Row {
    std::uint64_t point, group;
  };
  std::vector<Row> own;
  for (std::size_t n = 0; n < label.size(); ++n) own.push_back({c.bodies[n].id, label[n]});
  std::vector<Row> rows = communicator.gather_to_root(std::span<const Row>(own));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.point < b.point; });
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    std::ofstream file(path);
    for (const Row& row : rows) file << row.group << '\n';
    if (!file.flush()) throw InputError("cannot write {}", path);
  });
}

std::vector<std::string> methods_for(const Communicator& communicator, const FofRequest& request,
                                     std::int64_t points) {
  std::vector<std::string> methods;
  for (const std::string& method : request.methods.selected()) {
    const bool one_of_all = request.methods.chosen == "all";
    const bool alone = method != k_distributed && communicator.size() > 1;
    if (alone && !one_of_all)
      throw InputError("bench fof: {} runs on one rank; on {} ranks choose {}", method,
                       communicator.size(), k_distributed);
    if (alone || (method == "brute" && points > request.most_for_brute && one_of_all)) continue;
    methods.push_back(method);
  }
  return methods;
}

void declare(Options& options, FofRequest& request) {
  options.choice("--case", request.cases, "Distribution of points: uniform, or in dense clusters");
  options.choice("--method", request.methods, "Search method");
  options.counts("--points", request.points,
                 "Total number of points over all ranks, one or several");
  options.count("--brute", request.most_for_brute,
                "Maximum number of points for the brute-force search");
  options.count("--repeats", request.repeats, "Number of searches; the shortest time is reported");
  options.file("--file", request.file,
               "File of points, x, y, z per line, used instead of random points");
  options.number("--length", request.length, 0.0, 1e300, "Linking length, with --file");
  options.number("--period", request.period, 0.0, 1e300,
                 "Period along all axes, with --file; 0: not periodic");
  options.file("--groups", request.groups_file,
               "Output file with the first point of the group of each point");
}

// Table with a row per case and method.
class FofTable {
 public:
  FofTable(const FofRequest& request, const Communicator& communicator, Report& report)
      : request_(request), communicator_(communicator), report_(report) {
    report_.line(fmt::format("{} rank(s) of {} thread(s); shortest of {} searches\n",
                             communicator.size(), threads(), request.repeats));
    report_.line(fmt::format(k_row, "case", "points", "method", "ms", "ms cpu", "groups",
                             "brute/it", "exponent", "copies", "rounds"));
  }

  // Measures all selected methods, which must agree.
  void measure(const FofCase& c) {
    std::vector<std::uint64_t> label;
    double brute = 0.0;
    bool is_first = true;
    for (const std::string& method : methods_for(communicator_, request_, c.points)) {
      FofResult result = find_well(communicator_, c, method, request_.repeats);
      if (method == "brute") brute = result.seconds;
      const bool differs = communicator_.any(!is_first && label != result.label);
      OCTANT_REQUIRE(!differs, "{} and the previous method find different groups", method);
      is_first = false;
      add_row(c, method, result, brute);
      label = std::move(result.label);
    }
    if (!request_.groups_file.empty()) write_groups(communicator_, c, label, request_.groups_file);
  }

 private:
  static constexpr const char* k_row =
      "{:<10} {:>9} {:<15} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7} {:>7}";
  static int threads() { return Kokkos::DefaultHostExecutionSpace().concurrency(); }

  void add_row(const FofCase& c, const std::string& method, const FofResult& result, double brute) {
    const std::int64_t groups = count_groups(communicator_, c, result.label);
    JsonObject object;
    object.add("case", c.name)
        .add("method", method)
        .add("points", c.points)
        .add("ranks", communicator_.size())
        .add("threads", threads())
        .add("linking_length", c.linking.length)
        .add("seconds", result.seconds)
        .add("cpu_seconds", result.cpu_seconds)
        .add("groups", groups)
        .add("copies", result.copies)
        .add("rounds", result.rounds);
    const auto two_digits = [](double value) { return fmt::format("{:.2f}", value); };
    std::string ratio, exponent;
    if (brute > 0.0) {
      object.add("brute_over_this", brute / result.seconds);
      ratio = fmt::format("{:.0f}", brute / result.seconds);
    }
    if (const auto power = exponent_since_before(c, method, result.seconds)) {
      object.add("exponent", *power);
      exponent = two_digits(*power);
    }
    report_.line(fmt::format(k_row, c.name, c.points, method, two_digits(1e3 * result.seconds),
                             two_digits(1e3 * result.cpu_seconds), groups, ratio, exponent,
                             result.copies, result.rounds));
    report_.add(object);
  }

  // Exponent of the growth of time with the number of points since the previous run of the same
  // case.
  std::optional<double> exponent_since_before(const FofCase& c, const std::string& method,
                                              double seconds) {
    const Before now{static_cast<double>(c.points), seconds};
    const auto [place, is_new] = before_.try_emplace(c.name + " " + method, now);
    const Before before = std::exchange(place->second, now);
    if (is_new || before.points == now.points) return std::nullopt;
    return std::log(now.seconds / before.seconds) / std::log(now.points / before.points);
  }

  struct Before {
    double points, seconds;
  };
  const FofRequest& request_;
  Communicator communicator_;
  Report& report_;
  std::map<std::string, Before> before_;
};

void measure_all(const FofRequest& request, const Communicator& communicator, Report& report) {
  FofTable table(request, communicator, report);
  if (!request.file.empty()) return table.measure(case_of_file(communicator, request));
  for (const std::string& name : request.cases.selected())
    for (const int points : request.points) table.measure(made_up_case(communicator, name, points));
}

}  // namespace

int fof_bench(const std::vector<std::string>& words) {
  return run_command<FofRequest>("fof", "Friends-of-friends groups of points", declare, measure_all,
                                 words);
}

}  // namespace octant::bench
