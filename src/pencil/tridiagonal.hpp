// Tridiagonal systems along z, many at once: on whole lines, or distributed over the ranks.
//
//   a_k phi_(k-1) + (b_k + shift) phi_k + c_k phi_(k+1) = d_k        (paper, eq. 13)
//
// Methods:
//   ftm    full transpose: whole lines are gathered by a transpose, solved by Thomas' algorithm,
//          and transposed back. Results are bitwise equal on every process grid.
//   ptdma  each rank reduces its system to its two end planes, the reduced system of two planes
//          per rank is solved on whole lines, and back substitution gives the other planes (section
//          2.2.4), in two sweeps instead of the paper's three. Only end planes are sent. Requires
//          at least two planes per rank; agrees with ftm to rounding error.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_options.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// Matrix of all planes, the same on every rank. If periodic, lower[0] couples row 0 to the last
// unknown, and upper.back() couples the last row to unknown 0; otherwise both are unused.
struct TridiagonalMatrix {
  std::vector<double> lower, diagonal, upper;
  bool periodic = false;

  // Number of unknowns.
  int size() const { return static_cast<int>(diagonal.size()); }
};

// Throws RunError unless the matrix fits an axis of `cells` cells along z.
void check_planes(const TridiagonalMatrix& matrix, int cells);

// Methods for lines that are distributed over ranks.
enum class TridiagonalMethod { ftm, ptdma };
// Names of the methods.
constexpr auto names_of(TridiagonalMethod) { return std::array{"ftm", "ptdma"}; }
// Order in which planes are eliminated; back substitution has the opposite order.
enum class Sweep { up, down };

// Scratch memory in use from the first to the last plane of a solve. Solvers that are used one
// after the other can share it.
struct SolverMemory {
  TransposeBuffers xy, z;
  std::unique_ptr<SharedMemory> planes;  // planes shared by ranks of a node
};

// Options of the solvers.
struct TridiagonalOptions {
  TridiagonalMethod method = TridiagonalMethod::ftm;
  Sweep sweep = Sweep::up;
  TransposeBackend backend = TransposeBackend::p2p;
  std::shared_ptr<SolverMemory> memory = nullptr;  // null: the solver's own
};

// Thomas' algorithm for one matrix whose lines are whole, to be fused with other loops:
//   up:    d_k <- (d_k - lower_k d_(k-1)) reciprocal_k, then phi_k = d_k - back_k phi_(k+1)
// with lower_0 = 0 and back_(n-1) = 0. For Sweep::down, k - 1 and k + 1 are exchanged, and `lower`
// holds the coefficients of phi_(k+1). Not for periodic matrices.
struct ThomasFactors {
  std::vector<double> lower, reciprocal, back;

  ThomasFactors() = default;
  ThomasFactors(const TridiagonalMatrix& matrix, Sweep sweep);
};

// Throws InputError, naming the ranks, unless each rank along z has at least two unknown planes, as
// P-TDMA requires.
void check_ptdma_planes(const PencilGrid& grid, int unknown_planes);

// Solver with one matrix for all lines of a field along z, for implicit diffusion (paper, eq. 11).
// The solution replaces the right-hand side in the first matrix.size() planes of the grid; other
// planes (such as faces on a wall) keep their values. With p_z = 1 nothing is sent.
class FieldTridiagonal {
 public:
  // Prepares the solver. Collective. Throws InputError if a rank has too few planes for P-TDMA.
  FieldTridiagonal(const PencilGrid& grid, int unknown_planes, bool periodic,
                   const TridiagonalOptions& options);
  ~FieldTridiagonal();
  FieldTridiagonal(FieldTridiagonal&&) noexcept;
  FieldTridiagonal& operator=(FieldTridiagonal&&) noexcept;

