// How the messages of a transpose travel. Internal to pencil/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "comm/shared_memory.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// The messages of both sides, where they lie and how they get from one side to the other. Parts are
// those of its sides.
class TransposeTransport {
 public:
  TransposeTransport(const Communicator& ranks, TransposeSide source, TransposeSide target,
                     std::shared_ptr<TransposeBuffers> buffers);
  virtual ~TransposeTransport() = default;

  const TransposeSide& side(TransposeEnd end) const {
    return end == TransposeEnd::source ? source_ : target_;
  }
  const Communicator& ranks() const { return ranks_; }

  // Where a message is written before an exchange, and read after one.
  virtual double* message(TransposeEnd end, const Part& part) const = 0;
  // Moves the messages that have been packed at one end to the other. Collective.
  virtual void exchange(Direction direction) = 0;
  // Packs all of an array, moves it and unpacks all of the other one. Collective.
  virtual void run(const double* read, double* write, Direction direction) = 0;

 protected:
  static TransposeEnd from(Direction direction) {
    return direction == Direction::forward ? TransposeEnd::source : TransposeEnd::target;
  }
  static TransposeEnd to(Direction direction) {
    return direction == Direction::forward ? TransposeEnd::target : TransposeEnd::source;
  }
  void pack(TransposeEnd end, const Part& part, const double* array) const;
  void unpack(TransposeEnd end, const Part& part, double* array) const;
  void pack_all(TransposeEnd end, const double* array) const;
  void unpack_all(TransposeEnd end, double* array) const;

  Communicator ranks_;
  TransposeSide source_, target_;
  std::shared_ptr<TransposeBuffers> buffers_;
};

// `in_steps`: pack, exchange and unpack will be used. Collective.
std::unique_ptr<TransposeTransport> make_transport(
    const std::string& name, const Communicator& ranks, const TransposeSide& source,
    const TransposeSide& target, TransposeBackend backend,
    std::shared_ptr<TransposeBuffers> buffers, bool in_steps);

}  // namespace octant::pencil
