// Vectors of eight doubles, for kernels with long chains of dependent operations: square roots,
// divisions and solvers per cell. Of these chains, a processor core overlaps twice as many cells
// as with SimdDouble. In GPU threads, it is one double.
#pragma once

#include "core/simd.hpp"

#if !defined(OCTANT_GPU_COMPILER)

namespace octant {

#if defined(__AVX512F__) && defined(__AVX512DQ__)

// Mask of the intrinsics below, because g++ 12 warns of undefined values in those without masks.
inline constexpr __mmask8 k_all_lanes = 0xff;

// One SIMD register of eight doubles.
class WideDouble {
 public:
  static constexpr int width = 8;
  using Bits = std::uint64_t __attribute__((vector_size(width * sizeof(double))));

  // Result of a comparison: one bit per lane.
  class Mask {
   public:
    KOKKOS_FORCEINLINE_FUNCTION explicit Mask(bool all) : bits_(all ? 0xff : 0) {}
    KOKKOS_FORCEINLINE_FUNCTION static Mask of_bits(__mmask8 bits) {
      Mask mask(false);
      mask.bits_ = bits;
      return mask;
    }
    KOKKOS_FORCEINLINE_FUNCTION __mmask8 bits() const { return bits_; }
    KOKKOS_FORCEINLINE_FUNCTION Mask operator!() const {
      return of_bits(static_cast<__mmask8>(~bits_));
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator&&(Mask a, Mask b) {
      return of_bits(static_cast<__mmask8>(a.bits_ & b.bits_));
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator||(Mask a, Mask b) {
      return of_bits(static_cast<__mmask8>(a.bits_ | b.bits_));
    }

   private:
    __mmask8 bits_;
  };

  WideDouble() = default;
  KOKKOS_FORCEINLINE_FUNCTION WideDouble(double all) : lanes_(_mm512_set1_pd(all)) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit WideDouble(__m512d lanes) : lanes_(lanes) {}
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble load(const double* from) {
    return WideDouble(_mm512_loadu_pd(from));
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(double* to) const { _mm512_storeu_pd(to, lanes_); }
  KOKKOS_FORCEINLINE_FUNCTION __m512d lanes() const { return lanes_; }
  KOKKOS_FORCEINLINE_FUNCTION Bits bits() const { return Bits(lanes_); }
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble from_bits(Bits bits) {
    return WideDouble(__m512d(bits));
  }
  KOKKOS_FORCEINLINE_FUNCTION double operator[](int n) const { return lanes_[n]; }

  KOKKOS_FORCEINLINE_FUNCTION WideDouble operator-() const { return WideDouble(-lanes_); }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator+(WideDouble a, WideDouble b) {
    return WideDouble(a.lanes_ + b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator-(WideDouble a, WideDouble b) {
    return WideDouble(a.lanes_ - b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator*(WideDouble a, WideDouble b) {
    return WideDouble(a.lanes_ * b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator/(WideDouble a, WideDouble b) {
    return WideDouble(a.lanes_ / b.lanes_);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<(WideDouble a, WideDouble b) {
    return Mask::of_bits(_mm512_cmp_pd_mask(a.lanes_, b.lanes_, _CMP_LT_OQ));
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<=(WideDouble a, WideDouble b) {
    return Mask::of_bits(_mm512_cmp_pd_mask(a.lanes_, b.lanes_, _CMP_LE_OQ));
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator==(WideDouble a, WideDouble b) {
    return Mask::of_bits(_mm512_cmp_pd_mask(a.lanes_, b.lanes_, _CMP_EQ_OQ));
  }

 private:
  __m512d lanes_;
};

KOKKOS_FORCEINLINE_FUNCTION WideDouble select(WideDouble::Mask mask, WideDouble yes,
                                              WideDouble no) {
  return WideDouble(_mm512_mask_blend_pd(mask.bits(), no.lanes(), yes.lanes()));
}
KOKKOS_FORCEINLINE_FUNCTION bool any(WideDouble::Mask mask) { return mask.bits() != 0; }
// Smaller and larger values treat NaN as those of SimdDouble.
KOKKOS_FORCEINLINE_FUNCTION WideDouble min(WideDouble a, WideDouble b) {
  return WideDouble(_mm512_maskz_min_pd(k_all_lanes, b.lanes(), a.lanes()));
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble max(WideDouble a, WideDouble b) {
  return WideDouble(_mm512_maskz_max_pd(k_all_lanes, b.lanes(), a.lanes()));
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble square_root(WideDouble a) {
  return WideDouble(_mm512_maskz_sqrt_pd(k_all_lanes, a.lanes()));
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble fused_multiply_add(WideDouble a, WideDouble b,
                                                          WideDouble c) {
  return WideDouble(_mm512_fmadd_pd(a.lanes(), b.lanes(), c.lanes()));
}

#else

// Two SIMD registers of four doubles.
class WideDouble {
 public:
  static constexpr int width = 8;

  // Result of a comparison.
  struct Mask {
    KOKKOS_FORCEINLINE_FUNCTION explicit Mask(bool all) : low(all), high(all) {}
    KOKKOS_FORCEINLINE_FUNCTION Mask(SimdDouble::Mask low_lanes, SimdDouble::Mask high_lanes)
        : low(low_lanes), high(high_lanes) {}
    KOKKOS_FORCEINLINE_FUNCTION Mask operator!() const { return {!low, !high}; }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator&&(Mask a, Mask b) {
      return {a.low && b.low, a.high && b.high};
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Mask operator||(Mask a, Mask b) {
      return {a.low || b.low, a.high || b.high};
    }
    SimdDouble::Mask low, high;
  };

  // Integers with the bits of the lanes.
  struct Bits {
    using Half = SimdTraits<SimdDouble>::Bits;
    KOKKOS_FORCEINLINE_FUNCTION Bits(std::uint64_t all) : low(Half{} + all), high(low) {}
    KOKKOS_FORCEINLINE_FUNCTION Bits(Half low_lanes, Half high_lanes)
        : low(low_lanes), high(high_lanes) {}
    KOKKOS_FORCEINLINE_FUNCTION friend Bits operator+(Bits a, Bits b) {
      return {a.low + b.low, a.high + b.high};
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Bits operator-(Bits a, Bits b) {
      return {a.low - b.low, a.high - b.high};
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Bits operator<<(Bits a, int places) {
      return {a.low << places, a.high << places};
    }
    KOKKOS_FORCEINLINE_FUNCTION friend Bits operator>>(Bits a, int places) {
      return {a.low >> places, a.high >> places};
    }
    Half low, high;
  };

  WideDouble() = default;
  KOKKOS_FORCEINLINE_FUNCTION WideDouble(double all) : low_(all), high_(all) {}
  KOKKOS_FORCEINLINE_FUNCTION WideDouble(SimdDouble low, SimdDouble high)
      : low_(low), high_(high) {}
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble load(const double* from) {
    return {SimdTraits<SimdDouble>::load(from),
            SimdTraits<SimdDouble>::load(from + SimdDouble::width)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(double* to) const {
    SimdTraits<SimdDouble>::store(to, low_);
    SimdTraits<SimdDouble>::store(to + SimdDouble::width, high_);
  }
  KOKKOS_FORCEINLINE_FUNCTION Bits bits() const {
    return {SimdTraits<SimdDouble>::bits(low_), SimdTraits<SimdDouble>::bits(high_)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble from_bits(Bits bits) {
    return {SimdTraits<SimdDouble>::from_bits(bits.low),
            SimdTraits<SimdDouble>::from_bits(bits.high)};
  }
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble low() const { return low_; }
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble high() const { return high_; }
  KOKKOS_FORCEINLINE_FUNCTION double operator[](int n) const {
    return n < SimdDouble::width ? low_[n] : high_[n - SimdDouble::width];
  }

  KOKKOS_FORCEINLINE_FUNCTION WideDouble operator-() const { return {-low_, -high_}; }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator+(WideDouble a, WideDouble b) {
    return {a.low_ + b.low_, a.high_ + b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator-(WideDouble a, WideDouble b) {
    return {a.low_ - b.low_, a.high_ - b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator*(WideDouble a, WideDouble b) {
    return {a.low_ * b.low_, a.high_ * b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend WideDouble operator/(WideDouble a, WideDouble b) {
    return {a.low_ / b.low_, a.high_ / b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<(WideDouble a, WideDouble b) {
    return {a.low_ < b.low_, a.high_ < b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<=(WideDouble a, WideDouble b) {
    return {a.low_ <= b.low_, a.high_ <= b.high_};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator==(WideDouble a, WideDouble b) {
    return {a.low_ == b.low_, a.high_ == b.high_};
  }

 private:
  SimdDouble low_, high_;
};

KOKKOS_FORCEINLINE_FUNCTION WideDouble select(WideDouble::Mask mask, WideDouble yes,
                                              WideDouble no) {
  return {select(mask.low, yes.low(), no.low()), select(mask.high, yes.high(), no.high())};
}
KOKKOS_FORCEINLINE_FUNCTION bool any(WideDouble::Mask mask) { return any(mask.low || mask.high); }
KOKKOS_FORCEINLINE_FUNCTION WideDouble min(WideDouble a, WideDouble b) {
  return {min(a.low(), b.low()), min(a.high(), b.high())};
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble max(WideDouble a, WideDouble b) {
  return {max(a.low(), b.low()), max(a.high(), b.high())};
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble square_root(WideDouble a) {
  return {square_root(a.low()), square_root(a.high())};
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble fused_multiply_add(WideDouble a, WideDouble b,
                                                          WideDouble c) {
  return {fused_multiply_add(a.low(), b.low(), c.low()),
          fused_multiply_add(a.high(), b.high(), c.high())};
}

#endif

KOKKOS_FORCEINLINE_FUNCTION WideDouble::Mask operator>(WideDouble a, WideDouble b) { return b < a; }
KOKKOS_FORCEINLINE_FUNCTION WideDouble::Mask operator>=(WideDouble a, WideDouble b) {
  return b <= a;
}
KOKKOS_FORCEINLINE_FUNCTION WideDouble absolute(WideDouble a) { return max(a, -a); }

template <>
struct SimdTraits<WideDouble> {
  static constexpr int width = WideDouble::width;
  using Mask = WideDouble::Mask;
  // Addresses need only the alignment of a double.
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble load(const double* from) {
    return WideDouble::load(from);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(double* to, WideDouble value) { value.store(to); }
  KOKKOS_FORCEINLINE_FUNCTION static double lane(WideDouble pack, int n) { return pack[n]; }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble generate(const Value& value) {
    const double lanes[width] = {value(0), value(1), value(2), value(3),
                                 value(4), value(5), value(6), value(7)};
    return load(lanes);
  }
  using Bits = WideDouble::Bits;
  KOKKOS_FORCEINLINE_FUNCTION static Bits bits(WideDouble pack) { return pack.bits(); }
  KOKKOS_FORCEINLINE_FUNCTION static WideDouble from_bits(Bits bits) {
    return WideDouble::from_bits(bits);
  }
};

// Transposes a matrix of 4 x 4 numbers, whose rows are `from_row` and `to_row` numbers apart.
KOKKOS_FORCEINLINE_FUNCTION void transpose_square(const double* from, int from_row, double* to,
                                                  int to_row) {
  static_assert(SimdDouble::width == 4);
  using P = SimdTraits<SimdDouble>;
  using Register = SimdDouble::Register;
  const Register a = P::load(from).lanes(), b = P::load(from + from_row).lanes(),
                 c = P::load(from + 2 * from_row).lanes(), d = P::load(from + 3 * from_row).lanes();
  const Register ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                 cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  P::store(to, SimdDouble(__builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5)));
  P::store(to + to_row, SimdDouble(__builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5)));
  P::store(to + 2 * to_row, SimdDouble(__builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7)));
  P::store(to + 3 * to_row, SimdDouble(__builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7)));
}

}  // namespace octant
#else
namespace octant {
using WideDouble = double;

// Copies a number, a matrix of 1 x 1.
KOKKOS_FORCEINLINE_FUNCTION void transpose_square(const double* from, int, double* to, int) {
  *to = *from;
}
}  // namespace octant
#endif
