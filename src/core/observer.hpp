// The hook through which rooms tell what they are doing, to whoever records it.
//
// Time is told in scopes that nest: an inner one interrupts the outer one. Only the rank's main
// thread reports. Where nobody observes, a report is a look at one pointer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace octant {

// What a rank does with its time.
enum class Phase : std::uint8_t {
  compute,
  pack,
  send,
  wait,
  unpack,
  collective,
  regrid,
  rebalance,
  io,
  other
};
inline constexpr int k_phases = 10;
std::string_view to_string(Phase phase);

// What travels between the memories of host and device (core/residency.hpp).
enum class Cargo : std::uint8_t {
  fields,     // values of a level's or a grid's cells
  particles,  // values of particles that change their set or their rank, or are asked for
  messages,   // packed buffers of exchanges
  lists,      // of the few cells, particles or events that something happens to
  numbers,    // a few for each block, tile, plane or level
  tables,     // that kernels read: made when the mesh changes, or from parameters
  files       // what files hold
};
inline constexpr int k_cargoes = 7;
std::string_view to_string(Cargo cargo);
enum class Way : std::uint8_t { to_device, to_host };
inline constexpr int k_ways = 2;
std::string_view to_string(Way way);

// One message that this rank sent or received, told when it is done. Points in time are those of
// Observer::now().
struct MessageReport {
  int peer = -1;  // -1: not known
  bool received = false;
  std::int64_t bytes = 0;
  std::int64_t started_ns = 0;  // when its exchange began on this rank
  std::int64_t posted_ns = 0;
  std::int64_t waited_ns = 0;  // how long the rank stood still for it, until `done_ns`
  std::int64_t done_ns = 0;
};

// Receives the reports. Names are copied.
class Observer {
 public:
  virtual ~Observer() = default;

  // Nanoseconds on a clock that never runs backwards.
  static std::int64_t now();

  // A scope begins; `level` < 0: that of the scope around it.
  virtual void enter(Phase phase, std::string_view name, int level) = 0;
  // The innermost scope ends.
  virtual void leave() = 0;
  // The time since the last report belonged to this, not to the innermost scope.
  virtual void lap(Phase phase, std::string_view name) = 0;
  // Adds to what the innermost scope has worked on or moved.
  virtual void count(std::int64_t cells, std::int64_t bytes) = 0;
  // Bytes have travelled between host and device, or would have where they share their memory.
  virtual void copied(Cargo /*cargo*/, Way /*way*/, std::int64_t /*bytes*/) {}
  // The messages of one exchange of a component that are done.
  virtual void messages(std::string_view component, int level,
                        std::span<const MessageReport> done) = 0;

  // Who observes this process; null: nobody.
  static Observer* current() { return current_; }
  static void set_current(Observer* observer) { current_ = observer; }

 private:
  inline static Observer* current_ = nullptr;
};

// Reports a scope for as long as it lives.
class Observed {
 public:
  Observed(Phase phase, std::string_view name, int level = -1) : observer_(Observer::current()) {
    if (observer_) observer_->enter(phase, name, level);
  }
  ~Observed() {
    if (observer_) observer_->leave();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // Work of this scope; call it while no inner scope lives.
  void count(std::int64_t cells, std::int64_t bytes = 0) const {
    if (observer_) observer_->count(cells, bytes);
  }

 private:
  Observer* observer_;
};

inline void observe_lap(Phase phase, std::string_view name) {
  if (Observer* observer = Observer::current()) observer->lap(phase, name);
}

inline void observe_copy(Cargo cargo, Way way, std::int64_t bytes) {
  if (Observer* observer = Observer::current()) observer->copied(cargo, way, bytes);
}

}  // namespace octant
