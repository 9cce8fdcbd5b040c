// Execution of exchange plans: one Exchanger per component, which selects its fastest backend.
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

// Statistics of one component and backend on this rank since its construction.
struct ExchangeCount {
  std::string component;
  Backend backend;
  std::int64_t exchanges = 0;
  std::int64_t messages = 0;  // messages sent to other ranks, including empty ones (k-section)
  std::int64_t partners = 0;  // maximum number of receiving ranks of an exchange
  std::int64_t bytes = 0;     // bytes sent to other ranks, including forwarded ones
  double seconds = 0.0;       // time inside start, progress and finish, in seconds
};

// Exchanges of one component. They should move similar amounts of data, because their times are
// compared: use one Exchanger per level, with the level number (-1: none). `buffers` is the memory
// space of all buffers. At most one exchange of an Exchanger may be active; several Exchangers may
// be active at the same time.
//
// The constructor, start, finish and finish_receives are collective: all ranks call them in the
// same order, also those with an empty plan. The other functions are local.
class Exchanger {
 public:
  // `component` names the exchanges in reports and telemetry. The backend of `options` is used, or
  // all available ones are timed in turn and the fastest is kept ("auto").
  Exchanger(std::string component, const Communicator& communicator,
            const CommOptions& options = {}, int level = -1, Buffers buffers = Buffers::of_host);
  ~Exchanger();
  Exchanger(Exchanger&&) noexcept;
  Exchanger& operator=(Exchanger&&) noexcept;

  // Starts the exchange of `values_per_item` values per item. Forward, `send` holds the plan's send
  // segments and `receive` takes its receive segments; in reverse, `send` holds the receive
  // segments and `receive` takes the send segments. Buffers must not be accessed until finish, and
  // must not overlap. Waits for earlier kernels if buffers are in device memory.
  template <Number T>
  void start(const ExchangePlan& plan, const T* send, T* receive, int values_per_item,
             Direction direction = Direction::forward) {
    start_bytes(plan, reinterpret_cast<const std::byte*>(send),
                reinterpret_cast<std::byte*>(receive), sizeof(T) * values_per_item, direction);
  }
  // Advances a backend with several stages; should be called occasionally between start and finish.
  void progress();
  // Waits until the receive buffer is filled and the send buffer is free again. In device memory
  // the buffer is filled for kernels launched afterwards.
  void finish();

  // Waits until the receive buffer is filled; sends may still be pending. The send buffer must not
  // change until drained() is true or wait_sends() returns.
  void finish_receives();
  // Returns true if no send from this buffer is pending. Does not wait.
  bool drained(const void* send);
  // Waits until no send is pending from any buffer.
  void wait_sends();

  // Exchanges and waits: start() followed by finish(). Collective.
  template <Number T>
  void run(const ExchangePlan& plan, const T* send, T* receive, int values_per_item,
           Direction direction = Direction::forward) {
    start(plan, send, receive, values_per_item, direction);
    finish();
  }

  // Starts an exchange of items of any trivially copyable type, given by their size.
  void start_bytes(const ExchangePlan& plan, const std::byte* send, std::byte* receive,
                   std::size_t item_bytes, Direction direction = Direction::forward);

  // Returns true while an exchange is active, from start to finish.
  bool under_way() const;
  // Backend of the current exchange, or else of the last one.
  Backend backend() const;
  // Returns one row per backend that was used.
  std::vector<ExchangeCount> report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant
