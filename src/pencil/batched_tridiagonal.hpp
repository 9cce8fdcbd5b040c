// FieldTridiagonal for one rank, all planes at once in the memory of Kokkos' default execution
// space.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/field_view.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// One matrix for all lines of a field along z; the same bits as FieldTridiagonal.
class BatchedTridiagonal {
 public:
  // Fields of `cells`, whose first `planes` planes are solved for; others keep their values.
  BatchedTridiagonal(const Cells& cells, int planes, bool periodic, Sweep sweep = Sweep::up);
  ~BatchedTridiagonal();
  BatchedTridiagonal(BatchedTridiagonal&&) noexcept;
  BatchedTridiagonal& operator=(BatchedTridiagonal&&) noexcept;

  // Takes a new matrix, of the size and periodicity of the constructor.
  void set_matrix(const TridiagonalMatrix& matrix);
  // The right-hand side is in the field's cells, the solution replaces it. Ghosts are left alone.
  void solve(const FieldView& field);

  std::size_t bytes() const;  // memory held

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
