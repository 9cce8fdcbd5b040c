// Moves the items of exchange plans: one Exchanger per component, which learns its fastest backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm_options.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"

namespace octant {

// What one component sent through one backend from this rank, since it was made.
struct ExchangeCount {
  std::string component;
  Backend backend;
  std::int64_t exchanges = 0;
  std::int64_t messages = 0;  // sent to other ranks, including empty ones (k-section)
  std::int64_t partners = 0;  // most ranks that a single exchange sent to
  std::int64_t bytes = 0;     // sent to other ranks, forwarded bytes included
  double seconds = 0.0;       // inside start, progress and finish
};

// One component's exchanges. Its calls should move similar amounts, because their times are
// compared: give each level its own, and tell which it is (-1: none). `buffers` is the memory where
// those of all its exchanges lie. At most one exchange of an Exchanger is under way; several
// Exchangers may be at the same time.
//
// The constructor, start, finish and finish_receives are collective: all ranks call them in the
// same order, also those with an empty plan. The others are local.
class Exchanger {
 public:
  Exchanger(std::string component, const Communicator& communicator,
            const CommOptions& options = {}, int level = -1, Buffers buffers = Buffers::of_host);
  ~Exchanger();
  Exchanger(Exchanger&&) noexcept;
  Exchanger& operator=(Exchanger&&) noexcept;

  // Posts the exchange of `values_per_item` values per item. Forward, `send` holds the plan's send
  // segments and `receive` takes its receive segments; in reverse, `send` holds what was the
  // receive buffer and `receive` takes what was the send buffer. Neither may be touched until
  // finish, and they must not overlap. In the memory of a device it waits for kernels that were
  // launched before.
  template <Number T>
  void start(const ExchangePlan& plan, const T* send, T* receive, int values_per_item,
             Direction direction = Direction::forward) {
    start_bytes(plan, reinterpret_cast<const std::byte*>(send),
                reinterpret_cast<std::byte*>(receive), sizeof(T) * values_per_item, direction);
  }
  // Moves on a backend with several stages; call it now and then between start and finish.
  void progress();
  // Waits until the receive buffer is filled and the send buffer is free again. In the memory of a
  // device the buffer is filled for kernels that are launched afterwards.
  void finish();

  // Waits until the receive buffer is filled, and no longer: what has not left the send buffer yet
  // drains by itself. That buffer must stay as it is until drained() says so, or drain() returns.
  void finish_receives();
  // Whether nothing is leaving this buffer any more. Does not wait.
  bool drained(const void* send);
  // Waits until that holds for all buffers.
  void drain();

  template <Number T>
  void run(const ExchangePlan& plan, const T* send, T* receive, int values_per_item,
           Direction direction = Direction::forward) {
    start(plan, send, receive, values_per_item, direction);
    finish();
  }

  // Items of any trivially copyable type, by their size.
  void start_bytes(const ExchangePlan& plan, const std::byte* send, std::byte* receive,
                   std::size_t item_bytes, Direction direction = Direction::forward);

  bool under_way() const;
  // The backend of the exchange under way, or else of the last one.
  Backend backend() const;
  // One row per backend that was used.
  std::vector<ExchangeCount> report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant
