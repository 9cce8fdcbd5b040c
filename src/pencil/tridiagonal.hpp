// Tridiagonal systems along z, many at once: on whole lines, or distributed over the ranks.
//
//   a_k phi_(k-1) + (b_k + shift) phi_k + c_k phi_(k+1) = d_k        (paper, eq. 13)
//
// Methods:
//   ftm    full transpose: lines are made whole by a transpose, solved by Thomas' algorithm, and
//          sent back. Same bits on every process grid.
//   ptdma  each rank reduces its planes to the two at its ends, the reduced system of two planes
//          per rank is solved on whole lines, and the planes between follow (section 2.2.4), in two
//          sweeps instead of the paper's three. Only the end planes travel. Needs at least two
//          planes per rank; agrees with ftm to round-off.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// The matrix of all planes, known to every rank. Periodic: row 0 couples to the last unknown by
// lower[0], and the last row to unknown 0 by upper.back(); otherwise these two are not used.
struct TridiagonalMatrix {
  std::vector<double> lower, diagonal, upper;
  bool periodic = false;

  int size() const { return static_cast<int>(diagonal.size()); }
};

// Throws RunError unless the matrix fits an axis of so many cells along z.
void check_planes(const TridiagonalMatrix& matrix, int cells);

enum class TridiagonalMethod { ftm, ptdma };
constexpr auto names_of(TridiagonalMethod) { return std::array{"ftm", "ptdma"}; }
// The order in which planes are eliminated; they are back-substituted in the opposite one.
enum class Sweep { up, down };

// Memory that is in use from the first plane of a solve to its last one: solvers that are given the
// same hold it once, if they take turns.
struct SolverMemory {
  TransposeBuffers xy, z;
  std::unique_ptr<SharedMemory> planes;  // of ranks that share lines along y on a node
};

struct TridiagonalOptions {
  TridiagonalMethod method = TridiagonalMethod::ftm;
  Sweep sweep = Sweep::up;
  TransposeBackend backend = TransposeBackend::p2p;
  std::shared_ptr<SolverMemory> memory = nullptr;  // none: the solver's own
};

// Thomas' algorithm for one matrix whose lines are whole, to be fused with other loops:
//   up:    d_k <- (d_k - lower_k d_(k-1)) reciprocal_k, then phi_k = d_k - back_k phi_(k+1)
// with lower_0 = 0 and back_(n-1) = 0; down: the same with k - 1 and k + 1 exchanged, where `lower`
// then holds the coefficients of phi_(k+1). Not for periodic matrices.
struct ThomasFactors {
  std::vector<double> lower, reciprocal, back;

  ThomasFactors() = default;
  ThomasFactors(const TridiagonalMatrix& matrix, Sweep sweep);
};

// Throws InputError, naming the ranks, unless P-TDMA finds at least two unknown planes on each rank
// along z.
void check_ptdma_planes(const PencilGrid& grid, int unknown_planes);

// One matrix for all lines of a field along z: implicit diffusion (paper, eq. 11). The right-hand
// side is in the field's cells, the solution replaces it. Solves the first matrix.size() planes of
// the grid; further ones (a wall's face) keep their values. With p_z = 1 nothing is sent.
class FieldTridiagonal {
 public:
  // Collective. Throws InputError if P-TDMA finds too few planes on a rank.
  FieldTridiagonal(const PencilGrid& grid, int unknown_planes, bool periodic,
                   const TridiagonalOptions& options);
  ~FieldTridiagonal();
  FieldTridiagonal(FieldTridiagonal&&) noexcept;
  FieldTridiagonal& operator=(FieldTridiagonal&&) noexcept;

  // Takes a new matrix, of the size and periodicity of the constructor. Local: every rank computes
  // the reduced coefficients of all from the matrix alone. O(n_z) operations.
  void set_matrix(const TridiagonalMatrix& matrix);
  // Collective over the ranks of a column. Ghosts are left alone. The right-hand side lies where
  // `slide` says; the solution, and planes that are no unknowns, go where `to_slide` does.
  void solve(Field& field, int slide = 0) { solve(field, slide, slide); }
  void solve(Field& field, int slide, int to_slide);

  // The same plane by plane, to be fused with a caller's sweeps: forward in the order of the sweep,
  // exchange, which is collective and called by one thread, and backward in the opposite order. All
  // threads of a team call the others, and each works on its share of the rows.
  void forward(const Team& team, Field& field, int k, int slide);
  void exchange(Field& field, int slide);
  void backward(const Team& team, Field& field, int k, int slide, int to_slide);

  TransposeTraffic traffic() const;

 private:
  friend class FieldTridiagonals;
  struct State;
  std::unique_ptr<State> state_;
};

// Several solvers of one grid with the same options, whose exchanges are one: with P-TDMA the end
// planes of all travel together. They must stay where they are.
class FieldTridiagonals {
 public:
  // Collective.
  explicit FieldTridiagonals(std::span<FieldTridiagonal> solvers);
  ~FieldTridiagonals();

  // FieldTridiagonal::exchange of each solver for its field. Collective over the ranks of a column.
  void exchange(std::span<Field* const> fields, int slide);
  TransposeTraffic traffic() const;  // of all of them

 private:
  std::span<FieldTridiagonal> solvers_;
  std::unique_ptr<class JoinedLines> joined_;
};

}  // namespace octant::pencil
