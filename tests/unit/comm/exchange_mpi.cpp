#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "comm/exchanger.hpp"
#include "comm/rank_tree.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "tests/unit/comm/tree_messages.hpp"
#include "tests/unit/kernel_watch.hpp"

namespace octant {
namespace {

TEST(CountItems, joins_consecutive_items_of_a_rank) {
  std::vector<Segment> segments;
  for (const int rank : {2, 2, 5}) count_items(segments, rank);
  count_items(segments, 5, 3);
  count_items(segments, 2);
  EXPECT_EQ(segments, (std::vector<Segment>{{2, 2}, {5, 4}, {2, 1}}));
}

CommOptions with(Backend backend) {
  CommOptions options;
  options.exchange = backend;
  return options;
}

// How many items each rank sends to each, the same table on every rank: some pairs have no segment,
// some an empty one, some ranks send to themselves.
class RandomPattern {
 public:
  RandomPattern(const Communicator& communicator, unsigned seed)
      : rank_(communicator.rank()), ranks_(communicator.size()), counts_(ranks_ * ranks_) {
    std::mt19937 random(seed);
    for (int& count : counts_) {
      const auto kind = random() % 4;
      count = kind == 0 ? k_no_segment : kind == 1 ? 0 : static_cast<int>(random() % 30);
    }
  }

  std::vector<Segment> sends() const {
    std::vector<Segment> segments;
    for (int rank = 0; rank < ranks_; ++rank) add(segments, rank, count(rank_, rank));
    return segments;
  }
  std::vector<Segment> receives() const {
    std::vector<Segment> segments;
    for (int rank = 0; rank < ranks_; ++rank) add(segments, rank, count(rank, rank_));
    return segments;
  }

 private:
  static constexpr int k_no_segment = -1;

  int count(int source, int destination) const { return counts_[source * ranks_ + destination]; }
  static void add(std::vector<Segment>& segments, int rank, int count) {
    if (count != k_no_segment) segments.push_back({rank, count});
  }

  int rank_, ranks_;
  std::vector<int> counts_;
};

// A value that tells where it belongs: the send side's rank, the receive side's, and the place.
template <class T>
T value_of(int sender, int receiver, std::int64_t place, int salt) {
  return static_cast<T>(salt * 10000000 + (sender * 16 + receiver) * 10000 + place);
}

template <class T>
std::vector<T> send_side(const Communicator& world, const ExchangePlan& plan, int values,
                         int salt) {
  std::vector<T> buffer;
  for (const Segment& segment : plan.sends())
    for (std::int64_t n = 0; n < segment.count * values; ++n)
      buffer.push_back(value_of<T>(world.rank(), segment.rank, n, salt));
  return buffer;
}

template <class T>
std::vector<T> receive_side(const Communicator& world, const ExchangePlan& plan, int values,
                            int salt) {
  std::vector<T> buffer;
  for (const Segment& segment : plan.receives())
    for (std::int64_t n = 0; n < segment.count * values; ++n)
      buffer.push_back(value_of<T>(segment.rank, world.rank(), n, salt));
  return buffer;
}

template <class T>
class ExchangeMpi : public testing::Test {};
using ValueTypes = testing::Types<double, std::int32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ExchangeMpi, ValueTypes);

TYPED_TEST(ExchangeMpi, every_backend_delivers_every_item_in_both_directions) {
  using T = TypeParam;
  const auto world = Communicator::world();
  for (const Backend backend : k_all_backends) {
    Exchanger exchanger("test", world, with(backend));
    for (unsigned seed = 0; seed < 8; ++seed) {
      const RandomPattern pattern(world, seed);
      const ExchangePlan plan(world, pattern.sends(), pattern.receives());
      for (const int values : {1, 5}) {
        const auto sent = send_side<T>(world, plan, values, 1);
        const auto expected = receive_side<T>(world, plan, values, 1);
        std::vector<T> received(expected.size()), returned(sent.size());
        exchanger.run(plan, sent.data(), received.data(), values);
        EXPECT_EQ(received, expected) << name_of(backend);
        exchanger.run(plan, received.data(), returned.data(), values, Direction::reverse);
        EXPECT_EQ(returned, sent) << name_of(backend);
      }
    }
  }
}

TEST(ExchangerMpi, a_plan_serves_many_exchanges) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 3);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  for (const Backend backend : k_all_backends) {
    Exchanger exchanger("test", world, with(backend));
    for (int salt = 0; salt < 100; ++salt) {
      const auto sent = send_side<std::int64_t>(world, plan, 2, salt);
      const auto expected = receive_side<std::int64_t>(world, plan, 2, salt);
      std::vector<std::int64_t> received(expected.size());
      exchanger.run(plan, sent.data(), received.data(), 2);
      EXPECT_EQ(received, expected) << name_of(backend) << ", exchange " << salt;
    }
  }
}

