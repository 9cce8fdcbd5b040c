#include "pencil/transpose_layout.hpp"

#include <algorithm>

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

// Copies a run of entries. Most runs have k_short entries (two cache lines) and are copied inline,
// because a function call would take longer than the copy.
void copy_run(const double* from, int length, double* to) {
  constexpr int k_short = 16;
  if (length == k_short) std::copy_n(from, k_short, to);
  else std::copy_n(from, length, to);
}

}  // namespace

TransposeSide::TransposeSide(const Layout& layout, int rank, int ranks, const BoxOf& other_side)
    : layout_(layout), rank_(rank) {
  for (int other = 0; other < ranks; ++other) {
    const Box common = intersection(layout.box, other_side(other));
    const std::int64_t count = common.cells();
    if (count == 0) continue;
    parts_.push_back({other, common, count_, count});
    count_ += count;
  }
  messages_are_array_ = compare_with_array();
}

const Part* TransposeSide::with(int rank) const {
  for (const Part& part : parts_)
    if (part.rank == rank) return &part;
  return nullptr;
}

void TransposeSide::set_own_apart() {
  own_apart_ = true;
  count_ = 0;
  for (Part& part : parts_)
    if (part.rank != rank_) part.begin = count_, count_ += part.count;
  for (Part& part : parts_)
    if (part.rank == rank_) part.begin = count_;
}

std::vector<Segment> TransposeSide::segments() const {
  std::vector<Segment> list;
  for (const Part& part : parts_)
    if (!own_apart_ || part.rank != rank_) list.push_back({part.rank, part.count});
  return list;
}

// Calls move(entry of the array, entry of the part's message, length) for runs of adjacent entries
// of a part, block by block along x, so that the array is accessed in memory order.
template <class Move>
void TransposeSide::for_each_run(const Part& part, Range y, Range z, const Move& move) const {
  const auto local = [&](int axis) {
    const int begin = layout_.box[axis].begin;
    return Range{part.box[axis].begin - begin, part.box[axis].end - begin};
  };
  const Range xs = local(0), ys = local(1), zs = local(2);
  const Range rows = intersection(y, ys), planes = intersection(z, zs);
  const auto entry = [&](int x, int j, int k) {
    const std::int64_t row = std::int64_t{k - zs.begin} * ys.count() + j - ys.begin;
    return row * xs.count() + x - xs.begin;
  };
  const bool dense = layout_.stride[0] == 1;
  const int block = dense ? layout_.block : std::max(xs.count(), 1);
  for (int x = xs.begin, length = 0; x < xs.end; x += length) {
    length = std::min(xs.end, (x / block + 1) * block) - x;
    const std::int64_t first = layout_.at(x, 0, 0);
    const bool rows_adjoin = dense && length == xs.count() && layout_.stride[1] == length;
    const int at_once = rows_adjoin ? rows.count() : 1;
    for (int k = planes.begin; k < planes.end; ++k)
      for (int j = rows.begin; j < rows.end; j += at_once) {
        const std::int64_t at = first + j * layout_.stride[1] + k * layout_.stride[2];
        if (dense) move(at, entry(x, j, k), length * at_once);
        else
          for (int i = 0; i < length; ++i) move(layout_.at(x + i, j, k), entry(x + i, j, k), 1);
      }
  }
}

bool TransposeSide::compare_with_array() const {
  std::int64_t next = 0;
  bool same = true;
  for (const Part& part : parts_)
    for_each_run(part, all_rows(), all_planes(),
                 [&](std::int64_t at, std::int64_t message, int length) {
                   same = same && at == next && part.begin + message == next;
                   next += length;
                 });
  return same;
}

void TransposeSide::pack(const Part& part, Range y, Range z, const double* values,
                         double* message) const {
  const std::int64_t first = layout_.at(0, y.begin, z.begin);
  for_each_run(part, y, z, [&](std::int64_t at, std::int64_t to, int length) {
    copy_run(values + (at - first), length, message + to);
  });
}

void TransposeSide::unpack(const Part& part, Range y, Range z, const double* message,
                           double* values) const {
  const std::int64_t first = layout_.at(0, y.begin, z.begin);
  for_each_run(part, y, z, [&](std::int64_t at, std::int64_t from, int length) {
    copy_run(message + from, length, values + (at - first));
  });
}

void TransposeSide::pack(const Part& part, const double* array, double* message) const {
  pack(part, all_rows(), all_planes(), array, message);
}

void TransposeSide::unpack(const Part& part, const double* message, double* array) const {
  unpack(part, all_rows(), all_planes(), message, array);
}

}  // namespace octant::pencil
