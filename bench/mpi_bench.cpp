#include "bench/mpi_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/report.hpp"
#include "comm/mpi_layer.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

using Bytes = std::vector<std::byte>;

constexpr double k_patience = 10e-3;  // for a message to leave
constexpr double k_absence = 50e-3;   // of its receiver: much longer
// A busy processor may delay the sender beyond both times.
constexpr int k_tries = 8, k_successes = 2;
constexpr std::int64_t k_most_eager = 4 << 20;
constexpr std::int64_t k_eager_accuracy = 64;
constexpr std::size_t k_small_bytes = 320;  // corner of a block
constexpr std::size_t k_face_bytes = 20480;
constexpr int k_bursts[] = {1, 16, 256, 4096};
constexpr int k_nobody = std::numeric_limits<int>::max();

void compute(double seconds) {
  for (const Clock clock; clock.seconds() < seconds;) {
  }
}

double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

// Times of the slowest rank, one per repeat after a warm-up. Collective.
template <class Measure>
std::vector<double> repeated(const Communicator& communicator, int repeats,
                             const Measure& measure) {
  std::vector<double> seconds;
  for (int n = 0; n <= repeats; ++n) {
    communicator.barrier();
    const double time = measure();
    if (n > 0) seconds.push_back(time);
  }
  communicator.max_in_place(std::span(seconds));
  return seconds;
}

double timed(auto&& action) {
  const Clock clock;
  action();
  return clock.seconds();
}

bool leaves_at_once(const Communicator& pair, std::int64_t bytes, int tag) {
  Bytes message(static_cast<std::size_t>(bytes));
  mpi::Requests request;
  bool left = false;
  pair.barrier();
  if (pair.rank() == 0) {
    const Clock clock;
    request.send(pair.handle(), message, 1, tag);
    while (!left && clock.seconds() < k_patience) left = request.test();
    left = left && clock.seconds() < k_patience;
    request.wait();
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double>(k_absence));
    request.receive(pair.handle(), message, 0, tag);
    request.wait();
  }
  return pair.any(left);
}

bool is_eager(const Communicator& pair, std::int64_t bytes, int tag) {
  int successes = 0;
  for (int n = 0; n < k_tries && successes < k_successes; ++n)
    successes += leaves_at_once(pair, bytes, tag);
  return successes == k_successes;
}

struct MpiRequest {
  MpiCase common;
};

void declare(Options& options, MpiRequest& request) {
  MpiCase& c = request.common;
  options.count("--repeats", c.repeats, "Number of repeats of each measurement");
  options.number("--compute-seconds", c.compute_seconds, 1e-5, 10.0,
                 "Computation between the MPI calls of a test [s]");
  options.count("--transfer-bytes", c.transfer_bytes,
                "Size of the message that is transferred during computation");
}

constexpr const char* k_mpi_row = "{:<12} {:<10} {}";

std::string microseconds(double seconds) { return fmt::format("{:.1f} us", 1e6 * seconds); }

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100.0 * fraction); }

JsonObject json_of(const char* probe, const char* between) {
  JsonObject object;
  object.add("probe", probe).add("between", between);
  return object;
}

void report_pair(const Communicator& pair, const MpiCase& mpi_case, const char* between,
                 Report& report) {
  const auto row = [&](const char* probe, const std::string& text) {
    report.line(fmt::format(k_mpi_row, probe, between, text));
  };
  const std::int64_t eager = eager_limit(pair, k_most_eager);
  row("eager", fmt::format("messages of up to {}{} bytes leave before the receiver calls MPI",
                           eager == k_most_eager ? "at least " : "", eager));
  report.add(json_of("eager", between).add("bytes", eager));
  const Progress progress = transfer_progress(pair, mpi_case);
  row("progress",
      fmt::format("{} bytes: {}, of which {} during computation", mpi_case.transfer_bytes,
                  microseconds(progress.alone_seconds), percent(progress.overlapped())));
  report.add(json_of("progress", between)
                 .add("bytes", mpi_case.transfer_bytes)
                 .add("alone_seconds", progress.alone_seconds)
                 .add("wait_seconds", progress.wait_seconds)
                 .add("overlapped", progress.overlapped()));
  for (const int count : k_bursts) {
    const double seconds = burst_seconds(pair, mpi_case, count);
    row("burst", fmt::format("{} messages at once: {} each", count, microseconds(seconds)));
    report.add(json_of("burst", between).add("messages", count).add("seconds_each", seconds));
  }
}

