// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC11, 2011). Numbers are pure functions of seed, key, step and
// draw, so that they depend neither on the number of ranks or threads nor on the order of drawing.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace octant {

// Four 32-bit words of random bits.
struct PhiloxBlock {
  std::uint32_t word[4];
};

// Ten rounds of Philox4x32 on `counter` under the key (key0, key1).
KOKKOS_INLINE_FUNCTION PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0,
                                                 std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter.word[2];
    const auto high0 = static_cast<std::uint32_t>(product0 >> 32);
    const auto high1 = static_cast<std::uint32_t>(product1 >> 32);
    counter = {{high1 ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(product1),
                high0 ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9;  // Weyl sequences: the golden ratio and sqrt(3) - 1
    key1 += 0xBB67AE85;
  }
  return counter;
}

// Random numbers of one object (a cell key, a particle id) at one step of a run.
class RandomStream {
 public:
  KOKKOS_INLINE_FUNCTION RandomStream(std::uint64_t seed, std::uint64_t key, std::uint32_t step)
      : seed_(seed), key_(key), step_(step) {}

  // Returns draw number `draw`, uniform in [0, 1), with all 53 bits of a double.
  KOKKOS_INLINE_FUNCTION double uniform(std::uint32_t draw) const {
    const auto words = block(draw / 2);
    const int first = draw % 2 == 0 ? 0 : 2;
    return to_unit(words.word[first], words.word[first + 1]);
  }

  // Pair of independent normal numbers.
  struct NormalPair {
    double first, second;
  };

  // Returns pair number `draw` of independent normal numbers of mean 0 and variance 1 (Box-Muller).
  // The pair is computed from the random bits of the uniform draws 2 draw and 2 draw + 1.
  KOKKOS_INLINE_FUNCTION NormalPair normal_pair(std::uint32_t draw) const {
    const auto words = block(draw);
    const double positive = 1.0 - to_unit(words.word[0], words.word[1]);
    const double angle = 6.283185307179586 * to_unit(words.word[2], words.word[3]);
    const double radius = Kokkos::sqrt(-2.0 * Kokkos::log(positive));
    return {radius * Kokkos::cos(angle), radius * Kokkos::sin(angle)};
  }

 private:
  KOKKOS_INLINE_FUNCTION PhiloxBlock block(std::uint32_t index) const {
    const PhiloxBlock counter = {
        {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32), step_, index}};
    return philox4x32_10(counter, static_cast<std::uint32_t>(seed_),
                         static_cast<std::uint32_t>(seed_ >> 32));
  }

  KOKKOS_INLINE_FUNCTION static double to_unit(std::uint32_t low, std::uint32_t high) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
  }

  std::uint64_t seed_;
  std::uint64_t key_;
  std::uint32_t step_;
};

}  // namespace octant
