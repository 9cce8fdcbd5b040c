#include "pencil/transpose.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "comm/exchanger.hpp"
#include "core/observer.hpp"

namespace octant::pencil {

TransposeTransport::TransposeTransport(const Communicator& ranks, TransposeSide source,
                                       TransposeSide target,
                                       std::shared_ptr<TransposeBuffers> buffers)
    : ranks_(ranks),
      source_(std::move(source)),
      target_(std::move(target)),
      buffers_(std::move(buffers)) {}

void TransposeTransport::pack(TransposeEnd end, const Part& part, const double* array) const {
  const Observed packing(Phase::pack, "transpose");
  side(end).pack(part, array, message(end, part));
}

void TransposeTransport::unpack(TransposeEnd end, const Part& part, double* array) const {
  const Observed unpacking(Phase::unpack, "transpose");
  side(end).unpack(part, message(end, part), array);
}

void TransposeTransport::pack_all(TransposeEnd end, const double* array) const {
  for (const Part& part : side(end).parts()) pack(end, part, array);
}

void TransposeTransport::unpack_all(TransposeEnd end, double* array) const {
  for (const Part& part : side(end).parts()) unpack(end, part, array);
}

void SharedSlots::reserve(const Communicator& ranks, std::int64_t largest) {
  largest = ranks.max(largest);
  if (memory && size >= largest) return;
  memory.reset();
  size = largest;
  memory = std::make_unique<SharedMemory>(ranks, static_cast<std::size_t>(largest) * ranks.size());
}

void SharedSlots::take_turns(Direction direction) {
  memory->synchronise();
  partners_turn = direction == Direction::reverse;
}

namespace {

Exchanger make_exchanger(const std::string& name, const Communicator& ranks, Backend backend) {
  CommOptions options;
  options.exchange = backend;
  return Exchanger(name, ranks, options);
}

// Transport with messages in buffers. The part that stays on this rank is stored only once, behind
// the messages of the target.
class BufferedMessages : public TransposeTransport {
 public:
  using TransposeTransport::TransposeTransport;

  double* message(TransposeEnd end, const Part& part) const override {
    if (own_apart_ && part.rank == ranks_.rank())
      return messages(TransposeEnd::target) + target_.count();
    return messages(end) + part.begin;
  }

 protected:
  double* messages(TransposeEnd end) const {
    return (end == TransposeEnd::source ? buffers_->source : buffers_->target).data();
  }
  void set_own_apart() {
    own_apart_ = true;
    source_.set_own_apart();
    target_.set_own_apart();
  }
  std::int64_t own_count() const {
    const Part* own = own_apart_ ? source_.own() : nullptr;
    return own ? own->count : 0;
  }

  bool own_apart_ = false;
};

// Transport that sends all messages at once by a backend of comm/.
class AtOnce final : public BufferedMessages {
 public:
  // Arrays that equal their messages are not packed.
  AtOnce(const std::string& name, const Communicator& ranks, const TransposeSide& source,
         const TransposeSide& target, std::shared_ptr<TransposeBuffers> buffers, Backend backend,
         bool in_steps)
      : BufferedMessages(ranks, source, target, std::move(buffers)),
        in_place_{!in_steps && source.messages_are_array(),
                  !in_steps && target.messages_are_array()},
        exchanger_(make_exchanger(name, ranks, backend)) {
    if (!in_place_[0] && !in_place_[1]) set_own_apart();
    if (!in_place_[0]) buffers_->source.reserve(source_.count());
    if (!in_place_[1]) buffers_->target.reserve(target_.count() + own_count());
    plan_ = std::make_unique<ExchangePlan>(ranks, source_.segments(), target_.segments());
  }

  void exchange(Direction direction) override {
    move(messages(from(direction)), messages(to(direction)), direction);
  }
  void run(const double* read, double* write, Direction direction) override {
    const TransposeEnd out = from(direction), in = to(direction);
    if (!in_place(out)) pack_all(out, read);
    move(in_place(out) ? read : messages(out), in_place(in) ? write : messages(in), direction);
    if (!in_place(in)) unpack_all(in, write);
  }

 private:
  bool in_place(TransposeEnd end) const { return in_place_[end == TransposeEnd::target]; }
  void move(const double* out, double* in, Direction direction) {
    exchanger_.run(*plan_, out, in, 1, direction);
  }

  bool in_place_[2];  // source, target
  std::unique_ptr<ExchangePlan> plan_;
  Exchanger exchanger_;
};

// Transport that exchanges messages with one partner after another; messages are packed and
// unpacked during other transfers.
class Pairwise final : public BufferedMessages {
 public:
  Pairwise(const std::string& name, const Communicator& ranks, const TransposeSide& source,
           const TransposeSide& target, std::shared_ptr<TransposeBuffers> buffers)
      : BufferedMessages(ranks, source, target, std::move(buffers)) {
    set_own_apart();
    buffers_->source.reserve(source_.count());
    buffers_->target.reserve(target_.count() + own_count());
    make_steps(name);
  }

