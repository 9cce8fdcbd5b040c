// Several transposes whose messages travel together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pencil/transpose.hpp"

namespace octant::pencil {

// Transposes of several arrays of the same ranks at once: what goes from one rank to another
// travels in one message.
class JoinedTransposes {
 public:
  struct Member {
    TransposeSide source, target;
  };

  // Messages travel by one of comm's backends, "pairwise" as "p2p". Collective.
  JoinedTransposes(const std::string& name, const Communicator& ranks, std::vector<Member> members,
                   TransposeBackend backend);
  ~JoinedTransposes();
  JoinedTransposes(JoinedTransposes&&) noexcept;

  // Arrays in the order of the members. Collective.
  void forward(std::span<double* const> sources, std::span<double* const> targets);
  void backward(std::span<double* const> targets, std::span<double* const> sources);

  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