void report_all(const Communicator& communicator, const MpiCase& mpi_case, Report& report) {
  const auto row = [&](const char* probe, const std::string& text) {
    report.line(fmt::format(k_mpi_row, probe, "all ranks", text));
  };
  const CollectiveTimes times = collective_times(communicator, mpi_case);
  row("barrier", fmt::format("{}, 99 % within {}", microseconds(times.barrier),
                             microseconds(times.barrier_p99)));
  row("all-reduce",
      fmt::format("{}, 99 % within {}; {} during computation", microseconds(times.all_reduce),
                  microseconds(times.all_reduce_p99), percent(times.background.overlapped())));
  report.add(json_of("collectives", "all")
                 .add("barrier_seconds", times.barrier)
                 .add("barrier_p99_seconds", times.barrier_p99)
                 .add("all_reduce_seconds", times.all_reduce)
                 .add("all_reduce_p99_seconds", times.all_reduce_p99)
                 .add("overlapped", times.background.overlapped()));
  const SendOrder order = measure_send_order(communicator, mpi_case);
  row("send order",
      fmt::format("waiting {} if sends precede a computation of {}, {} if they follow",
                  microseconds(order.sends_first), microseconds(mpi_case.compute_seconds),
                  microseconds(order.sends_last)));
  report.add(json_of("send_order", "all")
                 .add("compute_seconds", mpi_case.compute_seconds)
                 .add("sends_first_wait_seconds", order.sends_first)
                 .add("sends_last_wait_seconds", order.sends_last));
}

void measure_all(const MpiRequest& request, const Communicator& communicator, Report& report) {
  if (communicator.size() < 2)
    throw InputError("octant bench mpi requires at least two ranks: ./octant -n 2 bench mpi");
  const Communicator node = communicator.split_by_node();
  const bool beside_root = node.min(communicator.rank()) == 0;
  const bool is_other = communicator.rank() > 0;
  const int near = communicator.min(is_other && beside_root ? communicator.rank() : k_nobody);
  const int far = communicator.min(beside_root ? k_nobody : communicator.rank());
  report.line(fmt::format("{} rank(s); medians of {} on the slowest rank\n", communicator.size(),
                          request.common.repeats));
  for (const auto& [partner, between] :
       {std::pair(near, "one node"), std::pair(far, "two nodes")}) {
    if (partner == k_nobody) continue;
    const bool belongs = communicator.rank() == 0 || communicator.rank() == partner;
    const Communicator pair = communicator.split(belongs ? 0 : 1);
    if (belongs) report_pair(pair, request.common, between, report);
    communicator.barrier();
  }
  report_all(communicator, request.common, report);
}

}  // namespace

std::int64_t eager_limit(const Communicator& pair, std::int64_t most_bytes) {
  const int tag = mpi::new_tag(pair.handle());
  std::int64_t eager = 0, too_many = 1;
  while (too_many <= most_bytes && is_eager(pair, too_many, tag)) {
    eager = too_many;
    too_many *= 2;
  }
  if (too_many > most_bytes) return eager;
  while (too_many - eager > k_eager_accuracy) {
    const std::int64_t middle = eager + (too_many - eager) / 2;
    (is_eager(pair, middle, tag) ? eager : too_many) = middle;
  }
  return eager;
}

double Progress::overlapped() const {
  return std::clamp(1.0 - wait_seconds / alone_seconds, 0.0, 1.0);
}