  void exchange(Direction direction) override {
    for (Step& step : steps_) start(step, direction);
    for (Step& step : steps_) step.exchanger.finish();
  }
  void run(const double* read, double* write, Direction direction) override {
    const TransposeEnd out = from(direction), in = to(direction);
    for (Step& step : steps_) {
      if (const Part* part = step.part(out)) pack(out, *part, read);
      start(step, direction);
    }
    if (const Part* own = side(out).own()) {
      pack(out, *own, read);
      unpack(in, *side(in).own(), write);
    }
    for (Step& step : steps_) {
      step.exchanger.finish();
      if (const Part* part = step.part(in)) unpack(in, *part, write);
    }
  }

 private:
  // Exchange with the ranks at a distance above and below this rank; see make_steps().
  struct Step {
    const Part *to, *from;  // part of the source sent, part of the target received; null if empty
    ExchangePlan plan;
    Exchanger exchanger;

    const Part* part(TransposeEnd end) const { return end == TransposeEnd::source ? to : from; }
  };

  // Makes the steps, which must be the same on all ranks, because each step has its own message
  // tag.
  void make_steps(const std::string& name) {
    const int size = ranks_.size(), rank = ranks_.rank();
    constexpr int k_bits = 64;
    std::vector<std::uint64_t> used(size / k_bits + 1);
    for (const Part& part : source_.parts()) {
      const int distance = (part.rank - rank + size) % size;
      used[distance / k_bits] |= std::uint64_t{1} << distance % k_bits;
    }
    ranks_.bitwise_or_in_place(std::span<std::uint64_t>(used));
    for (int distance = 1; distance < size; ++distance) {
      if (!(used[distance / k_bits] >> distance % k_bits & 1)) continue;
      const Part* to = source_.with((rank + distance) % size);
      const Part* from = target_.with((rank - distance + size) % size);
      std::vector<Segment> sends, receives;
      if (to) sends.push_back({to->rank, to->count});
      if (from) receives.push_back({from->rank, from->count});
      steps_.push_back({to, from, ExchangePlan(ranks_, sends, receives),
                        make_exchanger(name, ranks_, Backend::p2p)});
    }
  }

  void start(Step& step, Direction direction) {
    const TransposeEnd out = from(direction), in = to(direction);
    const auto place = [&](TransposeEnd end) {
      const Part* part = step.part(end);
      return messages(end) + (part ? part->begin : 0);
    };
    step.exchanger.start(step.plan, place(out), place(in), 1, direction);
  }

  std::vector<Step> steps_;
};

// Transport within a node: messages are written to shared memory, where the partner reads them. In
// both directions a message is stored in the slot of the rank that has the target.
class InSharedMemory final : public TransposeTransport {
 public:
  InSharedMemory(const Communicator& ranks, const TransposeSide& source,
                 const TransposeSide& target, std::shared_ptr<TransposeBuffers> buffers)
      : TransposeTransport(ranks, source, target, std::move(buffers)) {
    std::int64_t largest = 0;
    for (const TransposeSide* side : {&source_, &target_})
      for (const Part& part : side->parts()) largest = std::max(largest, part.count);
    buffers_->slots.reserve(ranks, largest);
  }

  double* message(TransposeEnd end, const Part& part) const override {
    const bool ours = end == TransposeEnd::target;
    const int holder = ours ? ranks_.rank() : part.rank;
    const int partner = ours ? part.rank : ranks_.rank();
    return buffers_->slots.of(holder, partner);
  }
  void exchange(Direction direction) override { buffers_->slots.take_turns(direction); }
  void run(const double* read, double* write, Direction direction) override {
    const bool forward = direction == Direction::forward;
    if (forward != buffers_->slots.partners_turn) buffers_->slots.memory->synchronise();
    pack_all(from(direction), read);
    exchange(direction);
    unpack_all(to(direction), write);
  }
};

}  // namespace

std::unique_ptr<TransposeTransport> make_transport(
    const std::string& name, const Communicator& ranks, const TransposeSide& source,
    const TransposeSide& target, TransposeBackend backend,
    std::shared_ptr<TransposeBuffers> buffers, bool in_steps) {
  const auto at_once = [&](Backend messages) {
    return std::make_unique<AtOnce>(name, ranks, source, target, buffers, messages, in_steps);
  };
  switch (backend) {
    case TransposeBackend::pairwise:
      return std::make_unique<Pairwise>(name, ranks, source, target, buffers);
    case TransposeBackend::p2p: return at_once(Backend::p2p);
    case TransposeBackend::alltoall: return at_once(Backend::alltoall);
    case TransposeBackend::ksection: return at_once(Backend::ksection);
    case TransposeBackend::shared:
      return std::make_unique<InSharedMemory>(ranks, source, target, buffers);
  }
  return nullptr;
}

}  // namespace octant::pencil
