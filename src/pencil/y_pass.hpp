// Steps of a PoissonSolver between its transforms along x: transforms along y, tridiagonal solves
// along z, and inverse transforms along y. Internal to pencil/.
//
// Two strategies, each with messages or with memory that the ranks of a node share:
//
//   p_y = 1  Every rank has whole lines along y. A plane is transformed along y while in cache, and
//            passed to the tridiagonal solver. With shared memory and p_z > 1, rows are written
//            into the memory of the rank that solves the lines along z, which transforms them.
//   p_y > 1  Rows are sent to the ranks that have whole lines along y. With shared memory, rows are
//            written into the planes of those ranks.
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

// Coefficients of a Poisson problem after the transform along x: the rows and columns of a rank,
// and their memory layout.
struct Spectrum {
  Spectrum(const PencilGrid& pencil_grid, const PoissonProblem& given,
           const PoissonOptions& chosen);

  // Unknown cells of a rank.
  Box cells(int rank) const;
  // Coefficients of the rows of a rank.
  Box rows(int rank) const;
  // Returns the planes of a rank of this rank's column.
  Range planes_of(int z_index) const { return cells(grid.rank_of(grid.y_index(), z_index))[2]; }
  // Returns the index of plane k in the order of the sweep; the map is its own inverse.
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

// Columns of coefficients of which a rank has whole lines along y. Planes are stored in blocks,
// [plane][block][y][k_columns], so that the transform of a block is contiguous: the rows of `lines`
// are the rows of all blocks in sequence. Columns beyond the last one are zero.
struct Columns {
  Columns(const Spectrum& spectrum, Range range);
  // Returns this rank's columns if the columns are divided among the ranks of a row.
  static Columns of_row(const Spectrum& spectrum);

  // Box of the columns in the given planes.
  Box box(Range planes) const { return {range, {0, y_size}, planes}; }
  // Memory layout of the columns in the given planes.
  Layout layout(Range planes) const;
  // Returns the tridiagonal problem for the ranks of the grid's column.
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum) const;
  // Returns the tridiagonal problem for other ranks; planes_of(rank) returns their planes.
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum, const Communicator& ranks,
                                            const std::function<Range(int rank)>& planes_of,
                                            std::shared_ptr<SolverMemory> memory) const;

  // Transforms the strips along y in place; each thread of the team transforms part of the blocks.
  void transform(const Team& team, const PlaneTransform& along,
                 std::span<const Strip> strips) const;
  // Inverse of transform().
  void transform_back(const Team& team, const PlaneTransform& along,
                      std::span<const Strip> strips) const;

  Range range;
  int y_size;
  Lines lines;
};

// Returns part `index` of `parts` of the columns of coefficients, in whole pairs, so that complex
// numbers are not divided.
Range columns_of(int width, int parts, int index);
// Number of blocks required for `columns` columns.
int whole_blocks(int columns);
// Appends the row pieces of a strip, one per block.
void add_pieces(const Strip& strip, int y_size, std::vector<RowPiece>& pieces);

// Transforms along y and solves along z for a PoissonSolver. Planes are those of this rank's
// x-pencil; forward() is called in the order of the sweep, later calls in the opposite order. All
// threads of a team call the functions, except those of the exchange, which are collective.
class YPass {
 public:
  virtual ~YPass() = default;

  // Returns the memory for the coefficients of the rows of plane k.
  virtual std::span<const RowPiece> rows_to_write(const Team& team, int k) = 0;
  // Processes plane k after its rows are written and before rows of the next plane are written.
  virtual void forward(const Team& team, int k) = 0;
  // Performs the exchange. It has three parts, so that solvers can join their exchanges along z.
  void exchange() {
    begin_exchange();
    exchange_lines();
    end_exchange();
  }
  // Completes the transforms along y and sends data before the solves along z.
  virtual void begin_exchange() = 0;
  // Solves the systems along z across ranks.
  virtual void exchange_lines();
  // Sends data after the solves along z.
  virtual void end_exchange() {}
  // Returns the planes in which the tridiagonal solver keeps coefficients from forward to
  // backward.
  virtual Planes kept() const;
  // Returns the rows of plane k of the solution.
  virtual std::span<const RowPiece> rows_to_read(const Team& team, int k) = 0;
  // Returns the rows of plane n of the sweep that a thread should prefetch while it processes the
  // preceding plane; empty unless another rank has written them.
  virtual std::span<const RowPiece> rows_ahead(const Team&, int) { return {}; }

  // See PoissonSolver::first_may_be_last().
  virtual bool first_may_be_last() const { return true; }
  // Waits until memory shared by several solvers is free for the next solve. Collective.
  virtual void take_turns() {}

  // Tridiagonal solver along z.
  LineSolver<ShiftedMatrices>& lines() const { return *solver_; }
  // Times and traffic so far.
  virtual PoissonReport report() const;

 protected:
  YPass(const Spectrum& spectrum, const Columns& columns, LineProblem<ShiftedMatrices> lines,
        YPass* twin);

  // Provides memory for the coefficients of all planes, from PoissonOptions or newly allocated, if
  // the tridiagonal solver uses such planes.
  void keep_planes();
  // Transforms plane k along y and, unless exchange() performs the complete solves along z, its
  // forward elimination. backward_plane() performs the inverse steps.
  void forward_plane(const Team& team, int k, std::span<const Strip> plane);
  void backward_plane(const Team& team, int k, std::span<const Strip> plane);

  const Spectrum& spectrum_;
  Columns columns_;  // columns of which this rank has whole lines along y
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver_;
  PoissonReport times_;
  bool solves_in_exchange_ = false;

 private:
  Buffer carry_;                  // solution of the previous plane
  std::shared_ptr<Buffer> kept_;  // planes of coefficients; null if the caller provides memory
};

// Memory of the plane that a thread processes.
struct PlaneOfThread {
  std::vector<Strip> strips;
  std::vector<RowPiece> rows, ahead;  // rows of this plane and of the next one
};

// Makes the YPass for the process grid. The factors of `twin`, of the same class, are reused if it
// is not null. Collective.
std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin);

}  // namespace octant::pencil
