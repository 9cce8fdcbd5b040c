#include "pencil/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/exchanger.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"

namespace octant::pencil {

std::string to_string(TransposeBackend backend) {
  switch (backend) {
    case TransposeBackend::pairwise: return "pairwise";
    case TransposeBackend::p2p: return "p2p";
    case TransposeBackend::alltoall: return "alltoall";
    case TransposeBackend::ksection: return "ksection";
  }
  return "?";
}

TransposeBackend transpose_backend(const std::string& name) {
  for (const TransposeBackend backend : k_transpose_backends)
    if (name == to_string(backend)) return backend;
  throw InputError(
      "there is no transpose backend \"{}\"; expected pairwise, p2p, alltoall or ksection", name);
}

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

// Calls move(first entry, length) for the adjacent entries of a box in a layout, in the order of
// messages.
template <class Move>
void for_each_run(const Layout& layout, const Box& box, const Move& move) {
  const int x0 = box[0].begin - layout.box[0].begin, x1 = box[0].end - layout.box[0].begin;
  const int longest = layout.stride[0] == 1 ? layout.block : 1;
  for (int z = box[2].begin - layout.box[2].begin; z < box[2].end - layout.box[2].begin; ++z)
    for (int y = box[1].begin - layout.box[1].begin; y < box[1].end - layout.box[1].begin; ++y)
      for (int x = x0; x < x1;) {
        const int length = std::min(x1, (x / longest + 1) * longest) - x;
        move(layout.at(x, y, z), length);
        x += length;
      }
}

void pack(const Layout& layout, const Box& box, const double* array, double* message) {
  const Observed packing(Phase::pack, "transpose");
  for_each_run(layout, box, [&](std::int64_t at, int length) {
    std::copy_n(array + at, length, message);
    message += length;
  });
}

void unpack(const Layout& layout, const Box& box, const double* message, double* array) {
  const Observed unpacking(Phase::unpack, "transpose");
  for_each_run(layout, box, [&](std::int64_t at, int length) {
    std::copy_n(message, length, array + at);
    message += length;
  });
}

// Whether the parts, one after the other, are the array itself.
bool lie_in_place(const Layout& layout, const std::vector<Part>& parts) {
  std::int64_t next = 0;
  bool in_place = true;
  for (const Part& part : parts)
    for_each_run(layout, part.box, [&](std::int64_t at, int length) {
      in_place = in_place && at == next;
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
  options.exchange = to_string(backend_of_comm(backend));
  return Exchanger(name, ranks, options);
}

// One side of the transpose: this rank's array, and its parts by ascending rank.
struct Side {
  Layout layout;
  std::vector<Part> parts;
  bool in_place = false;

  std::int64_t count() const { return parts.empty() ? 0 : parts.back().begin + parts.back().count; }
  std::vector<Segment> segments() const {
    std::vector<Segment> list;
    for (const Part& part : parts) list.push_back({part.rank, part.count});
    return list;
  }
  const Part* with(int rank) const {
    for (const Part& part : parts)
      if (part.rank == rank) return &part;
    return nullptr;
  }
};

Side side_of(const Layout& layout, int ranks, const Transpose::BoxOf& other_side) {
  Side side{layout, {}, false};
  std::int64_t begin = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Box common = intersection(layout.box, other_side(rank));
    const std::int64_t count = common.cells();
    if (count == 0) continue;
    side.parts.push_back({rank, common, begin, count});
    begin += count;
  }
  side.in_place = lie_in_place(layout, side.parts);
  return side;
}

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
  std::unique_ptr<ExchangePlan> plan;  // of all parts, own one included; not if pairwise
  std::unique_ptr<Exchanger> exchanger;
  std::vector<Step> steps;  // if pairwise
  TransposeTraffic traffic;

  void make_steps(const std::string& name);
  void run(const Side& from, const Side& to, const double* read, double* write,
           Direction direction);
  void run_at_once(const Side& from, const Side& to, const double* read, double* write,
                   Direction direction);
  void run_pairwise(const Side& from, const Side& to, const double* read, double* write,
                    Direction direction);
  void copy_own(const Side& from, const Side& to, const double* read, double* write);
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

void Transpose::State::copy_own(const Side& from, const Side& to, const double* read,
                                double* write) {
  const Part* own = from.with(ranks.rank());
  if (!own) return;
  double* message = buffers->send.data() + own->begin;
  pack(from.layout, own->box, read, message);
  unpack(to.layout, own->box, message, write);
}

void Transpose::State::run_pairwise(const Side& from, const Side& to, const double* read,
                                    double* write, Direction direction) {
  const bool forward = direction == Direction::forward;
  double *send = buffers->send.data(), *receive = buffers->receive.data();
  for (Step& step : steps) {
    const Part* out = forward ? step.to : step.from;
    const Part* in = forward ? step.from : step.to;
    if (out) pack(from.layout, out->box, read, send + out->begin);
    step.exchanger.start(step.plan, out ? send + out->begin : send,
                         in ? receive + in->begin : receive, 1, direction);
  }
  copy_own(from, to, read, write);
  for (Step& step : steps) {
    const Part* in = forward ? step.from : step.to;
    step.exchanger.finish();
    if (in) unpack(to.layout, in->box, receive + in->begin, write);
  }
}

void Transpose::State::run_at_once(const Side& from, const Side& to, const double* read,
                                   double* write, Direction direction) {
  Buffer& unused_or_second = from.in_place ? buffers->send : buffers->receive;
  double* receive = to.in_place ? write : unused_or_second.data();
  if (!from.in_place)
    for (const Part& part : from.parts)
      pack(from.layout, part.box, read, buffers->send.data() + part.begin);
  exchanger->run(*plan, from.in_place ? read : buffers->send.data(), receive, 1, direction);
  if (!to.in_place)
    for (const Part& part : to.parts) unpack(to.layout, part.box, receive + part.begin, write);
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
  if (backend == TransposeBackend::pairwise) run_pairwise(from, to, read, write, direction);
  else run_at_once(from, to, read, write, direction);
  count(from);
  traffic.seconds += clock.seconds();
}

Transpose::Transpose(std::string name, const Communicator& communicator, const BoxOf& source_of,
                     const BoxOf& target_of, const Layout& source, const Layout& target,
                     TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers,
                     bool overlapping)
    : state_(new State{communicator,
                       side_of(source, communicator.size(), target_of),
                       side_of(target, communicator.size(), source_of),
                       backend,
                       buffers ? std::move(buffers) : std::make_shared<TransposeBuffers>(),
                       nullptr,
                       nullptr,
                       {},
                       {}}) {
  const int rank = communicator.rank();
  OCTANT_REQUIRE(source.box == source_of(rank) && target.box == target_of(rank),
                 "transpose {}: the layouts of rank {} hold other boxes than its own", name, rank);
  // All is packed before anything is unpacked.
  if (overlapping) state_->source.in_place = state_->target.in_place = false;
  // Both directions use both buffers, unless one of the arrays takes the part of a buffer.
  const bool pairwise = backend == TransposeBackend::pairwise;
  const bool one_in_place = state_->source.in_place || state_->target.in_place;
  const std::int64_t most = std::max(state_->source.count(), state_->target.count());
  state_->buffers->send.reserve(most);
  if (pairwise || !one_in_place) state_->buffers->receive.reserve(most);
  if (pairwise) {
    state_->make_steps(name);
    return;
  }
  state_->plan = std::make_unique<ExchangePlan>(communicator, state_->source.segments(),
                                                state_->target.segments());
  state_->exchanger = std::make_unique<Exchanger>(make_exchanger(name, communicator, backend));
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

std::int64_t Transpose::entries_sent() const {
  std::int64_t entries = 0;
  for (const Part& part : state_->source.parts)
    if (part.rank != state_->ranks.rank()) entries += part.count;
  return entries;
}

const TransposeTraffic& Transpose::traffic() const { return state_->traffic; }

}  // namespace octant::pencil