  // Sets a new matrix, of the size and periodicity of the constructor. Local: every rank computes
  // all reduced coefficients from the matrix alone. O(n_z) operations.
  void set_matrix(const TridiagonalMatrix& matrix);
  // Replaces the right-hand side at plane offset `plane_offset` by the solution. Ghosts are
  // unchanged. Collective over the ranks of a column.
  void solve(Field& field, int plane_offset = 0) { solve(field, plane_offset, plane_offset); }
  // Solves for the right-hand side at plane offset `plane_offset`; the solution, and planes that
  // are not unknowns, are written at `to_offset`. Collective over the ranks of a column.
  void solve(Field& field, int plane_offset, int to_offset);

  // Performs the forward elimination of plane k. forward() is called for all planes in the order of
  // the sweep, then exchange() once, then backward() in the opposite order, so that the calls can
  // be fused with a caller's sweeps. All threads of a team call forward() and backward(), and each
  // thread processes part of the rows.
  void forward(const Team& team, Field& field, int k, int plane_offset);
  // Completes the systems across ranks. Collective; called by one thread.
  void exchange(Field& field, int plane_offset);
  // Performs the back substitution of plane k.
  void backward(const Team& team, Field& field, int k, int plane_offset, int to_offset);

  // Messages and bytes sent so far.
  TransposeTraffic traffic() const;

 private:
  friend class FieldTridiagonals;
  struct State;
  std::unique_ptr<State> state_;
};

// Several solvers of one grid with the same options and a joint exchange: with P-TDMA one message
// contains the end planes of all solvers. The solvers must not move in memory.
class FieldTridiagonals {
 public:
  // Joins the exchanges of `solvers`. Collective.
  explicit FieldTridiagonals(std::span<FieldTridiagonal> solvers);
  ~FieldTridiagonals();

  // Calls FieldTridiagonal::exchange of each solver for its field. Collective over the ranks of a
  // column.
  void exchange(std::span<Field* const> fields, int plane_offset);
  TransposeTraffic traffic() const;  // sum over all solvers

 private:
  std::span<FieldTridiagonal> solvers_;
  std::unique_ptr<class JoinedLines> joined_;
};

// --- all planes of a rank at once, in the memory of Kokkos' default execution space --------------
//
// Batched versions of the solvers for GPUs, with bitwise equal results on the host.

// Returns options of batched exchanges for a backend: "pairwise" and "shared", which require host
// memory, are replaced by "p2p".
CommOptions options_of_batches(TransposeBackend backend, const CommOptions& comm);

// Options of batched solvers.
struct BatchedOptions {
  TridiagonalMethod method = TridiagonalMethod::ftm;
  Sweep sweep = Sweep::up;
  CommOptions comm = {};                            // options of exchanges between ranks
  std::shared_ptr<BatchedMemory> memory = nullptr;  // null: the solver allocates it
  // Pencils of the fields: x or z_direct. Lines along z of z_direct pencils are solved locally with
  // either method; a Poisson solver transposes such fields to x-pencils and back.
  Orientation fields = Orientation::x;
};

// Batched FieldTridiagonal: one matrix for all lines of a field along z.
class BatchedTridiagonal {
 public:
  // Prepares the solver for the first `planes` planes of the grid; other planes keep their values.
  // Collective. Throws InputError if a rank has too few planes for P-TDMA.
  BatchedTridiagonal(const PencilGrid& grid, int planes, bool periodic,
                     const BatchedOptions& options = {});
  ~BatchedTridiagonal();
  BatchedTridiagonal(BatchedTridiagonal&&) noexcept;
  BatchedTridiagonal& operator=(BatchedTridiagonal&&) noexcept;

  // Sets a new matrix, of the size and periodicity of the constructor. Local.
  void set_matrix(const TridiagonalMatrix& matrix);
  // Replaces the right-hand side in the field's cells by the solution. Ghosts are unchanged.
  // Collective over the ranks of a column.
  void solve(const FieldView& field);

  // Messages and bytes sent so far.
  TransposeTraffic traffic() const;

 private:
  std::unique_ptr<class BatchedLines> lines_;
};

}  // namespace octant::pencil
