#include "bench/collectives_bench.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/report.hpp"
#include "comm/exchanger.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

// Collective operation on a rank's values. `run` is timed; the initial values are the rank number.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual void run(std::vector<double>& values) = 0;
  // Expected first value after the operation.
  virtual double expected() const = 0;
};

class AllReduce final : public Collective {
 public:
  explicit AllReduce(const Communicator& communicator) : communicator_(communicator) {}
  void run(std::vector<double>& values) override {
    communicator_.max_in_place(std::span<double>(values));
  }
  double expected() const override { return communicator_.size() - 1; }

 private:
  Communicator communicator_;
};

// Maximum along a binary tree: rank r receives from r + 1, r + 2, r + 4, ...; then the result is
// sent back.
class Tree final : public Collective {
 public:
  explicit Tree(const Communicator& communicator)
      : communicator_(communicator), exchanger_("tree", communicator, {.exchange = Backend::p2p}) {
    const int rank = communicator.rank(), size = communicator.size();
    for (int step = 1; step < size; step *= 2) {
      std::vector<Segment> up, down;
      if (rank % (2 * step) == step) up.push_back({rank - step, 1});
      if (rank % (2 * step) == 0 && rank + step < size) down.push_back({rank + step, 1});
      stages_.push_back(std::make_unique<ExchangePlan>(communicator, up, down));
    }
  }
  void run(std::vector<double>& values) override {
    const auto length = static_cast<int>(values.size());
    received_.resize(values.size());
    for (const auto& stage : stages_) {
      exchanger_.run<double>(*stage, values.data(), received_.data(), length);
      if (stage->receives().empty()) continue;
      for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::max(values[n], received_[n]);
    }
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
      const bool gives = !(*stage)->receives().empty();
      const double* from = gives ? values.data() : received_.data();
      double* to = gives ? received_.data() : values.data();
      exchanger_.run<double>(**stage, from, to, length, Direction::reverse);
    }
  }
  double expected() const override { return communicator_.size() - 1; }

 private:
  Communicator communicator_;
  Exchanger exchanger_;
  std::vector<std::unique_ptr<ExchangePlan>> stages_;
  std::vector<double> received_;
};

class Broadcast final : public Collective {
 public:
  explicit Broadcast(const Communicator& communicator) : communicator_(communicator) {}
  void run(std::vector<double>& values) override { communicator_.broadcast(values); }
  double expected() const override { return 0.0; }

 private:
  Communicator communicator_;
};

// Exchange with given partners through one backend.
class Exchange final : public Collective {
 public:
  Exchange(const Communicator& communicator, Backend backend, std::vector<Segment> sends,
           std::vector<Segment> receives, double expected)
      : plan_(communicator, std::move(sends), std::move(receives)),
        exchanger_("collective", communicator, {.exchange = backend}),
        expected_(expected) {}
  void run(std::vector<double>& values) override {
    const auto items = std::max<std::int64_t>(1, plan_.items_sent());
    const auto length = std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(items));
    values.resize(length * static_cast<std::size_t>(items));
    received_.resize(length * static_cast<std::size_t>(plan_.items_received()));
    exchanger_.run<double>(plan_, values.data(), received_.data(), static_cast<int>(length));
    values.swap(received_);
  }
  double expected() const override { return expected_; }

 private:
  ExchangePlan plan_;
  Exchanger exchanger_;
  double expected_;
  std::vector<double> received_;
};

std::unique_ptr<Collective> make(const Communicator& communicator, const std::string& name) {
  const int rank = communicator.rank(), size = communicator.size();
  if (name == "all_reduce") return std::make_unique<AllReduce>(communicator);
  if (name == "tree") return std::make_unique<Tree>(communicator);
  if (name == "broadcast") return std::make_unique<Broadcast>(communicator);
  if (name == "ring") {
    const int before = (rank + size - 1) % size, next = (rank + 1) % size;
    return std::make_unique<Exchange>(communicator, Backend::p2p, std::vector<Segment>{{next, 1}},
                                      std::vector<Segment>{{before, 1}}, before);
  }
  std::vector<Segment> everybody;
  for (int other = 0; other < size; ++other) everybody.push_back({other, 1});
  return std::make_unique<Exchange>(communicator, Backend::alltoall, everybody, everybody, 0.0);
}

struct CollectivesRequest {
  Choice names{collectives(), "all"};
  std::int64_t most = 10'000'000;
  int repeats = 100;
  double seconds = 2.0;
};

void declare(Options& options, CollectivesRequest& request) {
  options.choice("--call", request.names, "Collective operation");
  options.count("--most", request.most,
                "Maximum number of doubles; smaller sizes are 1, 10, 100, ...");
  options.count("--repeats", request.repeats, "Number of timed calls");
  options.number("--seconds", request.seconds, 0.0, 1e6, "Maximum time per operation [s]");
}

void measure_all(const CollectivesRequest& request, const Communicator& communicator,
                 Report& report) {
  constexpr const char* row = "{:<11} {:>9} {:>8} {:>12} {:>12}";
  report.line(fmt::format("{} rank(s); seconds of the slowest rank\n", communicator.size()));
  report.line(fmt::format(row, "call", "doubles", "repeats", "mean", "least"));
  for (const std::string& name : request.names.selected())
    for (std::int64_t doubles = 1; doubles <= request.most; doubles *= 10) {
      const CollectiveResult result =
          measure_collective(communicator, name, doubles, request.repeats, request.seconds);
      report.line(fmt::format(row, name, doubles, result.repeats,
                              fmt::format("{:.2e}", result.mean_seconds),
                              fmt::format("{:.2e}", result.least_seconds)));
      JsonObject object;
      object.add("call", name)
          .add("ranks", communicator.size())
          .add("doubles", doubles)
          .add("repeats", result.repeats)
          .add("mean_seconds", result.mean_seconds)
          .add("least_seconds", result.least_seconds);
      report.add(object);
    }
}

}  // namespace

const std::vector<std::string>& collectives() {
  static const std::vector<std::string> k_names{"all_reduce", "tree", "broadcast", "ring",
                                                "all_to_all"};
  return k_names;
}

CollectiveResult measure_collective(const Communicator& communicator, const std::string& name,
                                    std::int64_t doubles, int repeats, double seconds) {
  const auto collective = make(communicator, name);
  CollectiveResult result;
  double sum = 0.0;
  for (int n = 0; n <= repeats && sum < seconds; ++n) {
    std::vector<double> values(static_cast<std::size_t>(doubles), communicator.rank());
    communicator.barrier();
    const Clock clock;
    collective->run(values);
    const double slowest = communicator.max(clock.seconds());
    OCTANT_REQUIRE(values.front() == collective->expected(), "{} returned {} instead of {}", name,
                   values.front(), collective->expected());
    if (n == 0) continue;  // warm-up
    sum += slowest;
    ++result.repeats;
    result.least_seconds = n == 1 ? slowest : std::min(result.least_seconds, slowest);
  }
  result.mean_seconds = sum / static_cast<double>(result.repeats);
  return result;
}

int collectives_bench(const std::vector<std::string>& words) {
  return run_command<CollectivesRequest>("collectives", "Collective MPI calls", declare,
                                         measure_all, words);
}

}  // namespace octant::bench
