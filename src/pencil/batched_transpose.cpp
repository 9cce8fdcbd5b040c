#include "pencil/batched_transpose.hpp"

#include <utility>
#include <vector>

#include "comm/exchanger.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"

namespace octant::pencil {

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

  // Copies from the parts of an array to their messages.
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
    count(from);
    traffic.seconds += clock.seconds();
  }

  void count(const TransposeSide& from) {
    traffic.calls += 1;
    for (const Part& part : from.parts()) {
      const std::int64_t bytes = part.count * static_cast<std::int64_t>(sizeof(double));
      if (part.rank == rank) {
        traffic.kept_bytes += bytes;
      } else {
        traffic.messages += 1;
        traffic.bytes += bytes;
      }
    }
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
