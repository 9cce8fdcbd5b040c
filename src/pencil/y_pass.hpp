// What a PoissonSolver does between its transforms along x: lines along y are transformed, those
// along z are solved, and all goes back. Internal to pencil/.
//
// Which rank has whole lines along y, and how coefficients get there, are strategies:
//
//   local       p_y = 1: a plane is transformed along y while it is in cache, and handed to the
//               solver of lines along z
//   transposed  p_y > 1: rows travel in messages to the ranks that have whole lines along y
//   shared      p_y > 1 on one node: rows are written into the planes of those ranks
//   strips      p_y = 1 on one node, lines along z cut: planes are written, and transformed along
//               y, where their lines along z are solved
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

// Planes are those of this rank's x-pencil, and come in the order of the sweep, then in the
// opposite one. All threads of a team call these but exchange, which is collective.
class YPass {
 public:
  virtual ~YPass() = default;

  // Where the coefficients of the rows of plane k are to be written.
  virtual std::span<const RowPiece> rows_to_write(const Team& team, int k) = 0;
  // When they have been, before those of the next plane.
  virtual void forward(const Team& team, int k) = 0;
  // In three parts, so that solvers can join what they exchange along z.
  void exchange() {
    begin_exchange();
    exchange_lines();
    end_exchange();
  }
  virtual void begin_exchange() = 0;
  virtual void exchange_lines() = 0;
  virtual void end_exchange() {}
  // Where the solver of lines along z keeps coefficients from forward to backward.
  virtual Planes kept() const = 0;
  // Where the rows of plane k of the solution are.
  virtual std::span<const RowPiece> rows_to_read(const Team& team, int k) = 0;
  // The rows of plane n of the sweep, if another rank has written there and cache lines are better
  // called for while a thread works on the plane before.
  virtual std::span<const RowPiece> rows_ahead(const Team&, int) { return {}; }

  // See PoissonSolver.
  virtual bool first_may_be_last() const { return true; }
  // Waits until memory that solvers share is free for the next solve. Collective.
  virtual void take_turns() {}

  virtual LineSolver<ShiftedMatrices>& lines() const = 0;
  virtual PoissonReport report() const = 0;
};

// Planes between the transforms along x and y where p_y = 1. Threads change there from rows to
// blocks: what a thread has made just before is slow to reach for another one, and comes faster
// from the cache that they share. So several threads do that for a batch of planes at once. All
// threads of a team call these functions alike.
class Batches {
 public:
  Batches(int planes, std::ptrdiff_t doubles_of_plane);

  int size() const { return size_; }
  // Forward: the place in its batch of the plane whose rows come next.
  int next_place(const Team& team) const;
  // Its rows have been written: the planes of the batch, by their places, if it is full now.
  std::span<const int> add(const Team& team, int k);
  // Those of the last batch, when all planes have been added.
  std::span<const int> rest(const Team& team);

  // Back: the numbers of planes, in the order of the sweep, that are to be solved for when number
  // n is wanted, from the last one down; a barrier must follow. Their places are n % size().
  Range wanted(const Team& team, int n);
  void begin_backward();

 private:
  struct alignas(64) Thread {
    std::vector<int> waiting;  // planes whose rows have been written
    bool is_full = false;      // they have been handed out
    int known = 0;             // planes from here on have been solved
  };
  int planes_, size_;
  std::vector<Thread> threads_;
};

// The strategy that fits. `twin`, of the same kind, lends its factors. Collective.
std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin);

// Of ranks that share the memory of a node (y_pass_shared.cpp).
std::unique_ptr<YPass> make_shared_pass(const Spectrum& spectrum, YPass* twin);
std::unique_ptr<YPass> make_strip_pass(const Spectrum& spectrum, YPass* twin);
bool wants_strips(const Spectrum& spectrum);

// The passes whose planes go one by one to the solver of lines along z.
class PlanePass : public YPass {
 public:
  PlanePass(const Spectrum& spectrum, YPass* twin);

  LineSolver<ShiftedMatrices>& lines() const override { return *solver_; }
  void exchange_lines() override;
  PoissonReport report() const override;

 protected:
  // Plane k, from its transform along y to the solver of lines, and back.
  void forward_plane(const Team& team, int k, double* plane);
  void backward_plane(const Team& team, int k, double* plane);

  const Spectrum& spectrum_;
  Columns columns_;
  PoissonReport times_;

 private:
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver_;
  Buffer carry_;  // the plane that is substituted
};

}  // namespace octant::pencil
