// Notes the messages of an exchange and how long this rank stood still for each, for the observer
// of the run. Internal to comm/. Does nothing where nobody observes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "comm/communicator.hpp"
#include "core/observer.hpp"

namespace octant {

class MessageLog {
 public:
  // An exchange begins.
  void begin();
  // A message is posted; returns its number. `peer` is a rank of `communicator`; < 0: not known.
  std::size_t post(const Communicator& communicator, int peer, bool received, std::size_t bytes);
  // From here on the rank stands still until the next message is done.
  void stand_still();
  // A message is done, now.
  void done(std::size_t number);
  // All messages that are not yet done were found to be so, by nobody waiting.
  void all_done();
  // The exchange has ended: tells the observer.
  void report(std::string_view component, int level);

  bool is_kept() const { return kept_; }

 private:
  bool kept_ = false;
  std::int64_t started_ = 0, still_since_ = 0;
  std::vector<MessageReport> messages_;
};

}  // namespace octant