TEST(ExchangerMpi, several_exchanges_are_under_way_at_once_and_do_not_mix) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 5);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  std::vector<Exchanger> exchangers;
  for (int n = 0; n < 6; ++n) exchangers.emplace_back("test", world, with(k_all_backends[n / 2]));

  std::vector<std::vector<double>> sent, received;
  for (int n = 0; n < 6; ++n) {
    sent.push_back(send_side<double>(world, plan, 3, n));
    received.emplace_back(plan.items_received() * 3);
  }
  for (int n = 0; n < 6; ++n) {
    exchangers[n].start(plan, sent[n].data(), received[n].data(), 3);
    EXPECT_TRUE(exchangers[n].under_way());
  }
  for (int repetition = 0; repetition < 100; ++repetition)
    for (auto& exchanger : exchangers) exchanger.progress();
  for (int n = 5; n >= 0; --n) {
    exchangers[n].finish();
    EXPECT_EQ(received[n], receive_side<double>(world, plan, 3, n))
        << name_of(k_all_backends[n / 2]);
  }
}

TEST(ExchangerMpi, sends_drain_while_the_next_exchange_takes_another_buffer) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 11);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  for (const Backend backend : k_all_backends) {
    Exchanger exchanger("test", world, with(backend));
    std::vector<std::vector<double>> buffers;
    for (int salt = 0; salt < 6; ++salt) {
      const auto values = send_side<double>(world, plan, 1, salt);
      auto free = std::find_if(buffers.begin(), buffers.end(), [&](const auto& buffer) {
        return exchanger.drained(buffer.data());
      });
      if (free == buffers.end()) free = buffers.emplace(buffers.end(), values.size());
      std::copy(values.begin(), values.end(), free->begin());
      std::vector<double> received(static_cast<std::size_t>(plan.items_received()), -1.0);
      exchanger.start<double>(plan, free->data(), received.data(), 1);
      exchanger.finish_receives();
      EXPECT_EQ(received, receive_side<double>(world, plan, 1, salt)) << name_of(backend);
    }
    exchanger.wait_sends();
    for (const auto& buffer : buffers) EXPECT_TRUE(exchanger.drained(buffer.data()));
  }
}

// The last rank requests its message only when the first one, which does not wait for that, has
// come on: had it to wait until the message has left, both would stand still for ever.
TEST(ExchangerMpi, nobody_waits_for_sends_to_leave) {
  const auto world = Communicator::world();
  const int last = world.size() - 1;
  if (last == 0) return;
  constexpr std::int64_t k_doubles = 1 << 20;  // more than MPI buffers by itself
  const auto plan = ExchangePlan::from_sends(
      world, world.is_root() ? std::vector<Segment>{{last, k_doubles}} : std::vector<Segment>{});
  const std::vector<double> sent(static_cast<std::size_t>(plan.items_sent()), 3.0);
  std::vector<double> received(static_cast<std::size_t>(plan.items_received()));
  Exchanger exchanger("test", world, with(Backend::p2p));
  if (world.rank() == last) world.barrier();
  exchanger.start<double>(plan, sent.data(), received.data(), 1);
  exchanger.finish_receives();
  EXPECT_TRUE(!world.is_root() || !exchanger.drained(sent.data()));
  if (world.rank() != last) world.barrier();
  exchanger.wait_sends();
  EXPECT_TRUE(exchanger.drained(sent.data()));
  EXPECT_TRUE(std::all_of(received.begin(), received.end(), [](double v) { return v == 3.0; }));
}

