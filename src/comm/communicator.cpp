#include "comm/communicator.hpp"

#include <exception>
#include <new>

#include "core/error.hpp"
#include "core/log.hpp"

namespace octant {

namespace {

enum class Outcome : std::int32_t { success, input_error, run_error };

// Runs the step; returns its outcome and stores the error message.
Outcome attempt(const std::function<void()>& step, std::string& message) {
  try {
    step();
    return Outcome::success;
  } catch (const InputError& error) {
    message = error.what();
    return Outcome::input_error;
  } catch (const std::bad_alloc&) {
    message = "out of memory";
  } catch (const std::exception& error) {
    message = error.what();
  }
  return Outcome::run_error;
}

}  // namespace

Communicator Communicator::world() { return Communicator(mpi::world()); }

void Communicator::broadcast(std::string& text, int root) const {
  std::uint64_t length = text.size();
  broadcast(length, root);
  text.resize(length);
  mpi::broadcast(*comm_, std::as_writable_bytes(std::span(text)), root);
}

void Communicator::collective_try(const std::function<void()>& step) const {
  std::string message;
  Outcome outcome = attempt(step, message);
  const int lowest = min(outcome == Outcome::success ? size() : rank());
  if (lowest == size()) return;
  broadcast(outcome, lowest);
  broadcast(message, lowest);
  if (outcome == Outcome::input_error) throw InputError("{}", message);
  throw RunError("{}", message);
}

PendingMaxima::~PendingMaxima() {
  if (values_.empty()) return;  // empty if this object was moved from
  try {
    requests_.wait();
  } catch (const RunError& error) {  // a second exception would end the program
    log::warn("{}", error.what());
  }
}

}  // namespace octant
