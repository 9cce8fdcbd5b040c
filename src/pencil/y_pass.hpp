// Steps of a PoissonSolver between its transforms along x: transforms along y, solves along z, and
// transforms back. Internal to pencil/.
//
// Two strategies, by the ranks that have whole lines along y, each with messages or with memory
// that the ranks of a node share:
//
//   p_y = 1  A plane is transformed along y while it is in cache, and passed to the solver of lines
//            along z. Shared memory, lines along z cut: it is written, and transformed along y,
//            where its lines along z are solved.
//   p_y > 1  Rows are sent to the ranks that have whole lines along y. Shared memory: they are
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

// Coefficients of a Poisson problem between its transforms along x and its lines along z: the rows
// and columns of a rank, and their memory layout.
struct Spectrum {
  Spectrum(const PencilGrid& pencil_grid, const PoissonProblem& given,
           const PoissonOptions& chosen);

  // Unknown cells of a rank, and their coefficients by rows.
  Box cells(int rank) const;
  // Coefficients of a rank, by rows.
  Box rows(int rank) const;
  // Returns the planes of a rank of this rank's column.
  Range planes_of(int z_index) const { return cells(grid.rank_of(grid.y_index(), z_index))[2]; }
  // Returns the number of plane k in the order of the sweep; the map is its own inverse.
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

// Columns of coefficients of which a rank has whole lines along y. Its planes are stored in blocks,
// [plane][block][y][k_columns], so that the transform of a block is contiguous: the rows of `lines`
// are those of the blocks, one block after the other. Columns beyond the last one are zero.
struct Columns {
  Columns(const Spectrum& spectrum, Range range);
  // Returns the columns for planes that are whole, or divided among the ranks of a row.
  static Columns of_row(const Spectrum& spectrum);

  // Columns of these planes as a box.
  Box box(Range planes) const { return {range, {0, y_size}, planes}; }
  // Layout of these planes.
  Layout layout(Range planes) const;
  // Returns the problem for the ranks of the grid's column, or for others with these planes.
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum) const;
  // Returns the problem for other ranks, with these planes.
  LineProblem<ShiftedMatrices> line_problem(const Spectrum& spectrum, const Communicator& ranks,
                                            const std::function<Range(int rank)>& planes_of,
                                            std::shared_ptr<SolverMemory> memory) const;

  // Transforms in place; a thread takes its share of the blocks of some strips.
  void transform(const Team& team, const PlaneTransform& along,
                 std::span<const Strip> strips) const;
  // Inverse of transform().
  void transform_back(const Team& team, const PlaneTransform& along,
                      std::span<const Strip> strips) const;

  Range range;
  int y_size;
  Lines lines;
};

// Returns a share of the columns of coefficients in whole pairs, so that complex numbers stay
// together.
Range columns_of(int width, int parts, int index);
// Number of blocks that contain this many columns.
int whole_blocks(int columns);
// Adds the pieces of a strip, block by block, from its first row on.
void add_pieces(const Strip& strip, int y_size, std::vector<RowPiece>& pieces);

// Pass over lines along y. Planes are those of this rank's x-pencil, in the order of the sweep,
// then in the opposite one. All threads of a team call these functions except exchange, which is
// collective.
class YPass {
 public:
  virtual ~YPass() = default;

  // Returns the memory for the coefficients of the rows of plane k.
  virtual std::span<const RowPiece> rows_to_write(const Team& team, int k) = 0;
  // Processes plane k after its rows are written, and before those of the next plane.
  virtual void forward(const Team& team, int k) = 0;
  // Exchange in three parts, so that solvers can join their exchanges along z.
  void exchange() {
    begin_exchange();
    exchange_lines();
    end_exchange();
  }
  // Sends data before the solves along z.
  virtual void begin_exchange() = 0;
  // Solves along z across ranks.
  virtual void exchange_lines();
  // Sends data after the solves along z.
  virtual void end_exchange() {}
  // Returns the planes in which the solver of lines along z keeps coefficients from forward to
  // backward.
  virtual Planes kept() const;
  // Returns the rows of plane k of the solution.
  virtual std::span<const RowPiece> rows_to_read(const Team& team, int k) = 0;
  // Returns the rows of plane n of the sweep to prefetch while a thread works on the plane before,
  // if another rank has written them.
  virtual std::span<const RowPiece> rows_ahead(const Team&, int) { return {}; }

  // See PoissonSolver::first_may_be_last().
  virtual bool first_may_be_last() const { return true; }
  // Waits until memory that solvers share is free for the next solve. Collective.
  virtual void take_turns() {}

  // Solver of the lines along z.
  LineSolver<ShiftedMatrices>& lines() const { return *solver_; }
  // Seconds and data so far.
  virtual PoissonReport report() const;

 protected:
  YPass(const Spectrum& spectrum, const Columns& columns, LineProblem<ShiftedMatrices> lines,
        YPass* twin);

  // Uses the memory of PoissonOptions for the coefficients of all planes, or allocates it; none
  // where the solver of lines stores them elsewhere.
  void keep_planes();
  // Transforms plane k along y and passes it to the solver of lines, unless lines are solved in the
  // exchange; and back.
  void forward_plane(const Team& team, int k, std::span<const Strip> plane);
  void backward_plane(const Team& team, int k, std::span<const Strip> plane);

  const Spectrum& spectrum_;
  Columns columns_;  // columns of which this rank has whole lines along y
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver_;
  PoissonReport times_;
  bool solves_in_exchange_ = false;

 private:
  Buffer carry_;                  // solution of the previous plane
  std::shared_ptr<Buffer> kept_;  // null if the caller gives the memory
};

// Current plane of a thread.
struct PlaneOfThread {
  std::vector<Strip> strips;
  std::vector<RowPiece> rows, ahead;  // rows of this plane and of the next one
};

// Makes the pass for the process grid. `twin`, of the same kind, provides its factors. Collective.
std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin);

}  // namespace octant::pencil
