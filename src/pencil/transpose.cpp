#include "pencil/transpose.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/exchanger.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"

namespace octant::pencil {

Layout Layout::ordered(const Box& box, std::array<int, 3> axes) {
  Layout layout{box, {}, std::max(box[0].count(), 1), 0};
  std::int64_t stride = 1;
  for (const int axis : axes) {
    layout.stride[axis] = stride;
    stride *= box[axis].count();
  }
  return layout;
}

namespace {

// The cells that go to, or come from, one rank, and their place in a message buffer. Within it,
// they lie in the order x, y, z, x fastest.
struct Part {
  int rank;
  Box box;
  std::int64_t begin, count;
};

// Calls move(entry of the array, entry of the part's message, length) for the adjacent entries of a
// part in the rows y of planes z of a layout: block by block along x, so that a caller's plane is
// read or written in its own order.
template <class Move>
void for_each_run(const Layout& layout, const Part& part, Range y, Range z, const Move& move) {
  const auto local = [&](int axis) {
    const int begin = layout.box[axis].begin;
    return Range{part.box[axis].begin - begin, part.box[axis].end - begin};
  };
  const Range xs = local(0), ys = local(1), zs = local(2);
  const Range rows = intersection(y, ys), planes = intersection(z, zs);
  const auto entry = [&](int x, int j, int k) {
    const std::int64_t row = std::int64_t{k - zs.begin} * ys.count() + j - ys.begin;
    return row * xs.count() + x - xs.begin;
  };
  const bool dense = layout.stride[0] == 1;
  const int block = dense ? layout.block : std::max(xs.count(), 1);
  for (int x = xs.begin, length = 0; x < xs.end; x += length) {
    length = std::min(xs.end, (x / block + 1) * block) - x;
    const std::int64_t first = layout.at(x, 0, 0);
    const bool rows_adjoin = dense && length == xs.count() && layout.stride[1] == length;
    const int at_once = rows_adjoin ? rows.count() : 1;
    for (int k = planes.begin; k < planes.end; ++k)
      for (int j = rows.begin; j < rows.end; j += at_once) {
        const std::int64_t at = first + j * layout.stride[1] + k * layout.stride[2];
        if (dense) move(at, entry(x, j, k), length * at_once);
        else
          for (int i = 0; i < length; ++i) move(layout.at(x + i, j, k), entry(x + i, j, k), 1);
      }
  }
}

// Most runs have this length (two cache lines): a call would take longer than the copy.
void copy_run(const double* from, int length, double* to) {
  constexpr int k_short = 16;
  if (length == k_short) std::copy_n(from, k_short, to);
  else std::copy_n(from, length, to);
}

Range all_rows(const Layout& layout) { return {0, layout.box[1].count()}; }
Range all_planes(const Layout& layout) { return {0, layout.box[2].count()}; }

// Whether the parts, one after the other, are the array itself.
bool lie_in_place(const Layout& layout, const std::vector<Part>& parts) {
  std::int64_t next = 0;
  bool in_place = true;
  for (const Part& part : parts)
    for_each_run(layout, part, all_rows(layout), all_planes(layout),
                 [&](std::int64_t at, std::int64_t message, int length) {
                   in_place = in_place && at == next && part.begin + message == next;
                   next += length;
                 });
  return in_place;
}

Backend backend_of_comm(TransposeBackend backend) {
  switch (backend) {
    case TransposeBackend::alltoall: return Backend::alltoall;
    case TransposeBackend::ksection: return Backend::ksection;
    default: return Backend::p2p;
  }
}

Exchanger make_exchanger(const std::string& name, const Communicator& ranks,
                         TransposeBackend backend) {
  CommOptions options;
  options.exchange = backend_of_comm(backend);
  return Exchanger(name, ranks, options);
}

// One side of the transpose: this rank's array, and its parts by ascending rank.
struct Side {
  Layout layout;
  std::vector<Part> parts;
  bool in_place = false;
  std::int64_t count = 0;  // entries of its messages

  std::vector<Segment> segments(int without) const {
    std::vector<Segment> list;
    for (const Part& part : parts)
      if (part.rank != without) list.push_back({part.rank, part.count});
    return list;
  }
  const Part* with(int rank) const {
    for (const Part& part : parts)
      if (part.rank == rank) return &part;
    return nullptr;
  }
  // Takes a rank's part out of the messages: to their end.
  void set_apart(int rank) {
    std::int64_t begin = 0;
    for (Part& part : parts)
      if (part.rank != rank) part.begin = begin, begin += part.count;
    for (Part& part : parts)
      if (part.rank == rank) part.begin = begin;
    count = begin;
  }
};

Side side_of(const Layout& layout, int ranks, const Transpose::BoxOf& other_side) {
  Side side{layout, {}, false, 0};
  for (int rank = 0; rank < ranks; ++rank) {
    const Box common = intersection(layout.box, other_side(rank));
    const std::int64_t count = common.cells();
    if (count == 0) continue;
    side.parts.push_back({rank, common, side.count, count});
    side.count += count;
  }
  side.in_place = lie_in_place(layout, side.parts);
  return side;
}

// Of a team, the first thread reports.
class ObservedTeam {
 public:
  ObservedTeam(const Team& team, Phase phase) {
    if (team.is_first()) observed_.emplace(phase, "transpose");
  }