Progress transfer_progress(const Communicator& pair, const MpiCase& mpi_case) {
  const int tag = mpi::new_tag(pair.handle()), other = 1 - pair.rank();
  Bytes sent(static_cast<std::size_t>(mpi_case.transfer_bytes));
  Bytes received(sent.size());
  mpi::Requests requests;
  const auto post = [&] {
    requests.receive(pair.handle(), received, other, tag);
    requests.send(pair.handle(), sent, other, tag);
  };
  Progress progress;
  progress.alone_seconds = quantile(repeated(pair, mpi_case.repeats,
                                             [&] {
                                               return timed([&] {
                                                 post();
                                                 requests.wait();
                                               });
                                             }),
                                    0.5);
  progress.wait_seconds =
      quantile(repeated(pair, mpi_case.repeats,
                        [&] {
                          post();
                          compute(2.0 * progress.alone_seconds + mpi_case.compute_seconds);
                          return timed([&] { requests.wait(); });
                        }),
               0.5);
  return progress;
}

double burst_seconds(const Communicator& pair, const MpiCase& mpi_case, int count) {
  const int tag = mpi::new_tag(pair.handle());
  Bytes buffer(k_small_bytes * static_cast<std::size_t>(count));
  const auto message = [&](int n) {
    return std::span(buffer).subspan(k_small_bytes * static_cast<std::size_t>(n), k_small_bytes);
  };
  mpi::Requests requests;
  const auto all = [&] {
    for (int n = 0; n < count; ++n) {
      if (pair.rank() == 0) requests.send(pair.handle(), message(n), 1, tag);
      else requests.receive(pair.handle(), message(n), 0, tag);
    }
    requests.wait();
  };
  const auto seconds = repeated(pair, mpi_case.repeats, [&] {
    if (pair.rank() == 1) compute(mpi_case.compute_seconds);
    const double time = timed(all);
    return pair.rank() == 1 ? time : 0.0;  // the sender may wait for the receiver
  });
  return quantile(seconds, 0.5) / count;
}

CollectiveTimes collective_times(const Communicator& communicator, const MpiCase& mpi_case) {
  CollectiveTimes times;
  const auto barriers = repeated(communicator, mpi_case.repeats,
                                 [&] { return timed([&] { communicator.barrier(); }); });
  const auto reductions = repeated(communicator, mpi_case.repeats,
                                   [&] { return timed([&] { (void)communicator.max(1.0); }); });
  times.barrier = quantile(barriers, 0.5);
  times.barrier_p99 = quantile(barriers, 0.99);
  times.all_reduce = times.background.alone_seconds = quantile(reductions, 0.5);
  times.all_reduce_p99 = quantile(reductions, 0.99);
  const auto waits = repeated(communicator, mpi_case.repeats, [&] {
    PendingMaxima maxima(communicator, {1.0});
    compute(mpi_case.compute_seconds);
    return timed([&] { maxima.wait(); });
  });
  times.background.wait_seconds = quantile(waits, 0.5);
  return times;
}

SendOrder measure_send_order(const Communicator& communicator, const MpiCase& mpi_case) {
  const int tag = mpi::new_tag(communicator.handle());
  const int size = communicator.size(), rank = communicator.rank();
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;
  const Bytes sent(k_face_bytes);
  Bytes received(k_face_bytes);
  const auto median_wait = [&](bool sends_first) {
    mpi::Requests requests;
    const auto send = [&] { requests.send(communicator.handle(), sent, next, tag); };
    return quantile(repeated(communicator, mpi_case.repeats,
                             [&] {
                               requests.receive(communicator.handle(), received, before, tag);
                               if (sends_first) send();
                               if (rank % 2 == 0) compute(mpi_case.compute_seconds);
                               if (!sends_first) send();
                               return timed([&] { requests.wait(); });
                             }),
                    0.5);
  };
  SendOrder order;
  order.sends_first = median_wait(true);
  order.sends_last = median_wait(false);
  return order;
}

int mpi_bench(const std::vector<std::string>& words) {
  return run_command<MpiRequest>("mpi", "Properties of the MPI library", declare, measure_all,
                                 words);
}

}  // namespace octant::bench
