#include "pencil/fft.hpp"

namespace octant::pencil {

TransformPair transform_of(const AxisConditions& conditions, int unknowns) {
  using enum TransformKind;
  const double n = unknowns;
  if (conditions.periodic()) return {real_to_halfcomplex, halfcomplex_to_real, n};
  const bool lower = conditions.lower == Condition::dirichlet;
  const bool upper = conditions.upper == Condition::dirichlet;
  if (conditions.location == Location::inner_face && lower != upper) {
    if (lower) return {dst7, dst6, 2 * n + 1};
    return {dct8, dct8, 2 * n + 1};
  }
  if (conditions.location == Location::inner_face && !lower) return {dct2, dct3, 2 * n};
  if (conditions.location == Location::centre) {
    if (lower && upper) return {dst2, dst3, 2 * n};
    if (lower) return {dst4, dst4, 2 * n};
    if (upper) return {dct4, dct4, 2 * n};
    return {dct2, dct3, 2 * n};
  }
  if (lower && upper) return {dst1, dst1, 2 * (n + 1)};
  if (lower) return {dst3, dst2, 2 * n};
  if (upper) return {dct3, dct2, 2 * n};
  return {dct1, dct1, 2 * (n - 1)};
}

}  // namespace octant::pencil
