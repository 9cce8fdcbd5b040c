#include "pencil/joined_transposes.hpp"

#include <algorithm>
#include <utility>

#include "comm/exchanger.hpp"
#include "core/clock.hpp"

namespace octant::pencil {

namespace {

// The parts of all members on one side, in the order of their messages.
struct JoinedSide {
  struct Piece {
    std::size_t member;
    Part part;
    std::int64_t begin;  // in the buffer
  };
  std::vector<const TransposeSide*> sides;
  std::vector<Piece> pieces;
  std::vector<Segment> segments;
  Buffer buffer;

  explicit JoinedSide(std::vector<const TransposeSide*> of_members) : sides(of_members) {
    for (std::size_t n = 0; n < sides.size(); ++n)
      for (const Part& part : sides[n]->parts()) pieces.push_back({n, part, 0});
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.part.rank < b.part.rank; });
    std::int64_t count = 0;
    for (Piece& piece : pieces) {
      piece.begin = std::exchange(count, count + piece.part.count);
      if (segments.empty() || segments.back().rank != piece.part.rank)
        segments.push_back({piece.part.rank, 0});
      segments.back().count += piece.part.count;
    }
    buffer.reserve(static_cast<std::size_t>(count));
  }
  void pack(std::span<double* const> arrays) {
    for (const auto& [member, part, begin] : pieces)
      sides[member]->pack(part, arrays[member], buffer.data() + begin);
  }
  void unpack(std::span<double* const> arrays) const {
    for (const auto& [member, part, begin] : pieces)
      sides[member]->unpack(part, buffer.data() + begin, arrays[member]);
  }
};

Backend backend_of(TransposeBackend backend) {
  switch (backend) {
    case TransposeBackend::alltoall: return Backend::alltoall;
    case TransposeBackend::ksection: return Backend::ksection;
    default: return Backend::p2p;
  }
}

CommOptions by(Backend backend) {
  CommOptions options;
  options.exchange = backend;
  return options;
}

}  // namespace

struct JoinedTransposes::State {
  State(const std::string& name, const Communicator& ranks, std::vector<Member> all,
        TransposeBackend backend)
      : members(std::move(all)),
        source(sides([](const Member& member) { return &member.source; })),
        target(sides([](const Member& member) { return &member.target; })),
        rank(ranks.rank()),
        plan(ranks, source.segments, target.segments),
        exchanger(name, ranks, by(backend_of(backend))) {}

  template <class SideOf>
  std::vector<const TransposeSide*> sides(const SideOf& side_of) const {
    std::vector<const TransposeSide*> list;
    for (const Member& member : members) list.push_back(side_of(member));
    return list;
  }
  void run(JoinedSide& from, JoinedSide& to, std::span<double* const> read,
           std::span<double* const> write, Direction direction) {
    const Clock clock;
    from.pack(read);
    exchanger.run(plan, from.buffer.data(), to.buffer.data(), 1, direction);
    to.unpack(write);
    traffic.calls += 1;
    for (const Segment& segment : from.segments) {
      const std::int64_t bytes = segment.count * static_cast<std::int64_t>(sizeof(double));
      if (segment.rank == rank) {
        traffic.kept_bytes += bytes;
      } else {
        traffic.messages += 1;
        traffic.bytes += bytes;
      }
    }
    traffic.seconds += clock.seconds();
  }

  std::vector<Member> members;
  JoinedSide source, target;
  int rank;
  ExchangePlan plan;
  Exchanger exchanger;
  TransposeTraffic traffic;
};

JoinedTransposes::JoinedTransposes(const std::string& name, const Communicator& ranks,
                                   std::vector<Member> members, TransposeBackend backend)
    : state_(std::make_unique<State>(name, ranks, std::move(members), backend)) {}

JoinedTransposes::~JoinedTransposes() = default;
JoinedTransposes::JoinedTransposes(JoinedTransposes&&) noexcept = default;

void JoinedTransposes::forward(std::span<double* const> sources, std::span<double* const> targets) {
  state_->run(state_->source, state_->target, sources, targets, Direction::forward);
}

void JoinedTransposes::backward(std::span<double* const> targets,
                                std::span<double* const> sources) {
  state_->run(state_->target, state_->source, targets, sources, Direction::reverse);
}

const TransposeTraffic& JoinedTransposes::traffic() const { return state_->traffic; }

}  // namespace octant::pencil
