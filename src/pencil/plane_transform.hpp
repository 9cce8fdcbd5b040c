// Transforms along x and y of planes that hold the unknowns of a problem. Internal to pencil/.
//
// A row along x becomes `width` real coefficients. A periodic row of even length n is packed as
//   r_0 r_(n/2) r_1 i_1 r_2 i_2 ..      (the paper's appendix A, its last number moved to front)
// and one of odd length as r_0 0 r_1 i_1 ... The pairs that follow the first one are complex
// numbers with one eigenvalue each, so that a periodic y is transformed as complex columns; the
// first pair, two real columns, is taken apart after that. Other columns are real ones.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pencil/boundary.hpp"
#include "pencil/buffer.hpp"
#include "pencil/fft.hpp"
#include "pencil/team.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// The real transform that diagonalises the second difference with these conditions, its inverse,
// and the factor that both together multiply by.
struct TransformPair {
  TransformKind forward, backward;
  double scale;
};
TransformPair transform_of(const AxisConditions& conditions, int unknowns);

// The eigenvalue of each row of coefficients: those of a complex transform along y where both axes
// are periodic, of a real one elsewhere. Throws InputError for a y that has no transform.
std::vector<double> y_eigenvalues_of(const UniformAxis& x, const UniformAxis& y);

// Throws InputError unless an axis, which errors call `name`, has a transform.
void check_axis(const UniformAxis& axis, const std::string& name);

class PlaneTransform {
 public:
  // Throws InputError for axes that have no transform.
  PlaneTransform(const UniformAxis& x, const UniformAxis& y);

  // Coefficients of a row, and the eigenvalue of each; the same along y.
  int width() const { return static_cast<int>(x_eigenvalues_.size()); }
  const std::vector<double>& x_eigenvalues() const { return x_eigenvalues_; }
  const std::vector<double>& y_eigenvalues() const { return y_eigenvalues_; }
  // Which rows of coefficients share their eigenvalue with row j: the first of them.
  int y_twin(int j) const {
    if (!y_periodic_) return j;
    return y_complex_ ? std::min(j, y_size_ - j) : j - (j > 0 && j % 2 == 0);
  }

  // The coefficients of some rows, of which `first` is the first, go to or come from some pieces.
  // Both directions together leave a row as it is: the factors of x and y are applied here. k_lines
  // rows are transformed together; fewer take as long. Threads of the team may call these for
  // different rows.
  void forward_x(const Team& team, const double* first, std::ptrdiff_t row_stride, Range rows,
                 std::span<const RowPiece> coefficients);
  void backward_x(const Team& team, std::span<const RowPiece> coefficients, Range rows,
                  double* first, std::ptrdiff_t row_stride);

  // k_columns columns in place, [y][k_columns]. `first`: they begin with coefficient 0.
  void forward_y(double* columns, bool first) const;
  void backward_y(double* columns, bool first) const;

 private:
  // r_0 r_1 i_1 .. behind the first place <-> the order above.
  void pack(double* packed) const;
  void unpack(double* packed) const;
  void take_pair_apart(double* columns) const;
  void join_pair(double* columns) const;

  bool x_periodic_, y_periodic_, y_complex_;
  int x_size_, y_size_;
  double scale_;
  std::vector<double> x_eigenvalues_, y_eigenvalues_;
  std::unique_ptr<Transform> x_forward_, x_backward_, y_forward_, y_backward_;
  double* lines_of(const Team& team) { return lines_.data() + team.rank() * lines_stride_; }
  std::ptrdiff_t lines_stride_;
  Buffer lines_;  // [thread][coefficient][k_lines]
};

}  // namespace octant::pencil
