// Layouts of distributed arrays, and the parts that ranks exchange in a transpose, independent of
// the transport. Pure functions of boxes without communication.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Memory layout of the entries of a box: any order of axes, and x may be divided into blocks. Entry
// (x, y, z), counted from the box's corner, is at
//   x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2].
struct Layout {
  Box box;
  std::array<std::int64_t, 3> stride;
  int block;
  std::int64_t block_stride;

  // Returns a layout without gaps, with the axes from the smallest stride to the largest: {0, 1, 2}
  // is C's array[z][y][x].
  static Layout ordered(const Box& box, std::array<int, 3> axes = {0, 1, 2});
  // Offset of an entry.
  std::int64_t at(int x, int y, int z) const {
    return x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2];
  }
};

// Entries x of the rows of a plane: address of the first entry in row 0, and distance of rows.
struct RowPiece {
  Range x;
  double* first;
  std::ptrdiff_t row_stride;
};

// Contiguous, dense planes of an array.
struct Slab {
  Range planes;
  double* first;
};

// Entries that are sent to, or received from, one rank, and their range in the message buffer. In a
// message, x varies fastest, then y, then z.
struct Part {
  int rank;
  Box box;
  std::int64_t begin, count;
};

// Function that returns the box of a rank on one side of a transpose.
using BoxOf = std::function<Box(int rank)>;

// One side of a transpose: this rank's array, and the parts of it for ranks of the other side, by
// ascending rank. Each part is one message.
class TransposeSide {
 public:
  TransposeSide(const Layout& layout, int rank, int ranks, const BoxOf& other_side);

  // Layout of this rank's array.
  const Layout& layout() const { return layout_; }
  // Parts for the other side's ranks, by ascending rank.
  const std::vector<Part>& parts() const { return parts_; }
  const Part* with(int rank) const;                // part for a rank; null if empty
  const Part* own() const { return with(rank_); }  // the part that stays on this rank

  // Returns true if the concatenated messages are identical to the array.
  bool messages_are_array() const { return messages_are_array_; }
  // Moves the part that stays on this rank behind all messages in the buffer.
  void set_own_apart();
  std::int64_t count() const { return count_; }  // number of entries of all messages
  std::vector<Segment> segments() const;         // messages as segments of an exchange

  // Copies the rows y of the planes z of a part to its message. `values` has the layout of the
  // array and begins at the first of the given rows and planes.
  void pack(const Part& part, Range y, Range z, const double* values, double* message) const;
  // Copies rows y of planes z of a part from its message.
  void unpack(const Part& part, Range y, Range z, const double* message, double* values) const;
  // Copies all of a part of the array to its message.
  void pack(const Part& part, const double* array, double* message) const;
  // Copies all of a part from its message to the array.
  void unpack(const Part& part, const double* message, double* array) const;

 private:
  Range all_rows() const { return {0, layout_.box[1].count()}; }
  Range all_planes() const { return {0, layout_.box[2].count()}; }
  template <class Move>
  void for_each_run(const Part& part, Range y, Range z, const Move& move) const;
  bool compare_with_array() const;

  Layout layout_;
  std::vector<Part> parts_;
  int rank_;
  bool own_apart_ = false, messages_are_array_ = false;
  std::int64_t count_ = 0;
};

}  // namespace octant::pencil
