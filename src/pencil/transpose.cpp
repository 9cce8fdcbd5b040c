#include "pencil/transpose.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "comm/exchanger.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"
#include "pencil/device_field.hpp"

namespace octant::pencil {

TransposeTraffic& TransposeTraffic::operator+=(const TransposeTraffic& other) {
  calls += other.calls;
  messages += other.messages;
  bytes += other.bytes;
  seconds += other.seconds;
  kept_bytes += other.kept_bytes;
  return *this;
}

TransposeTraffic TransposeTraffic::operator-(const TransposeTraffic& other) const {
  return {calls - other.calls, messages - other.messages, bytes - other.bytes,
          seconds - other.seconds, kept_bytes - other.kept_bytes};
}

namespace {

// Profiling record of a phase, on the first thread of a team only.
class ObservedTeam {
 public:
  ObservedTeam(const Team& team, Phase phase) {
    if (team.is_first()) observed_.emplace(phase, "transpose");
  }

 private:
  std::optional<Observed> observed_;
};

}  // namespace

struct Transpose::State {
  std::unique_ptr<TransposeTransport> transport;
  TransposeTraffic traffic;

  const TransposeSide& source() const { return transport->side(TransposeEnd::source); }
  const TransposeSide& target() const { return transport->side(TransposeEnd::target); }
  void run(const double* read, double* write, Direction direction) {
    const Clock clock;
    transport->run(read, write, direction);
    count(direction, clock.seconds());
  }
  void count(Direction direction, double seconds) {
    const TransposeSide& from = direction == Direction::forward ? source() : target();
    traffic.add_call(from.parts(), transport->ranks().rank(), seconds);
  }
};

Transpose::Transpose(const std::string& name, const Communicator& communicator,
                     const BoxOf& source_of, const BoxOf& target_of, const Layout& source,
                     const Layout& target, TransposeBackend backend,
                     std::shared_ptr<TransposeBuffers> buffers, bool in_steps)
    : state_(std::make_unique<State>()) {
  const int rank = communicator.rank(), ranks = communicator.size();
  OCTANT_REQUIRE(source.box == source_of(rank) && target.box == target_of(rank),
                 "transpose {}: the layouts of rank {} do not contain the boxes of that rank", name,
                 rank);
  if (!buffers) buffers = std::make_shared<TransposeBuffers>();
  state_->transport =
      make_transport(name, communicator, {source, rank, ranks, target_of},
                     {target, rank, ranks, source_of}, backend, std::move(buffers), in_steps);
}

Transpose Transpose::between(const PencilGrid& grid, Orientation from, Orientation to,
                             TransposeBackend backend, std::array<int, 3> from_axes,
                             std::array<int, 3> to_axes) {
  const auto either = [&](Orientation orientation) {
    return from == orientation || to == orientation;
  };
  const Layout source = Layout::ordered(grid.box(from), from_axes);
  const Layout target = Layout::ordered(grid.box(to), to_axes);
  const auto make = [&](const std::string& name, const Communicator& ranks, auto rank_of) {
    return Transpose(
        name, ranks, [&](int rank) { return grid.box(from, rank_of(rank)); },
        [&](int rank) { return grid.box(to, rank_of(rank)); }, source, target, backend);
  };
  if (either(Orientation::x) && either(Orientation::z_direct))
    return make("x-z transpose", grid.column(),
                [&](int rank) { return grid.rank_of(grid.y_index(), rank); });
  if (either(Orientation::z_direct))
    return make("transpose of z pencils", grid.communicator(), [](int rank) { return rank; });
  if (!either(Orientation::z))
    return make("x-y transpose", grid.row(),
                [&](int rank) { return grid.rank_of(rank, grid.z_index()); });
  if (!either(Orientation::x))
    return make("y-z transpose", grid.column(),
                [&](int rank) { return grid.rank_of(grid.y_index(), rank); });
  return make("x-z transpose", grid.communicator(), [](int rank) { return rank; });
}

Transpose::~Transpose() = default;
Transpose::Transpose(Transpose&&) noexcept = default;
Transpose& Transpose::operator=(Transpose&&) noexcept = default;

void Transpose::forward(const double* source, double* target) {
  state_->run(source, target, Direction::forward);
}

void Transpose::backward(const double* target, double* source) {
  state_->run(target, source, Direction::reverse);
}

void Transpose::pack(const Team& team, TransposeEnd end, Range y, Range z, const double* values) {
  const ObservedTeam packing(team, Phase::pack);
  Clock clock;
  const TransposeSide& side = state_->transport->side(end);
  const Range own = team.share(y);
  values += (own.begin - y.begin) * side.layout().stride[1];
  for (const Part& part : side.parts())
    side.pack(part, own, z, values, state_->transport->message(end, part));
  team.lap(clock, state_->traffic.seconds);
}

void Transpose::unpack(const Team& team, TransposeEnd end, Range y, Range z, double* values) {
  const ObservedTeam unpacking(team, Phase::unpack);
  Clock clock;
  const TransposeSide& side = state_->transport->side(end);
  const Range own = team.share(y);
  values += (own.begin - y.begin) * side.layout().stride[1];
  for (const Part& part : side.parts())
    side.unpack(part, own, z, state_->transport->message(end, part), values);
  team.lap(clock, state_->traffic.seconds);
}

void Transpose::exchange(Direction direction) {
  const Clock clock;
  state_->transport->exchange(direction);
  state_->count(direction, clock.seconds());
}

int Transpose::pieces() const { return static_cast<int>(state_->source().parts().size()); }

RowPiece Transpose::piece(int n, int k) const {
  const Box& whole = state_->source().layout().box;
  const Part& part = state_->source().parts()[n];
  OCTANT_REQUIRE(part.box[1] == whole[1] && part.box[2] == whole[2],
                 "the parts of this transpose are not parts of rows");
  const int begin = whole[0].begin;
  return {{part.box[0].begin - begin, part.box[0].end - begin},
          plane_of_message(n, k),
          part.box[0].count()};
}

int Transpose::rank_of_message(int n) const { return state_->source().parts()[n].rank; }

double* Transpose::plane_of_message(int n, int k) const {
  const Part& part = state_->source().parts()[n];
  const std::ptrdiff_t plane = std::ptrdiff_t{part.box[0].count()} * part.box[1].count();
  return state_->transport->message(TransposeEnd::source, part) + k * plane;
}

std::vector<Slab> Transpose::slabs() const {
  const TransposeSide& target = state_->target();
  OCTANT_REQUIRE(target.messages_are_array(),
                 "the target of this transpose is not slabs of planes");
  std::vector<Slab> slabs;
  for (const Part& part : target.parts())
    slabs.push_back({part.box[2], state_->transport->message(TransposeEnd::target, part)});
  return slabs;
}

const TransposeTraffic& Transpose::traffic() const { return state_->traffic; }

namespace {

// Parts of all members on one side, in the order of their messages.
struct JoinedSide {
  struct Piece {
    std::size_t member;
    Part part;
    std::int64_t begin;  // offset in the buffer
  };
  std::vector<const TransposeSide*> sides;
  std::vector<Piece> pieces;
  std::vector<Segment> segments;
  Buffer buffer;

