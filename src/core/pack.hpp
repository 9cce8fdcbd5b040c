// A Pack is what one arithmetic expression acts on: a SIMD register of doubles on a CPU, one double
// in a GPU thread. Point functions are templates on it, written once for both without branches.
#pragma once

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/gpu_compiler.hpp"

// Keeps a function that is seldom called out of the loops that call it.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_OUT_OF_LINE KOKKOS_FUNCTION
#else
#define OCTANT_OUT_OF_LINE __attribute__((noinline))
#endif

// Marks a lambda that is called in a kernel's inner loop, between its parameters and its body.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_INLINE_LAMBDA
#else
#define OCTANT_INLINE_LAMBDA __attribute__((always_inline))
#endif

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
  // The bits of every lane as a whole number, and back.
  using Bits = std::uint64_t;
  KOKKOS_FORCEINLINE_FUNCTION static Bits bits(double pack) { return Kokkos::bit_cast<Bits>(pack); }
  KOKKOS_FORCEINLINE_FUNCTION static double from_bits(Bits bits) {
    return Kokkos::bit_cast<double>(bits);
  }
};

// These ternaries are what the machine's minimum and maximum do, where a NaN is concerned as well.
KOKKOS_FORCEINLINE_FUNCTION double min(double a, double b) { return b < a ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION double max(double a, double b) { return a < b ? b : a; }
KOKKOS_FORCEINLINE_FUNCTION double square_root(double a) { return ::sqrt(a); }
// a b + c, rounded once.
KOKKOS_FORCEINLINE_FUNCTION double fused_multiply_add(double a, double b, double c) {
  return ::fma(a, b, c);
}
KOKKOS_FORCEINLINE_FUNCTION double absolute(double a) { return max(a, -a); }
KOKKOS_FORCEINLINE_FUNCTION double select(bool mask, double yes, double no) {
  return mask ? yes : no;
}
KOKKOS_FORCEINLINE_FUNCTION double largest(double a) { return a; }
KOKKOS_FORCEINLINE_FUNCTION bool any(bool mask) { return mask; }

}  // namespace octant

#if !defined(OCTANT_GPU_COMPILER)

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace octant {

// Four doubles: a SIMD register where the machine has one of that width, and a row of a 4^3 block.
// Every function is inlined by force. With std::experimental::simd g++ leaves calls in large
// kernels, and packs then travel through memory: half the speed.
class Pack {
 public:
  static constexpr int width = 4;
  typedef double Register __attribute__((vector_size(width * sizeof(double))));
  typedef long long Bits __attribute__((vector_size(width * sizeof(double))));

  // The result of a comparison: all bits of a lane are set, or none.
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

  Pack() = default;
  KOKKOS_FORCEINLINE_FUNCTION Pack(double all) : lanes_(Register{} + all) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit Pack(Register lanes) : lanes_(lanes) {}
  KOKKOS_FORCEINLINE_FUNCTION Register lanes() const { return lanes_; }
  KOKKOS_FORCEINLINE_FUNCTION double operator[](int n) const { return lanes_[n]; }

  KOKKOS_FORCEINLINE_FUNCTION Pack operator-() const { return Pack(-lanes_); }
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator+(Pack a, Pack b) {
    return Pack(a.lanes_ + b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator-(Pack a, Pack b) {
    return Pack(a.lanes_ - b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator*(Pack a, Pack b) {
    return Pack(a.lanes_ * b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator/(Pack a, Pack b) {
    return Pack(a.lanes_ / b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<(Pack a, Pack b) {
    return Mask(a.lanes_ < b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator>(Pack a, Pack b) { return b < a; }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<=(Pack a, Pack b) {
    return Mask(a.lanes_ <= b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator>=(Pack a, Pack b) { return b <= a; }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator==(Pack a, Pack b) {
    return Mask(a.lanes_ == b.lanes_);
  }

 private:
  Register lanes_;
};

template <>
struct PackTraits<Pack> {
  static constexpr int width = Pack::width;
  using Mask = Pack::Mask;
  // Addresses need no alignment beyond a double's.
  KOKKOS_FORCEINLINE_FUNCTION static Pack load(const double* from) {
    Pack::Register lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return Pack(lanes);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, Pack value) {
    const Pack::Register lanes = value.lanes();
    __builtin_memcpy(to, &lanes, sizeof lanes);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static Pack generate(const Value& value) {
    return Pack(Pack::Register{value(0), value(1), value(2), value(3)});
  }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(Pack pack, int n) { return pack[n]; }
  typedef std::uint64_t Bits __attribute__((vector_size(width * sizeof(double))));
  KOKKOS_FORCEINLINE_FUNCTION static Bits bits(Pack pack) { return Bits(pack.lanes()); }
  KOKKOS_FORCEINLINE_FUNCTION static Pack from_bits(Bits bits) {
    return Pack(Pack::Register(bits));
  }
};

KOKKOS_FORCEINLINE_FUNCTION Pack select(Pack::Mask mask, Pack yes, Pack no) {
  return Pack(mask.bits() ? yes.lanes() : no.lanes());
}
#if defined(__AVX__)
// vminpd(b, a) is b < a ? b : a, as in the scalar function above.
KOKKOS_FORCEINLINE_FUNCTION Pack min(Pack a, Pack b) {
  return Pack(Pack::Register(_mm256_min_pd(b.lanes(), a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION Pack max(Pack a, Pack b) {
  return Pack(Pack::Register(_mm256_max_pd(b.lanes(), a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION Pack square_root(Pack a) {
  return Pack(Pack::Register(_mm256_sqrt_pd(a.lanes())));
}
KOKKOS_FORCEINLINE_FUNCTION bool any(Pack::Mask mask) {
  return _mm256_movemask_pd(__m256d(mask.bits())) != 0;
}
#else
KOKKOS_FORCEINLINE_FUNCTION Pack min(Pack a, Pack b) { return select(b < a, b, a); }
KOKKOS_FORCEINLINE_FUNCTION Pack max(Pack a, Pack b) { return select(a < b, b, a); }
KOKKOS_FORCEINLINE_FUNCTION Pack square_root(Pack a) {
  return Pack(Pack::Register{::sqrt(a[0]), ::sqrt(a[1]), ::sqrt(a[2]), ::sqrt(a[3])});
}
KOKKOS_FORCEINLINE_FUNCTION bool any(Pack::Mask mask) {
  const Pack::Bits b = mask.bits();
  return (b[0] | b[1] | b[2] | b[3]) != 0;
}
#endif
#if defined(__FMA__)
KOKKOS_FORCEINLINE_FUNCTION Pack fused_multiply_add(Pack a, Pack b, Pack c) {
  return Pack(Pack::Register(_mm256_fmadd_pd(a.lanes(), b.lanes(), c.lanes())));
}
#else
inline Pack fused_multiply_add(Pack a, Pack b, Pack c) {
  return Pack(Pack::Register{::fma(a[0], b[0], c[0]), ::fma(a[1], b[1], c[1]),
                             ::fma(a[2], b[2], c[2]), ::fma(a[3], b[3], c[3])});
}
#endif
KOKKOS_FORCEINLINE_FUNCTION Pack absolute(Pack a) { return max(a, -a); }
KOKKOS_FORCEINLINE_FUNCTION double largest(Pack a) { return max(max(a[0], a[1]), max(a[2], a[3])); }

}  // namespace octant
#else
namespace octant {
using Pack = double;
}
#endif
