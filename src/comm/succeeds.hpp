// Errors that are reduced together with other values.
#pragma once

#include <exception>

namespace octant {

// Returns true if the step throws nothing. A collective function whose step may fail on some ranks
// includes the result in a reduction that it needs anyway. If the step failed on any rank, it calls
// Communicator::collective_try(step), which runs the step again and ends all.
template <class Step>
bool succeeds(const Step& step) {
  try {
    step();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace octant
