// Number type that counts floating-point operations: running a kernel body once with it determines
// the number of operations. Comparisons, minima, maxima and selections are not counted.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/simd.hpp"

namespace octant {

// Host only; the members are device functions because their callers are.
class Counted {
 public:
  // Number of additions, subtractions, multiplications, divisions and roots since the program
  // start. A fused multiply-add counts as two.
  static std::int64_t operations() { return operations_; }

  Counted() = default;
  KOKKOS_FUNCTION Counted(double value) : value_(value) {}
  // The value.
  KOKKOS_FUNCTION double value() const { return value_; }

  KOKKOS_FUNCTION Counted operator-() const { return -value_; }
  KOKKOS_FUNCTION friend Counted operator+(Counted a, Counted b) {
    return counted(1, a.value_ + b.value_);
  }
  KOKKOS_FUNCTION friend Counted operator-(Counted a, Counted b) {
    return counted(1, a.value_ - b.value_);
  }
  KOKKOS_FUNCTION friend Counted operator*(Counted a, Counted b) {
    return counted(1, a.value_ * b.value_);
  }
  KOKKOS_FUNCTION friend Counted operator/(Counted a, Counted b) {
    return counted(1, a.value_ / b.value_);
  }
  KOKKOS_FUNCTION friend Counted square_root(Counted a) {
    return counted(1, Kokkos::sqrt(a.value_));
  }
  KOKKOS_FUNCTION friend Counted fused_multiply_add(Counted a, Counted b, Counted c) {
    return counted(2, a.value_ * b.value_ + c.value_);
  }
  KOKKOS_FUNCTION friend bool operator<(Counted a, Counted b) { return a.value_ < b.value_; }
  KOKKOS_FUNCTION friend bool operator>(Counted a, Counted b) { return a.value_ > b.value_; }
  KOKKOS_FUNCTION friend bool operator<=(Counted a, Counted b) { return a.value_ <= b.value_; }
  KOKKOS_FUNCTION friend bool operator>=(Counted a, Counted b) { return a.value_ >= b.value_; }
  KOKKOS_FUNCTION friend bool operator==(Counted a, Counted b) { return a.value_ == b.value_; }
  KOKKOS_FUNCTION friend Counted min(Counted a, Counted b) { return b < a ? b : a; }
  KOKKOS_FUNCTION friend Counted max(Counted a, Counted b) { return a < b ? b : a; }
  KOKKOS_FUNCTION friend Counted absolute(Counted a) { return max(a, -a); }
  KOKKOS_FUNCTION friend Counted select(bool mask, Counted yes, Counted no) {
    return mask ? yes : no;
  }

 private:
  KOKKOS_FUNCTION static Counted counted([[maybe_unused]] int operations, double value) {
    KOKKOS_IF_ON_HOST((operations_ += operations;))
    return value;
  }

  static inline std::int64_t operations_ = 0;
  double value_ = 0.0;
};

template <>
struct SimdTraits<Counted> {
  using Scalar = SimdTraits<double>;
  static constexpr int width = 1;
  using Mask = bool;
  using Bits = Scalar::Bits;
  KOKKOS_FUNCTION static Bits bits(Counted a) { return Scalar::bits(a.value()); }
  KOKKOS_FUNCTION static Counted from_bits(Bits bits) { return Scalar::from_bits(bits); }
  KOKKOS_FUNCTION static double lane(Counted a, int) { return a.value(); }
  template <class Value>
  KOKKOS_FUNCTION static Counted generate(const Value& value) {
    return value(0);
  }
};

// Returns the number of operations of work().
template <class Work>
double operations_of(const Work& work) {
  const std::int64_t before = Counted::operations();
  work();
  return static_cast<double>(Counted::operations() - before);
}

}  // namespace octant
