// Number types of vectorised arithmetic. A SimdDouble is a SIMD register of doubles on a CPU, and
// one double in a GPU thread. Functions of one cell are templates of the number type, written once
// for CPU and GPU, without branches.
#pragma once

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/compiler.hpp"

// Keeps a rarely called function out of line.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_OUT_OF_LINE KOKKOS_FUNCTION
#else
#define OCTANT_OUT_OF_LINE __attribute__((noinline))
#endif

// Marks a lambda that is called in a kernel's inner loop; placed between its parameters and its
// body.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_INLINE_LAMBDA
#else
#define OCTANT_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace octant {

template <class V>
struct SimdTraits;

template <>
struct SimdTraits<double> {
  static constexpr int width = 1;
  using Mask = bool;
  KOKKOS_FORCEINLINE_FUNCTION static double load(const double* from) { return *from; }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, double value) { *to = value; }
  // generate() creates a value from value(lane) of each lane; lane() returns one lane.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static double generate(const Value& value) {
    return value(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(double pack, int) { return pack; }
  // bits() and from_bits() convert between a value and the integer with the same bits, by lane.
  using Bits = std::uint64_t;
  KOKKOS_FORCEINLINE_FUNCTION static Bits bits(double pack) { return Kokkos::bit_cast<Bits>(pack); }
  KOKKOS_FORCEINLINE_FUNCTION static double from_bits(Bits bits) {
    return Kokkos::bit_cast<double>(bits);
  }
};

// Smaller value; `a` if either is NaN, as for the processor's minimum instruction.
KOKKOS_FORCEINLINE_FUNCTION double min(double a, double b) { return b < a ? b : a; }
// Larger value; `a` if either is NaN, as for the processor's maximum instruction.
KOKKOS_FORCEINLINE_FUNCTION double max(double a, double b) { return a < b ? b : a; }
// Square root.
KOKKOS_FORCEINLINE_FUNCTION double square_root(double a) { return ::sqrt(a); }
// a b + c, rounded once.
KOKKOS_FORCEINLINE_FUNCTION double fused_multiply_add(double a, double b, double c) {
  return ::fma(a, b, c);
}
// Absolute value.
KOKKOS_FORCEINLINE_FUNCTION double absolute(double a) { return max(a, -a); }
// `yes` if the mask is true, else `no`.
KOKKOS_FORCEINLINE_FUNCTION double select(bool mask, double yes, double no) {
  return mask ? yes : no;
}
// Maximum over the lanes.
KOKKOS_FORCEINLINE_FUNCTION double largest(double a) { return a; }
// True if the mask is true in any lane.
KOKKOS_FORCEINLINE_FUNCTION bool any(bool mask) { return mask; }

}  // namespace octant