 private:
  std::optional<Observed> observed_;
};

// The exchange with the rank `distance` further on and the one as far back.
struct Step {
  const Part *to, *from;  // of the source and of the target side; none if there is nothing
  ExchangePlan plan;
  Exchanger exchanger;
};

}  // namespace

struct Transpose::State {
  Communicator ranks;
  Side source, target;
  TransposeBackend backend;
  std::shared_ptr<TransposeBuffers> buffers;
  // What stays on this rank is kept out of the messages, behind those of the target, unless one of
  // the arrays takes the part of its messages.
  bool own_apart = false, has_slabs = false;
  std::unique_ptr<ExchangePlan> plan;  // not if pairwise
  std::unique_ptr<Exchanger> exchanger;
  std::vector<Step> steps;  // if pairwise
  TransposeTraffic traffic;

  void make_steps(const std::string& name);
  double* messages(const Side& side) const {
    return (&side == &source ? buffers->source : buffers->target).data();
  }
  double* message(const Side& side, const Part& part) const {
    if (backend == TransposeBackend::shared) {
      const bool ours = &side == &target;
      const int holder = ours ? ranks.rank() : part.rank, partner = ours ? part.rank : ranks.rank();
      return buffers->shared->of(holder) + buffers->slot * partner;
    }
    if (own_apart && part.rank == ranks.rank()) return messages(target) + target.count;
    return messages(side) + part.begin;
  }
  void pack(const Side& from, const Part& part, Range y, Range z, const double* values) const;
  void unpack(const Side& to, const Part& part, Range y, Range z, double* values) const;
  void pack_all(const Side& from, const Part& part, const double* array) const {
    const Observed packing(Phase::pack, "transpose");
    pack(from, part, all_rows(from.layout), all_planes(from.layout), array);
  }
  void unpack_all(const Side& to, const Part& part, double* array) const {
    const Observed unpacking(Phase::unpack, "transpose");
    unpack(to, part, all_rows(to.layout), all_planes(to.layout), array);
  }
  void exchange(const Side& from, const Side& to, const double* out, double* in,
                Direction direction);
  void start(Step& step, const double* out, double* in, Direction direction);
  void run(const Side& from, const Side& to, const double* read, double* write,
           Direction direction);
  void run_at_once(const Side& from, const Side& to, const double* read, double* write,
                   Direction direction);
  void run_pairwise(const Side& from, const Side& to, const double* read, double* write,
                    Direction direction);
  void run_shared(const Side& from, const Side& to, const double* read, double* write,
                  Direction direction);
  void reserve_slots();
  void count(const Side& from);
};

// Every rank needs the same steps, because their messages have a tag each.
void Transpose::State::make_steps(const std::string& name) {
  const int size = ranks.size(), rank = ranks.rank();
  constexpr int k_bits = 64;
  std::vector<std::uint64_t> used(size / k_bits + 1);
  for (const Part& part : source.parts) {
    const int distance = (part.rank - rank + size) % size;
    used[distance / k_bits] |= std::uint64_t{1} << distance % k_bits;
  }
  ranks.bitwise_or_in_place(std::span<std::uint64_t>(used));
  for (int distance = 1; distance < size; ++distance) {
    if (!(used[distance / k_bits] >> distance % k_bits & 1)) continue;
    const Part* to = source.with((rank + distance) % size);
    const Part* from = target.with((rank - distance + size) % size);
    std::vector<Segment> sends, receives;
    if (to) sends.push_back({to->rank, to->count});
    if (from) receives.push_back({from->rank, from->count});
    steps.push_back({to, from, ExchangePlan(ranks, sends, receives),
                     make_exchanger(name, ranks, TransposeBackend::pairwise)});
  }
}

void Transpose::State::pack(const Side& from, const Part& part, Range y, Range z,
                            const double* values) const {
  double* const message = this->message(from, part);
  const std::int64_t first = from.layout.at(0, y.begin, z.begin);
  for_each_run(from.layout, part, y, z, [&](std::int64_t at, std::int64_t to, int length) {
    copy_run(values + (at - first), length, message + to);
  });
}

void Transpose::State::unpack(const Side& to, const Part& part, Range y, Range z,
                              double* values) const {
  const double* const message = this->message(to, part);
  const std::int64_t first = to.layout.at(0, y.begin, z.begin);
  for_each_run(to.layout, part, y, z, [&](std::int64_t at, std::int64_t from, int length) {
    copy_run(message + from, length, values + (at - first));
  });
}

void Transpose::State::start(Step& step, const double* out, double* in, Direction direction) {
  const bool forward = direction == Direction::forward;
  const Part* to = forward ? step.to : step.from;
  const Part* from = forward ? step.from : step.to;
  step.exchanger.start(step.plan, out + (to ? to->begin : 0), in + (from ? from->begin : 0), 1,
                       direction);
}

// Moves the messages, and what stays on this rank if it is among them.
void Transpose::State::exchange(const Side& from, const Side& to, const double* out, double* in,
                                Direction direction) {
  if (backend != TransposeBackend::pairwise) {
    exchanger->run(*plan, out, in, 1, direction);
    return;
  }
  for (Step& step : steps) start(step, out, in, direction);
  const Part *own = from.with(ranks.rank()), *own_in = to.with(ranks.rank());
  if (own && !own_apart) std::copy_n(out + own->begin, own->count, in + own_in->begin);
  for (Step& step : steps) step.exchanger.finish();
}

void Transpose::State::run_pairwise(const Side& from, const Side& to, const double* read,
                                    double* write, Direction direction) {
  const bool forward = direction == Direction::forward;
  for (Step& step : steps) {
    const Part* out = forward ? step.to : step.from;
    if (out) pack_all(from, *out, read);
    start(step, messages(from), messages(to), direction);
  }
  if (const Part* own = from.with(ranks.rank())) {
    pack_all(from, *own, read);
    const Part& own_in = *to.with(ranks.rank());
    if (!own_apart)
      std::copy_n(messages(from) + own->begin, own->count, messages(to) + own_in.begin);
    unpack_all(to, own_in, write);
  }
  for (Step& step : steps) {
    const Part* in = forward ? step.from : step.to;
    step.exchanger.finish();
    if (in) unpack_all(to, *in, write);
  }
}

// Whichever side it comes from, the partner's slots are written or read.
void Transpose::State::run_shared(const Side& from, const Side& to, const double* read,
                                  double* write, Direction direction) {
  const bool forward = direction == Direction::forward;
  if (forward != buffers->partners_turn) buffers->shared->synchronise();
  for (const Part& part : from.parts) pack_all(from, part, read);
  buffers->take_turns(direction);
  for (const Part& part : to.parts) unpack_all(to, part, write);
}

void Transpose::State::reserve_slots() {
  std::int64_t largest = 0;
  for (const Part& part : source.parts) largest = std::max(largest, part.count);
  for (const Part& part : target.parts) largest = std::max(largest, part.count);
  largest = ranks.max(largest);
  if (buffers->shared && buffers->slot >= largest) return;
  buffers->shared.reset();
  buffers->slot = largest;
  buffers->shared =
      std::make_unique<SharedMemory>(ranks, static_cast<std::size_t>(largest) * ranks.size());
}

void Transpose::State::run_at_once(const Side& from, const Side& to, const double* read,
                                   double* write, Direction direction) {
  if (!from.in_place)
    for (const Part& part : from.parts) pack_all(from, part, read);
  exchange(from, to, from.in_place ? read : messages(from), to.in_place ? write : messages(to),
           direction);
  if (!to.in_place)
    for (const Part& part : to.parts) unpack_all(to, part, write);
}

void Transpose::State::count(const Side& from) {
  traffic.calls += 1;
  for (const Part& part : from.parts) {
    const std::int64_t bytes = part.count * static_cast<std::int64_t>(sizeof(double));
    if (part.rank == ranks.rank()) {
      traffic.kept_bytes += bytes;
    } else {
      traffic.messages += 1;
      traffic.bytes += bytes;
    }
  }
}

void Transpose::State::run(const Side& from, const Side& to, const double* read, double* write,
                           Direction direction) {
  const Clock clock;
  if (backend == TransposeBackend::shared) run_shared(from, to, read, write, direction);
  else if (backend == TransposeBackend::pairwise) run_pairwise(from, to, read, write, direction);
  else run_at_once(from, to, read, write, direction);
  count(from);
  traffic.seconds += clock.seconds();
}

Transpose::Transpose(std::string name, const Communicator& communicator, const BoxOf& source_of,
                     const BoxOf& target_of, const Layout& source, const Layout& target,
                     TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers,
                     bool in_steps)
    : state_(new State{communicator,
                       side_of(source, communicator.size(), target_of),
                       side_of(target, communicator.size(), source_of),
                       backend,
                       buffers ? std::move(buffers) : std::make_shared<TransposeBuffers>(),
                       false,
                       false,
                       nullptr,
                       nullptr,
                       {},
                       {}}) {
  State& s = *state_;
  const int rank = communicator.rank();
  OCTANT_REQUIRE(source.box == source_of(rank) && target.box == target_of(rank),
                 "transpose {}: the layouts of rank {} hold other boxes than its own", name, rank);
  s.has_slabs = s.target.in_place;
  if (in_steps) s.source.in_place = s.target.in_place = false;
  s.own_apart = !s.source.in_place && !s.target.in_place;
  std::int64_t own = 0;
  if (s.own_apart) {
    if (const Part* part = s.source.with(rank)) own = part->count;
    s.source.set_apart(rank);
    s.target.set_apart(rank);
  }
  if (backend == TransposeBackend::shared) {
    s.reserve_slots();
    return;
  }
  const bool pairwise = backend == TransposeBackend::pairwise;
  if (!s.source.in_place || pairwise) s.buffers->source.reserve(s.source.count);
  if (!s.target.in_place || pairwise) s.buffers->target.reserve(s.target.count + own);
  if (pairwise) {
    s.make_steps(name);
    return;
  }
  const int left_out = s.own_apart ? rank : -1;
  s.plan = std::make_unique<ExchangePlan>(communicator, s.source.segments(left_out),
                                          s.target.segments(left_out));
  s.exchanger = std::make_unique<Exchanger>(make_exchanger(name, communicator, backend));
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
  state_->run(state_->source, state_->target, source, target, Direction::forward);
}

void Transpose::backward(const double* target, double* source) {
  state_->run(state_->target, state_->source, target, source, Direction::reverse);
}

void Transpose::pack(const Team& team, End end, Range y, Range z, const double* values) {
  const ObservedTeam packing(team, Phase::pack);
  Clock clock;
  const Side& side = end == End::source ? state_->source : state_->target;
  const Range own = team.share(y);
  values += (own.begin - y.begin) * side.layout.stride[1];
  for (const Part& part : side.parts) state_->pack(side, part, own, z, values);
  team.lap(clock, state_->traffic.seconds);
}

void Transpose::unpack(const Team& team, End end, Range y, Range z, double* values) const {
  const ObservedTeam unpacking(team, Phase::unpack);
  Clock clock;
  const Side& side = end == End::source ? state_->source : state_->target;
  const Range own = team.share(y);
  values += (own.begin - y.begin) * side.layout.stride[1];
  for (const Part& part : side.parts) state_->unpack(side, part, own, z, values);
  team.lap(clock, state_->traffic.seconds);
}

void Transpose::exchange(Direction direction) {
  State& s = *state_;
  const Clock clock;
  const bool forward = direction == Direction::forward;
  const Side &from = forward ? s.source : s.target, &to = forward ? s.target : s.source;
  if (s.backend == TransposeBackend::shared) s.buffers->take_turns(direction);
  else s.exchange(from, to, s.messages(from), s.messages(to), direction);
  s.count(from);
  s.traffic.seconds += clock.seconds();
}

int Transpose::pieces(End end) const {
  return static_cast<int>((end == End::source ? state_->source : state_->target).parts.size());
}

RowPiece Transpose::piece(End end, int n, int k) const {
  const Side& side = end == End::source ? state_->source : state_->target;
  const Part& part = side.parts[n];
  OCTANT_REQUIRE(part.box[1] == side.layout.box[1] && part.box[2] == side.layout.box[2],
                 "the parts of this transpose are not pieces of rows");
  const int begin = side.layout.box[0].begin, width = part.box[0].count();
  const std::ptrdiff_t rows = part.box[1].count();
  return {{part.box[0].begin - begin, part.box[0].end - begin},
          state_->message(side, part) + k * rows * width,
          width};
}

Message Transpose::message(End end, int n) const {
  const Side& side = end == End::source ? state_->source : state_->target;
  const Part& part = side.parts[n];
  return {part.rank, state_->message(side, part),
          std::ptrdiff_t{part.box[0].count()} * part.box[1].count()};
}

std::vector<Slab> Transpose::slabs() const {
  OCTANT_REQUIRE(state_->has_slabs && state_->own_apart,
                 "the target of this transpose is not slabs of planes");
  std::vector<Slab> slabs;
  for (const Part& part : state_->target.parts)
    slabs.push_back({part.box[2], state_->message(state_->target, part)});
  return slabs;
}

std::int64_t Transpose::entries_sent() const {
  std::int64_t entries = 0;
  for (const Part& part : state_->source.parts)
    if (part.rank != state_->ranks.rank()) entries += part.count;
  return entries;
}

const TransposeTraffic& Transpose::traffic() const { return state_->traffic; }

}  // namespace octant::pencil
