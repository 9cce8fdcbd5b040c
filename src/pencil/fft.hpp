// One-dimensional transforms of one length and kind: the one place that knows which library.
//
// Bits: a line's result depends on its values alone, never on how many lines a rank holds or where
// they lie. A plan is estimated, not measured, always for the same batch, strides and alignment,
// and a batch whose lines are not treated alike is refused when it is made. (FFTW_UNALIGNED, which
// would allow any address, switches off FFTW's SIMD code: half the speed.)
#pragma once

#include <memory>

#include "pencil/boundary.hpp"

namespace octant::pencil {

// All unscaled. The names of FFTW's manual; dct and dst types as usual. Those of types 6 to 8 have
// functions of an odd number of quarter periods in n + 1/2 points:
//   dst6  2 sum_j x_j sin(pi (j + 1/2) (k + 1) / (n + 1/2)),  dst7 its transpose,
//   dct8  2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / (n + 1/2)).
enum class TransformKind {
  real_to_complex,      // n reals -> n/2 + 1 complex numbers
  complex_to_real,      // back; destroys its input
  complex_forward,      // n complex numbers
  complex_backward,     // back
  real_to_halfcomplex,  // n reals -> r_0 r_1 .. r_(n/2) i_((n-1)/2) .. i_1
  halfcomplex_to_real,
  dct1,
  dct2,
  dct3,
  dct4,
  dst1,
  dst2,
  dst3,
  dst4,
  dst6,
  dst7,
  dct8
};

// The real transform that diagonalises the second difference with these conditions, its inverse,
// and the factor that both together multiply by.
struct TransformPair {
  TransformKind forward, backward;
  double scale;
};
TransformPair transform_of(const AxisConditions& conditions, int unknowns);

// Reals side by side in a batch of columns: two cache lines, eight complex numbers.
inline constexpr int k_columns = 16;

// What is transformed: one contiguous line, out of place, or k_columns adjacent reals (as complex
// pairs where the kind is complex) for each of n rows, in place. Memory is 16-byte aligned.
enum class TransformShape { row, columns };

class Transform {
 public:
  virtual ~Transform() = default;
  virtual void execute(double* in, double* out) const = 0;
};

// Whether this program was built with a library for transforms; make_transform throws otherwise.
bool has_transforms();

// Throws RunError if the library has no such plan (dct1 of one point).
std::unique_ptr<Transform> make_transform(TransformKind kind, TransformShape shape, int size,
                                          bool measured);

}  // namespace octant::pencil
