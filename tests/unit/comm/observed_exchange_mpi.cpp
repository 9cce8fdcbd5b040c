// What exchanges tell the observer of a run.
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/clocks.hpp"
#include "comm/exchanger.hpp"
#include "core/observer.hpp"
#ifdef OCTANT_MPI
#include "comm/native.hpp"
#endif

namespace octant {
namespace {

class Listener final : public Observer {
 public:
  Listener() { set_current(this); }
  ~Listener() override { set_current(nullptr); }

  void enter(Phase phase, std::string_view name, int level) override {
    ++entered[fmt::format("{} {} {}", to_string(phase), name, level)];
    ++depth;
  }
  void leave() override { --depth; }
  void lap(Phase, std::string_view) override {}
  void count(std::int64_t, std::int64_t bytes) override { counted += bytes; }
  void messages(std::string_view, int, std::span<const MessageReport> done) override {
    all.insert(all.end(), done.begin(), done.end());
  }

  std::map<std::string, int> entered;
  std::vector<MessageReport> all;
  std::int64_t counted = 0;
  int depth = 0;
};

// Every rank sends rank + 1 numbers to the next one.
struct Ring {
  explicit Ring(const CommOptions& options)
      : plan(ExchangePlan::from_sends(world, {{next(1), world.rank() + 1}})),
        send(world.rank() + 1, 1.0),
        receive(plan.items_received()),
        exchanger("ring", world, options, 3) {}
  int next(int step) const { return (world.rank() + step) % world.size(); }
  void run() { exchanger.run<double>(plan, send.data(), receive.data(), 1); }

  Communicator world = Communicator::world();
  ExchangePlan plan;
  std::vector<double> send, receive;
  Exchanger exchanger;
};

TEST(ObservedExchange, every_message_is_told_at_both_ends) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  for (const Backend backend : {Backend::p2p, Backend::alltoall}) {
    Ring ring({.exchange = backend});
    Listener listener;
    ring.run();
    std::map<bool, MessageReport> by_direction;
    for (const MessageReport& message : listener.all)
      if (message.peer >= 0) by_direction[message.received] = message;
    EXPECT_EQ(by_direction[false].peer, ring.next(1)) << name_of(backend);
    EXPECT_EQ(by_direction[false].bytes, 8 * (world.rank() + 1)) << name_of(backend);
    const int before = ring.next(world.size() - 1);
    EXPECT_EQ(by_direction[true].peer, before) << name_of(backend);
    EXPECT_EQ(by_direction[true].bytes, 8 * (before + 1)) << name_of(backend);
    EXPECT_EQ(listener.entered["send ring 3"], 1) << name_of(backend);
    EXPECT_EQ(listener.entered["wait ring 3"], 1) << name_of(backend);
    EXPECT_EQ(listener.depth, 0) << name_of(backend);
    for (const MessageReport& message : listener.all) {
      EXPECT_LE(message.started_ns, message.posted_ns) << name_of(backend);
      EXPECT_LE(message.posted_ns, message.done_ns) << name_of(backend);
      EXPECT_LE(message.waited_ns, message.done_ns - message.started_ns) << name_of(backend);
    }
  }
}

TEST(ObservedExchange, forwarded_messages_are_told_too) {
  if (Communicator::world().size() == 1) return;
  Ring ring({.exchange = Backend::ksection});
  Listener listener;
  ring.run();
  std::int64_t sent = 0;
  for (const MessageReport& message : listener.all)
    if (!message.received) sent += message.bytes;
  EXPECT_EQ(sent, listener.counted);
}

// Whether the rank that is late is told to be so by itself and by those that wait for it. One that
// is late for another reason does not have to wait.
bool lateness_is_told(const Communicator& world, double late) {
  Ring ring({.exchange = Backend::p2p, .late_rank = 0, .late_seconds = late});
  Listener listener;
  world.barrier();
  ring.run();
  bool told = true;
  for (const MessageReport& message : listener.all) {
    const double waited = 1e-9 * static_cast<double>(message.waited_ns);
    const double post = 1e-9 * static_cast<double>(message.posted_ns - message.started_ns);
    if (message.received && message.peer == 0) told = told && waited > 0.8 * late;
    told = told && (world.rank() == 0 ? post >= late : post < 0.8 * late);
  }
  return !world.any(!told);
}

TEST(ObservedExchange, whoever_is_late_is_the_one_that_is_waited_for) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  bool told = false;
  for (int attempt = 0; attempt < 10 && !told; ++attempt) told = lateness_is_told(world, 0.05);
  EXPECT_TRUE(told);
}

TEST(ObservedExchange, peers_are_ranks_of_the_run_in_a_part_of_it_too) {
  const Communicator world = Communicator::world();
  const Communicator part = world.split(world.rank() % 2);
  if (part.size() == 1) return;
  const int next = (part.rank() + 1) % part.size();
  const auto plan = ExchangePlan::from_sends(part, {{next, 1}});
  Exchanger exchanger("part", part, {.exchange = Backend::p2p});
  Listener listener;
  const double out = 1.0;
  double in = 0.0;
  exchanger.run<double>(plan, &out, &in, 1);
  for (const MessageReport& message : listener.all) {
    EXPECT_EQ(message.peer % 2, world.rank() % 2);
    if (!message.received) {
      EXPECT_EQ(message.peer, 2 * next + world.rank() % 2);
    }
  }
}

#ifdef OCTANT_MPI
// As a library in this program would call MPI, which is independent of Octant.
TEST(ObservedMpi, calls_of_others_are_seen_too) {
  Listener listener;
  int last = Communicator::world().rank();
  MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(last, Communicator::world().size() - 1);
  EXPECT_EQ(listener.entered["collective all_reduce -1"], 1);
  EXPECT_EQ(listener.entered["collective barrier -1"], 1);
  EXPECT_EQ(listener.entered["wait requests -1"], 1);
  EXPECT_EQ(listener.depth, 0);
}

TEST(ObservedMpi, a_stopwatch_counts_blocking_calls_while_it_lives) {
  MPI_Barrier(MPI_COMM_WORLD);
  const MpiStopwatch stopwatch;
  EXPECT_EQ(stopwatch.cpu_ns(), 0);
  for (int n = 0; n < 100; ++n) MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_GT(stopwatch.cpu_ns(), 0);
  EXPECT_GE(stopwatch.wall_ns(), stopwatch.cpu_ns() / 2);
  EXPECT_EQ(MpiStopwatch().cpu_ns(), 0);
}
#endif

TEST(ObservedExchange, nothing_is_told_where_nobody_listens) {
  if (Communicator::world().size() == 1) return;
  Ring ring({.exchange = Backend::p2p});
  ring.run();
  Listener listener;
  EXPECT_TRUE(listener.all.empty());
}

}  // namespace
}  // namespace octant