  explicit JoinedSide(std::vector<const TransposeSide*> of_members) : sides(std::move(of_members)) {
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
    traffic.add_call(from.segments, rank, clock.seconds());
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

struct BatchedTranspose::State {
  State(const std::string& name, const Communicator& ranks, const BoxOf& source_of,
        const BoxOf& target_of, const CommOptions& comm, std::shared_ptr<BatchedMemory> shared)
      : rank(ranks.rank()),
        source(Layout::ordered(source_of(rank)), rank, ranks.size(), target_of),
        target(Layout::ordered(target_of(rank)), rank, ranks.size(), source_of),
        plan(ranks, source.segments(), target.segments()),
        exchanger(name, ranks, comm, -1, Buffers::of_device),
        memory(std::move(shared)) {
    const auto most = static_cast<std::size_t>(std::max(source.count(), target.count()));
    memory->reserve(BatchedMemory::leaving, most);
    memory->reserve(BatchedMemory::arriving, most);
  }

  // Returns the copies from the parts of an array to the messages.
  static std::vector<CellCopy> copies(const TransposeSide& side, const FieldView& array,
                                      double* messages) {
    std::vector<CellCopy> all;
    const Box& whole = side.layout().box;
    const auto here = [&](const Part& part, int axis) {
      const int first = whole[axis].begin;
      return Range{part.box[axis].begin - first, part.box[axis].end - first};
    };
    for (const Part& part : side.parts())
      all.push_back({part_of(array, here(part, 0), here(part, 1), here(part, 2)),
                     dense_view(messages + part.begin, part.box.shape())});
    return all;
  }

  void run(const TransposeSide& from, const FieldView& read, const TransposeSide& to,
           const FieldView& write, Direction direction) {
    const Clock clock;
    double *leaving = memory->data(BatchedMemory::leaving),
           *arriving = memory->data(BatchedMemory::arriving);
    {
      const Observed packing(Phase::pack, "transpose");
      copy_cells(copies(from, read, leaving));
    }
    exchanger.run(plan, leaving, arriving, 1, direction);
    const Observed unpacking(Phase::unpack, "transpose");
    std::vector<CellCopy> back = copies(to, write, arriving);
    for (CellCopy& copy : back) std::swap(copy.from, copy.to);
    copy_cells(back);
    traffic.add_call(from.parts(), rank, clock.seconds());
  }

  int rank;
  TransposeSide source, target;
  ExchangePlan plan;
  Exchanger exchanger;
  std::shared_ptr<BatchedMemory> memory;
  TransposeTraffic traffic;
};

BatchedTranspose::BatchedTranspose(const std::string& name, const Communicator& ranks,
                                   const BoxOf& source_of, const BoxOf& target_of,
                                   const CommOptions& comm, std::shared_ptr<BatchedMemory> memory)
    : state_(std::make_unique<State>(name, ranks, source_of, target_of, comm, std::move(memory))) {}

BatchedTranspose::~BatchedTranspose() = default;
BatchedTranspose::BatchedTranspose(BatchedTranspose&&) noexcept = default;
BatchedTranspose& BatchedTranspose::operator=(BatchedTranspose&&) noexcept = default;

void BatchedTranspose::forward(const FieldView& source, const FieldView& target) {
  state_->run(state_->source, source, state_->target, target, Direction::forward);
}

void BatchedTranspose::backward(const FieldView& target, const FieldView& source) {
  state_->run(state_->target, target, state_->source, source, Direction::reverse);
}

const TransposeTraffic& BatchedTranspose::traffic() const { return state_->traffic; }

}  // namespace octant::pencil
