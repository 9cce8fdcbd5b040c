#include "cosmology/cell_delivery.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::cosmology {

namespace {

using pencil::Range;

Range shifted(Range range, int by) { return {range.begin + by, range.end + by}; }

// Range of parts, as divided by pencil::part, that hold some of the cells; both are counted from
// the start of the axis.
Range parts_holding(Range cells, int all_cells, int parts) {
  const auto part_of = [&](std::int64_t cell) {
    return static_cast<int>(((cell + 1) * parts - 1) / all_cells);
  };
  return {part_of(cells.begin), part_of(cells.end - 1) + 1};
}

// Calls copy(offset of the first value, count) for every row along x of some cells of a box.
template <class Copy>
void for_each_row(const pencil::Box& box, const pencil::Box& cells, const Copy& copy) {
  const auto [nx, ny, nz] = box.shape();
  for (int z = cells[2].begin; z < cells[2].end; ++z)
    for (int y = cells[1].begin; y < cells[1].end; ++y) {
      const std::int64_t row = std::int64_t{z - box[2].begin} * ny + (y - box[1].begin);
      copy(row * nx + (cells[0].begin - box[0].begin), cells[0].count());
    }
}

// Adds `count` to the last segment, or to a new segment for a new rank.
void add_to_segment(std::vector<Segment>& segments, int rank, std::int64_t count) {
  if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
  segments.back().count += count;
}

}  // namespace

pencil::Box CellSpread::box(int rank) const {
  if (rank >= processes.ranks()) return {};
  const auto along = [&](int axis, int parts, int index) {
    return shifted(pencil::part(extent[axis].count(), parts, index), extent[axis].begin);
  };
  return {extent[0], along(1, processes.y, rank % processes.y),
          along(2, processes.z, rank / processes.y)};
}

void CellSpread::for_each_holder(
    const pencil::Box& cells,
    const std::function<void(int rank, const pencil::Box& held)>& visit) const {
  if (cells.cells() == 0) return;
  const auto holders = [&](int axis, int parts) {
    return parts_holding(shifted(cells[axis], -extent[axis].begin), extent[axis].count(), parts);
  };
  const Range along_y = holders(1, processes.y), along_z = holders(2, processes.z);
  for (int z = along_z.begin; z < along_z.end; ++z)
    for (int y = along_y.begin; y < along_y.end; ++y) {
      const int rank = z * processes.y + y;
      const pencil::Box held = intersection(box(rank), cells);
      if (held.cells() > 0) visit(rank, held);
    }
}

CellDelivery::CellDelivery(const Communicator& communicator, const CellSpread& spread,
                           std::vector<pencil::Box> boxes)
    : own_(spread.box(communicator.rank())),
      boxes_(std::move(boxes)),
      starts_(1, 0),
      parts_(parts_of_boxes(spread)),
      asked_(ask(communicator)),
      plan_(plan(communicator)),
      exchanger_("initial cells", communicator, {.exchange = Backend::p2p}) {
  for (const pencil::Box& box : boxes_) starts_.push_back(starts_.back() + box.cells());
}

std::vector<CellDelivery::Part> CellDelivery::parts_of_boxes(const CellSpread& spread) const {
  std::vector<Part> parts;
  for (std::size_t n = 0; n < boxes_.size(); ++n) {
    const pencil::Box& box = boxes_[n];
    OCTANT_REQUIRE(box.cells() == 0 || intersection(box, spread.extent) == box,
                   "the requested cells from ({}, {}, {}) onwards do not exist", box[0].begin,
                   box[1].begin, box[2].begin);
    spread.for_each_holder(box, [&](int rank, const pencil::Box& held) {
      parts.push_back({rank, held, n});
    });
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.rank < b.rank; });
  return parts;
}

std::vector<pencil::Box> CellDelivery::ask(const Communicator& communicator) {
  std::vector<Segment> sends;
  std::vector<pencil::Box> asking;
  for (const Part& part : parts_) {
    add_to_segment(sends, part.rank, 1);
    asking.push_back(part.cells);
  }
  const auto plan = ExchangePlan::from_sends(communicator, std::move(sends));
  std::vector<pencil::Box> asked(static_cast<std::size_t>(plan.items_received()));
  Exchanger exchanger("requests for initial cells", communicator, {.exchange = Backend::p2p});
  exchanger.start_bytes(plan, std::as_bytes(std::span(asking)).data(),
                        std::as_writable_bytes(std::span(asked)).data(), sizeof(pencil::Box));
  exchanger.finish();
  asking_ = plan.receives();
  return asked;
}

ExchangePlan CellDelivery::plan(const Communicator& communicator) const {
  std::vector<Segment> sends, receives;
  auto asked = asked_.begin();
  for (const Segment& segment : asking_)
    for (std::int64_t n = 0; n < segment.count; ++n)
      add_to_segment(sends, segment.rank, (asked++)->cells());
  for (const Part& part : parts_) add_to_segment(receives, part.rank, part.cells.cells());
  return ExchangePlan(communicator, std::move(sends), std::move(receives));
}

std::vector<double> CellDelivery::deliver(std::span<const double> own) {
  OCTANT_REQUIRE(std::ssize(own) == own_.cells(), "{} values were given for {} cells", own.size(),
                 own_.cells());
  std::vector<double> sent, received(static_cast<std::size_t>(plan_.items_received()));
  sent.reserve(static_cast<std::size_t>(plan_.items_sent()));
  for (const pencil::Box& cells : asked_)
    for_each_row(own_, cells, [&](std::int64_t first, int count) {
      sent.insert(sent.end(), own.begin() + first, own.begin() + first + count);
    });
  exchanger_.run(plan_, sent.data(), received.data(), 1);

  std::vector<double> values(static_cast<std::size_t>(starts_.back()));
  const double* from = received.data();
  for (const Part& part : parts_) {
    double* const box_values = values.data() + starts_[part.target];
    for_each_row(boxes_[part.target], part.cells, [&](std::int64_t first, int count) {
      std::copy_n(from, count, box_values + first);
      from += count;
    });
  }
  return values;
}

}  // namespace octant::cosmology
