// The coefficients of a Poisson problem between its transforms along x and its lines along z: which
// rows and columns of them a rank has, and how they lie in memory. Internal to pencil/.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pencil/line_solver.hpp"
#include "pencil/plane_transform.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::pencil {

// What is solved, in coefficients.
struct Spectrum {
  Spectrum(const PencilGrid& grid, const PoissonProblem& problem, const PoissonOptions& options);

  // Of a rank: its unknown cells, and their coefficients by rows.
  Box cells(int rank) const;
  Box rows(int rank) const;
  // The planes of a rank of this one's column.
  Range planes_of(int z_index) const { return cells(grid.rank_of(grid.y_index(), z_index))[2]; }
  // The number of plane k in the order of the sweep, which is its own inverse.
  int sweep_number(int k) const {
    return options.tridiagonal.sweep == Sweep::up ? k : planes - 1 - k;
  }

  PencilGrid grid;
  PoissonProblem problem;
  PoissonOptions options;
  PlaneTransform transform;
  int ny, planes;  // unknown rows and planes of this rank's x-pencil
  int y_size;      // unknown rows of all ranks
  std::shared_ptr<SolverMemory> memory;
};

// Adjacent columns of a plane, in blocks of k_columns: [block][y][k_columns].
struct Strip {
  Range columns;
  double* first;
};

// The columns of coefficients of which a rank has whole lines along y. Its planes of them lie in
// blocks, [plane][block][y][k_columns], so that the transform of a block is contiguous: the rows of
// `lines` are those of the blocks, one block after the other. Columns beyond the last one are zero.
struct Columns {
  Columns(const Spectrum& spectrum, Range range);
  // Where planes are whole, or shared out among the ranks of a row.
  static Columns of_row(const Spectrum& spectrum);

  Box box(Range planes) const { return {range, {0, y_size}, planes}; }
  Layout layout(Range planes) const;
  // For the ranks of the grid's column, or for others with these planes.
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum) const;
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum, const Communicator& ranks,
                                            const std::function<Range(int rank)>& planes_of,
                                            std::shared_ptr<SolverMemory> memory) const;

  // In place, a thread its share of the blocks of some strips.
  void transform(const Team& team, const PlaneTransform& along,
                 std::span<const Strip> strips) const;
  void transform_back(const Team& team, const PlaneTransform& along,
                      std::span<const Strip> strips) const;

  Range range;
  int y_size;
  Lines lines;
};

// A share of the columns of coefficients: whole pairs, so that complex numbers stay together.
Range columns_of(int width, int parts, int index);
int whole_blocks(int columns);
// Those of a strip, block by block, from its first row on.
void add_pieces(const Strip& strip, int y_size, std::vector<RowPiece>& pieces);

}  // namespace octant::pencil