TEST(ExchangerMpi, without_overlap_everything_has_arrived_when_start_returns) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 12);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  for (const Backend backend : k_all_backends) {
    CommOptions options = with(backend);
    options.overlap = false;
    Exchanger exchanger("test", world, options);
    for (int salt = 0; salt < 2; ++salt) {
      const auto sent = send_side<double>(world, plan, 2, salt);
      std::vector<double> received(static_cast<std::size_t>(2 * plan.items_received()), -1.0);
      exchanger.start<double>(plan, sent.data(), received.data(), 2);
      EXPECT_EQ(received, receive_side<double>(world, plan, 2, salt)) << name_of(backend);
      EXPECT_TRUE(exchanger.under_way());
      exchanger.finish();
      EXPECT_FALSE(exchanger.under_way());
    }
  }
}

using Numbers = Kokkos::View<double*, DeviceMemory>;

void write_numbers(const Numbers& numbers) {
  Kokkos::parallel_for(
      "write numbers", numbers.size(), KOKKOS_LAMBDA(int n) { numbers(n) = n; });
}

TEST(ExchangerMpi, kernels_run_on_while_what_was_staged_is_delivered) {
  const auto world = Communicator::world();
  const std::vector<Segment> one{{(world.rank() + 1) % world.size(), 1}},
      other{{(world.rank() + world.size() - 1) % world.size(), 1}};
  const ExchangePlan plan(world, one, other);
  CommOptions options;
  options.exchange = Backend::p2p;
  options.staging = Staging::always;
  Exchanger exchanger("staged", world, options, -1, Buffers::of_device);
  const Numbers sent("sent", 1), received("received", 1), interior("interior", 1000);
  fill(sent, 1.0 + world.rank());
  exchanger.start<double>(plan, sent.data(), received.data(), 1);
  const test::KernelWatch watch;
  write_numbers(interior);
  exchanger.finish();
  EXPECT_EQ(watch.waits(), 0);
  EXPECT_EQ(to_vector(TransferKind::numbers, received).front(), 1.0 + other.front().rank);
}

TEST(ExchangerMpi, receive_segments_are_found_from_the_send_segments) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 6);
  const auto plan = ExchangePlan::from_sends(world, pattern.sends());
  std::vector<Segment> expected = pattern.receives();
  std::erase_if(expected, [](const Segment& segment) { return segment.count == 0; });
  EXPECT_EQ(plan.receives(), expected);
  plan.check();
}

TEST(ExchangerMpi, a_plan_that_the_ranks_see_differently_is_an_error_on_every_rank) {
  const auto world = Communicator::world();
  if (world.size() == 1) GTEST_SKIP() << "takes two ranks";
  std::vector<Segment> sends, receives;
  if (world.rank() == 0) sends = {{1, 3}};
  if (world.rank() == 1) receives = {{0, 4}};
  const ExchangePlan plan(world, sends, receives);
  EXPECT_THROW(plan.check(), RunError);
}

TEST(ExchangerMpi, malformed_segments_are_refused) {
  const auto world = Communicator::world();
  EXPECT_THROW(ExchangePlan(world, {{world.size(), 1}}, {}), RunError);
  EXPECT_THROW(ExchangePlan(world, {{0, -1}}, {}), RunError);
  EXPECT_THROW(ExchangePlan(world, {{0, 1}, {0, 1}}, {}), RunError);
  EXPECT_THROW(ExchangePlan(world, {{world.rank(), 2}}, {}), RunError);
}

