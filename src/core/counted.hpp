// A Pack that counts what is done to it: how many operations a body of a kernel takes is found by
// running it once. Of choices by value, those are counted that the values make.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/pack.hpp"

namespace octant {

// For the host alone. It has the functions of a device because those that call them do.
class Counted {
 public:
  // Additions, subtractions, multiplications, divisions and roots since the program began.
  static std::int64_t operations() { return operations_; }

  Counted() = default;
  KOKKOS_FUNCTION Counted(double value) : value_(value) {}
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
struct PackTraits<Counted> {
  using Scalar = PackTraits<double>;
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

// The operations of work().
template <class Work>
double operations_of(const Work& work) {
  const std::int64_t before = Counted::operations();
  work();
  return static_cast<double>(Counted::operations() - before);
}

}  // namespace octant
