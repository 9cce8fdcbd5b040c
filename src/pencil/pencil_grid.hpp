// Distribution of a three-dimensional array over ranks: pencils on a two-dimensional rank grid.
//
// The array is divided along two axes; along the third every rank holds whole lines. Fields are
// stored in x-pencils; transforms along y and solves of whole lines along z use y- and z-pencils:
//
//   orientation   x           y           z
//   x-pencil      whole       p_y parts   p_z parts
//   y-pencil      p_y parts   whole       p_z parts
//   z-pencil      p_y parts   p_z parts   whole
//   z_direct      p_z parts   p_y parts   whole
//
// A z_direct pencil has the rows along y of the x-pencil, so that the direct x-z transpose involves
// only the p_z ranks of a column. Flows can be stored in these pencils to keep lines along z whole.
//
// Sizes need not be divisible: part n of N cells in P parts begins at cell n N / P.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "comm/communicator.hpp"

namespace octant::pencil {

// Cells begin .. end - 1 along one axis.
struct Range {
  int begin = 0, end = 0;

  // Number of cells.
  int count() const { return end > begin ? end - begin : 0; }
  // True if the range contains cell n.
  bool contains(int n) const { return n >= begin && n < end; }
  bool operator==(const Range&) const = default;
};
// Returns the cells in both ranges.
Range intersection(Range a, Range b);
// Returns part `index` of `parts` of the cells 0 .. cells - 1.
Range part(int cells, int parts, int index);

// Numbers of cells along x, y and z.
using Cells = std::array<int, 3>;

// The cells of one rank: a range along x, y and z.
struct Box {
  std::array<Range, 3> range;

  Range operator[](int axis) const { return range[axis]; }
  // Number of cells along each axis.
  Cells shape() const { return {range[0].count(), range[1].count(), range[2].count()}; }
  // Total number of cells.
  std::int64_t cells() const;
  bool operator==(const Box&) const = default;
};
// Returns the cells in both boxes.
Box intersection(const Box& a, const Box& b);

// The axis along which a pencil is whole, and for z how x and y are divided.
enum class Orientation { x, y, z, z_direct };

// Numbers of ranks along y and z of the x-pencils.
struct ProcessGrid {
  int y = 1, z = 1;

  // Number of ranks.
  int ranks() const { return y * z; }
  bool operator==(const ProcessGrid&) const = default;
};
// Process grid as text for messages: ranks along y and z, such as "2x4".
std::string to_string(ProcessGrid processes);

// Throws InputError, naming grid.process_grid, unless y * z is the number of ranks and neither y
// nor z exceeds the number of cells along its axis. Fields in z_direct pencils also require that z
// does not exceed the number of cells along x.
void check_process_grid(ProcessGrid processes, int ranks, const Cells& cells,
                        Orientation fields = Orientation::x);

// Pencil decomposition. Copies share the communicators. Rank = z_index * p_y + y_index, so that the
// partners of the x-y transposes, which move the most data, have adjacent ranks. The memory does
// not depend on the number of ranks.
class PencilGrid {
 public:
  // Throws InputError as check_process_grid does. Collective.
  PencilGrid(const Communicator& communicator, const Cells& cells, ProcessGrid processes);

  // Number of cells along each axis.
  const Cells& cells() const { return cells_; }
  // Numbers of ranks along y and z.
  ProcessGrid processes() const { return processes_; }
  // Communicator of all ranks of the grid.
  const Communicator& communicator() const { return all_; }
  // Index of this rank along y.
  int y_index() const { return all_.rank() % processes_.y; }
  // Index of this rank along z.
  int z_index() const { return all_.rank() / processes_.y; }
  // Rank with the given indices along y and z.
  int rank_of(int y_index, int z_index) const { return z_index * processes_.y + y_index; }

  // Ranks of the same z_index by ascending y_index, for x-y transposes.
  const Communicator& row() const { return row_; }
  // Ranks of the same y_index by ascending z_index, for y-z transposes and P-TDMA.
  const Communicator& column() const { return column_; }

  // Returns the cells of this rank.
  Box box(Orientation orientation) const { return box(orientation, all_.rank()); }
  // Returns the cells of a rank.
  Box box(Orientation orientation, int rank) const;
  // Returns the ranks that hold the parts of this rank's lines along an axis, in ascending order of
  // the parts; null if the lines are whole.
  const Communicator* ranks_along(Orientation orientation, int axis) const;

 private:
  Cells cells_;
  ProcessGrid processes_;
  Communicator all_, row_, column_;
};

}  // namespace octant::pencil