TEST(ExchangerMpi, starting_twice_or_finishing_nothing_is_refused) {
  const auto world = Communicator::world();
  const ExchangePlan plan(world, {}, {});
  Exchanger exchanger("test", world);
  EXPECT_THROW(exchanger.finish(), RunError);
  const double* nothing_sent = nullptr;
  double* nothing_received = nullptr;
  exchanger.start(plan, nothing_sent, nothing_received, 1);
  EXPECT_THROW(exchanger.start(plan, nothing_sent, nothing_received, 1), RunError);
  exchanger.finish();
}

// Section 3.1.3 of the cuRAMSES paper: 4 messages on 12 ranks, whatever is sent.
TEST(ExchangerMpi, ksection_sends_the_same_number_of_messages_for_every_plan) {
  const auto world = Communicator::world();
  Exchanger exchanger("test", world, with(Backend::ksection));
  for (unsigned seed = 0; seed < 5; ++seed) {
    const RandomPattern pattern(world, seed);
    const ExchangePlan plan(world, pattern.sends(), pattern.receives());
    const auto sent = send_side<double>(world, plan, 1, 0);
    std::vector<double> received(plan.items_received());
    exchanger.run(plan, sent.data(), received.data(), 1);
  }
  const ExchangePlan empty(world, {}, {});
  exchanger.run<double>(empty, nullptr, nullptr, 1);

  const auto report = exchanger.report();
  ASSERT_EQ(report.size(), 1u);
  const int messages = messages_per_exchange(RankTree(world.size()), world.rank());
  if (world.size() == 12) {
    EXPECT_EQ(messages, 4);
  }
  EXPECT_EQ(report[0].exchanges, 6);
  EXPECT_EQ(report[0].messages, 6 * messages);
  EXPECT_EQ(report[0].partners, messages);
}

TEST(ExchangerMpi, point_to_point_counts_the_messages_partners_and_bytes_of_its_segments) {
  const auto world = Communicator::world();
  const RandomPattern pattern(world, 2);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  std::int64_t partners = 0, items = 0;
  for (const Segment& segment : plan.sends()) {
    if (segment.rank == world.rank() || segment.count == 0) continue;
    partners += 1;
    items += segment.count;
  }
  Exchanger exchanger("test", world, with(Backend::p2p));
  const auto sent = send_side<double>(world, plan, 3, 0);
  std::vector<double> received(plan.items_received() * 3);
  for (int n = 0; n < 2; ++n) exchanger.run(plan, sent.data(), received.data(), 3);
  const auto report = exchanger.report();
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].messages, 2 * partners);
  EXPECT_EQ(report[0].partners, partners);
  EXPECT_EQ(report[0].bytes, 2 * 3 * 8 * items);
}

TEST(ExchangerMpi, automatic_choice_tries_all_backends_and_is_the_same_on_every_rank) {
  const auto world = Communicator::world();
  CommOptions options;
  options.trial_calls = 3;
  options.probe_interval = 7;
  options.probe_calls = 2;
  Exchanger exchanger("test", world, options);
  const RandomPattern pattern(world, 9);
  const ExchangePlan plan(world, pattern.sends(), pattern.receives());
  for (int salt = 0; salt < 60; ++salt) {
    const auto sent = send_side<double>(world, plan, 1, salt);
    std::vector<double> received(plan.items_received());
    exchanger.run(plan, sent.data(), received.data(), 1);
    EXPECT_EQ(received, receive_side<double>(world, plan, 1, salt));
    const int backend = static_cast<int>(exchanger.backend());
    EXPECT_EQ(world.max(backend), world.min(backend)) << "in exchange " << salt;
  }
  EXPECT_EQ(exchanger.report().size(), world.size() > 1 ? 3u : 1u);
}

}  // namespace
}  // namespace octant
