// A Pack is what one arithmetic expression acts on: a SIMD register of doubles on a CPU, one double
// in a GPU thread. Point functions are templates on it, written once for both without branches.
#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

namespace octant {

template <class V>
struct PackTraits;

template <>
struct PackTraits<double> {
  static constexpr int width = 1;
  using Mask = bool;
  KOKKOS_FORCEINLINE_FUNCTION static double load(const double* from) { return *from; }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, double value) { *to = value; }
  // A pack of value(lane), and one lane of a pack.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static double generate(const Value& value) {
    return value(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(double pack, int) { return pack; }
};

// These ternaries are what the machine's minimum and maximum do, where a NaN is concerned as well.
KOKKOS_FORCEINLINE_FUNCTION double min(double a, double b) { return b < a ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION double max(double a, double b) { return a < b ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION double square_root(double a) { return ::sqrt(a); }
KOKKOS_FORCEINLINE_FUNCTION double power(double a, double exponent) { return ::pow(a, exponent); }
KOKKOS_FORCEINLINE_FUNCTION double absolute(double a) { return max(a, -a); }
KOKKOS_FORCEINLINE_FUNCTION double select(bool mask, double yes, double no) {
  return mask ? yes : no;
}
KOKKOS_FORCEINLINE_FUNCTION double largest(double a) { return a; }
KOKKOS_FORCEINLINE_FUNCTION bool any(bool mask) { return mask; }

}  // namespace octant

#if !defined(__CUDACC__)
#include <experimental/simd>

namespace octant {

// Four doubles wherever the machine has such registers, so that a row of a 4^3 block is one pack.
using Pack = std::experimental::simd<double, std::experimental::simd_abi::deduce_t<double, 4>>;

template <>
struct PackTraits<Pack> {
  static constexpr int width = static_cast<int>(Pack::size());
  using Mask = Pack::mask_type;
  KOKKOS_FORCEINLINE_FUNCTION static Pack load(const double* from) {
    return Pack(from, std::experimental::element_aligned);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, const Pack& value) {
    value.copy_to(to, std::experimental::element_aligned);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static Pack generate(const Value& value) {
    return Pack([&](auto lane) { return value(static_cast<int>(lane)); });
  }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(const Pack& pack, int n) { return pack[n]; }
};

KOKKOS_FORCEINLINE_FUNCTION Pack min(const Pack& a, const Pack& b) {
  return std::experimental::min(a, b);
}
KOKKOS_FORCEINLINE_FUNCTION Pack max(const Pack& a, const Pack& b) {
  return std::experimental::max(a, b);
}
KOKKOS_FORCEINLINE_FUNCTION Pack square_root(const Pack& a) { return std::experimental::sqrt(a); }
// The scalar function lane by lane: a vectorised one would differ in the last bit.
inline Pack power(const Pack& a, double exponent) {
  return PackTraits<Pack>::generate([&](int lane) { return ::pow(a[lane], exponent); });
}
KOKKOS_FORCEINLINE_FUNCTION Pack absolute(const Pack& a) { return max(a, -a); }
KOKKOS_FORCEINLINE_FUNCTION Pack select(const Pack::mask_type& mask, const Pack& yes, Pack no) {
  std::experimental::where(mask, no) = yes;
  return no;
}
inline double largest(const Pack& a) { return std::experimental::hmax(a); }
inline bool any(const Pack::mask_type& mask) { return std::experimental::any_of(mask); }

}  // namespace octant
#else
namespace octant {
using Pack = double;
}
#endif
