// What a PoissonSolver holds. Internal to pencil/.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pencil/line_solver.hpp"
#include "pencil/plane_transform.hpp"
#include "pencil/poisson.hpp"
#include "pencil/strips.hpp"

namespace octant::pencil {

// Spectral planes of y-pencils lie in blocks of k_columns columns, [plane][block][y][k_columns],
// so that the transform of a block is contiguous: the rows of `lines` are those of the blocks, one
// block after the other. Columns beyond the last one are set to zero.
struct PoissonSolver::State {
  State(const PencilGrid& grid, const PoissonProblem& problem, const PoissonOptions& options,
        const State* twin);

  // Boxes of the unknowns of a rank: cells, then coefficients by rows and by columns.
  Box cells(int rank) const;
  Box row_box(int rank) const;
  Box column_box(int rank) const;

  Layout column_layout() const;
  ShiftedMatrices blocked_matrices() const;
  ShiftedMatrices dense_matrices(Range x, Range y) const;
  void add_rows(Range x, Range y, std::vector<ShiftedMatrices::Row>& rows) const;
  bool is_singular() const;
  void make_solver(const State* twin);

  // Of the y-pencil, where the solver keeps them.
  Planes spectral_planes() const {
    if (in_shared_planes) return {shared().of(grid.row().rank()), lines.plane_stride};
    if (options.kept.first) return {options.kept.first, options.kept.stride};
    return {spectral->data(), lines.plane_stride};
  }
  // Ranks that share lines along y, and their memory: each writes its rows into the planes of all.
  SharedMemory& shared() const { return *memory->xy.shared; }
  void reserve_shared_planes();
  void count_shared(Direction direction, double seconds);
  // Where planes are transformed along y, unless they are shared.
  double* work_plane(int n) { return in_strips ? nullptr : work.data() + n * lines.plane_stride; }
  void add_pieces(const Strip& strip, std::vector<RowPiece>& pieces) const;

  // Where the rows of coefficients of plane k lie: in blocks of whole planes, or in the messages.
  std::span<const RowPiece> row_pieces(const Team& team, double* whole, int k);
  // Those of plane n of the sweep in strips, if there is one: while a thread works on the plane
  // before, cache lines come that another rank has written.
  std::span<const RowPiece> pieces_ahead(const Team& team, int n);
  void list_pieces(const Team& team, double* whole, int k, std::vector<RowPiece>& list);
  // The columns of plane k that this rank transforms along y: those of a plane, or all strips.
  std::span<const Strip> strips_of(const Team& team, double* plane, int k);
  int sweep_number(int k) const {
    return options.tridiagonal.sweep == Sweep::up ? k : planes - 1 - k;
  }
  template <class Body>
  void for_each_block(const Team& team, double* plane, int k, const Body& body);
  void clear_padding(double* block, int used);
  void forward_plane(const Team& team, int k, double* plane);
  void backward_plane(const Team& team, int k, double* plane);
  void forward_batch(const Team& team);
  void backward_batch(const Team& team, int n);
  void end_forward();
  void forward_transposed();
  void backward_transposed();
  void forward_shared();
  void backward_shared();
  void solve_lines();

  PencilGrid grid;
  PoissonProblem problem;
  PoissonOptions options;
  PlaneTransform transform;
  int ny, planes;  // unknown rows and planes of this rank's x-pencil
  bool y_is_local, in_shared_planes, in_strips;
  Range columns;  // of this rank's y-pencil, or of the lines along z that it solves
  int y_size, blocks;
  Lines lines;
  std::shared_ptr<SolverMemory> memory;
  std::optional<Transpose> xy;
  // In shared memory, if this rank has whole lines along y: what is solved on whole lines along z.
  std::optional<Strips> strips;
  std::shared_ptr<Buffer> spectral;
  Buffer carry;  // the plane that is substituted
  // Planes between the transforms along x and y. Threads change there from rows to blocks: what a
  // thread has made just before is slow to reach for another one, and comes faster from the cache
  // that they share. So several threads do that for a batch of planes at once.
  Buffer work;
  int batch;
  struct alignas(64) Batch {
    std::vector<int> waiting;  // planes whose rows have been transformed
    int known = 0;             // planes from here on, in the order of the sweep, have been solved
  };
  std::vector<Batch> batches;  // by thread
  // Of the rows, and of the columns, of the plane at hand, by thread.
  std::vector<std::vector<RowPiece>> pieces, ahead;
  std::vector<std::vector<Strip>> strips_at_hand;
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver;
  PoissonReport times;
  TransposeTraffic shared_traffic;  // along y, of planes in shared memory
};

}  // namespace octant::pencil