#if !defined(OCTANT_GPU_COMPILER)

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace octant {

// Four doubles: a SIMD register if the machine has one of that width, and a row of a 4^3 block.
// Every function is force-inlined: for std::experimental::simd, g++ does not inline all calls in
// large kernels and passes values through memory, at half the speed.
class SimdDouble {
 public:
  static constexpr int width = 4;
  using Register = double __attribute__((vector_size(width * sizeof(double))));
  using Bits = long long __attribute__((vector_size(width * sizeof(double))));

  // Result of a comparison: all bits of a lane are set, or none.
  class Mask {
   public:
    KOKKOS_FORCEINLINE_FUNCTION explicit Mask(bool all)
        : bits_(Bits{} - static_cast<long long>(all)) {}
    KOKKOS_FORCEINLINE_FUNCTION explicit Mask(Bits bits) : bits_(bits) {}
    KOKKOS_FORCEINLINE_FUNCTION Bits bits() const { return bits_; }
    KOKKOS_FORCEINLINE_FUNCTION Mask operator!() const { return Mask(~bits_); }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator&&(Mask a, Mask b) {
      return Mask(a.bits_ & b.bits_);
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator||(Mask a, Mask b) {
      return Mask(a.bits_ | b.bits_);
    }

   private:
    Bits bits_;
  };

  SimdDouble() = default;
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble(double all) : lanes_(Register{} + all) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit SimdDouble(Register lanes) : lanes_(lanes) {}
  KOKKOS_FORCEINLINE_FUNCTION Register lanes() const { return lanes_; }
  KOKKOS_FORCEINLINE_FUNCTION double operator[](int n) const { return lanes_[n]; }

  KOKKOS_FORCEINLINE_FUNCTION SimdDouble operator-() const { return SimdDouble(-lanes_); }
  KOKKOS_FORCEINLINE_FUNCTION friend SimdDouble operator+(SimdDouble a, SimdDouble b) {
    return SimdDouble(a.lanes_ + b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend SimdDouble operator-(SimdDouble a, SimdDouble b) {
    return SimdDouble(a.lanes_ - b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend SimdDouble operator*(SimdDouble a, SimdDouble b) {
    return SimdDouble(a.lanes_ * b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend SimdDouble operator/(SimdDouble a, SimdDouble b) {
    return SimdDouble(a.lanes_ / b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<(SimdDouble a, SimdDouble b) {
    return Mask(a.lanes_ < b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator>(SimdDouble a, SimdDouble b) { return b < a; }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<=(SimdDouble a, SimdDouble b) {
    return Mask(a.lanes_ <= b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator>=(SimdDouble a, SimdDouble b) { return b <= a; }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator==(SimdDouble a, SimdDouble b) {
    return Mask(a.lanes_ == b.lanes_);
  }

 private:
  Register lanes_;
};

template <>
struct SimdTraits<SimdDouble> {
  static constexpr int width = SimdDouble::width;
  using Mask = SimdDouble::Mask;
  // Addresses need only the alignment of a double.
  KOKKOS_FORCEINLINE_FUNCTION static SimdDouble load(const double* from) {
    SimdDouble::Register lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return SimdDouble(lanes);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, SimdDouble value) {
    const SimdDouble::Register lanes = value.lanes();
    __builtin_memcpy(to, &lanes, sizeof lanes);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static SimdDouble generate(const Value& value) {
    return SimdDouble(SimdDouble::Register{value(0), value(1), value(2), value(3)});
  }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(SimdDouble pack, int n) { return pack[n]; }
  using Bits = std::uint64_t __attribute__((vector_size(width * sizeof(double))));
  KOKKOS_FORCEINLINE_FUNCTION static Bits bits(SimdDouble pack) { return Bits(pack.lanes()); }
  KOKKOS_FORCEINLINE_FUNCTION static SimdDouble from_bits(Bits bits) {
    return SimdDouble(SimdDouble::Register(bits));
  }
};

KOKKOS_FORCEINLINE_FUNCTION SimdDouble select(SimdDouble::Mask mask, SimdDouble yes,
                                              SimdDouble no) {
  return SimdDouble(mask.bits() ? yes.lanes() : no.lanes());
}
#if defined(__AVX__)
// vminpd(b, a) is b < a ? b : a, as in the scalar function above.
KOKKOS_FORCEINLINE_FUNCTION SimdDouble min(SimdDouble a, SimdDouble b) {
  return SimdDouble(SimdDouble::Register(_mm256_min_pd(b.lanes(), a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION SimdDouble max(SimdDouble a, SimdDouble b) {
  return SimdDouble(SimdDouble::Register(_mm256_max_pd(b.lanes(), a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION SimdDouble square_root(SimdDouble a) {
  return SimdDouble(SimdDouble::Register(_mm256_sqrt_pd(a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION bool any(SimdDouble::Mask mask) {
  return _mm256_movemask_pd(__m256d(mask.bits())) != 0;
}
#else
KOKKOS_FORCEINLINE_FUNCTION SimdDouble min(SimdDouble a, SimdDouble b) {
  return select(b < a, b, a);
}
KOKKOS_FORCEINLINE_FUNCTION SimdDouble max(SimdDouble a, SimdDouble b) {
  return select(a < b, b, a);
}
KOKKOS_FORCEINLINE_FUNCTION SimdDouble square_root(SimdDouble a) {
  return SimdDouble(SimdDouble::Register{::sqrt(a[0]), ::sqrt(a[1]), ::sqrt(a[2]), ::sqrt(a[3])});
}
KOKKOS_FORCEINLINE_FUNCTION bool any(SimdDouble::Mask mask) {
  const SimdDouble::Bits b = mask.bits();
  return (b[0] | b[1] | b[2] | b[3]) != 0;
}
#endif
#if defined(__FMA__)
KOKKOS_FORCEINLINE_FUNCTION SimdDouble fused_multiply_add(SimdDouble a, SimdDouble b,
                                                          SimdDouble c) {
  return SimdDouble(SimdDouble::Register(_mm256_fmadd_pd(a.lanes(), b.lanes(), c.lanes())));
}
#else
inline SimdDouble fused_multiply_add(SimdDouble a, SimdDouble b, SimdDouble c) {
  return SimdDouble(SimdDouble::Register{::fma(a[0], b[0], c[0]), ::fma(a[1], b[1], c[1]),
                                         ::fma(a[2], b[2], c[2]), ::fma(a[3], b[3], c[3])});
}
#endif
KOKKOS_FORCEINLINE_FUNCTION SimdDouble absolute(SimdDouble a) { return max(a, -a); }
KOKKOS_FORCEINLINE_FUNCTION double largest(SimdDouble a) {
  return max(max(a[0], a[1]), max(a[2], a[3]));
}

}  // namespace octant
#else
namespace octant {
using SimdDouble = double;
}
#endif
