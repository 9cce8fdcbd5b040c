#include "pencil/transpose.hpp"

#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"
#include "pencil/transpose_transport.hpp"

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

// Of a team, the first thread reports.
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
    count(direction);
    traffic.seconds += clock.seconds();
  }
  void count(Direction direction) {
    traffic.calls += 1;
    for (const Part& part : (direction == Direction::forward ? source() : target()).parts()) {
      const std::int64_t bytes = part.count * static_cast<std::int64_t>(sizeof(double));
      if (part.rank == transport->ranks().rank()) {
        traffic.kept_bytes += bytes;
      } else {
        traffic.messages += 1;
        traffic.bytes += bytes;
      }
    }
  }
};

Transpose::Transpose(const std::string& name, const Communicator& communicator,
                     const BoxOf& source_of, const BoxOf& target_of, const Layout& source,
                     const Layout& target, TransposeBackend backend,
                     std::shared_ptr<TransposeBuffers> buffers, bool in_steps)
    : state_(std::make_unique<State>()) {
  const int rank = communicator.rank(), ranks = communicator.size();
  OCTANT_REQUIRE(source.box == source_of(rank) && target.box == target_of(rank),
                 "transpose {}: the layouts of rank {} hold other boxes than its own", name, rank);
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
  state_->count(direction);
  state_->traffic.seconds += clock.seconds();
}

int Transpose::pieces() const { return static_cast<int>(state_->source().parts().size()); }

RowPiece Transpose::piece(int n, int k) const {
  const Box& whole = state_->source().layout().box;
  const Part& part = state_->source().parts()[n];
  OCTANT_REQUIRE(part.box[1] == whole[1] && part.box[2] == whole[2],
                 "the parts of this transpose are not pieces of rows");
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

}  // namespace octant::pencil
