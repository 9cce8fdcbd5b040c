// Vectors of doubles as wide as the processor's registers. Internal to pencil/.
#pragma once

#include <utility>

namespace octant::pencil {

#if defined(__AVX512F__)
inline constexpr int k_vector = 8;
#elif defined(__AVX__)
inline constexpr int k_vector = 4;
#else
inline constexpr int k_vector = 2;
#endif

typedef double Vector __attribute__((vector_size(k_vector * sizeof(double))));

// Addresses need no alignment beyond a double's.
inline Vector load(const double* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
inline void store(Vector vector, double* to) { __builtin_memcpy(to, &vector, sizeof vector); }

template <int group, int... lane>
[[gnu::always_inline]] inline void exchange(Vector& a, Vector& b,
                                            std::integer_sequence<int, lane...>) {
  const Vector even =
      __builtin_shufflevector(a, b, ((lane & group) == 0 ? lane : k_vector + lane - group)...);
  const Vector odd =
      __builtin_shufflevector(a, b, ((lane & group) == 0 ? lane + group : k_vector + lane)...);
  a = even, b = odd;
}

// Exchanges the odd groups of so many lanes of a for the even ones of b. With groups of one, a0 a1
// a2 a3 and b0 b1 b2 b3 become a0 b0 a2 b2 and a1 b1 a3 b3. Its own inverse.
template <int group>
[[gnu::always_inline]] inline void exchange(Vector& a, Vector& b) {
  exchange<group>(a, b, std::make_integer_sequence<int, k_vector>());
}

// Transposes a square tile.
template <int group = 1>
[[gnu::always_inline]] inline void transpose(Vector (&tile)[k_vector]) {
  if constexpr (group < k_vector) {
    for (int n = 0; n < k_vector; ++n)
      if ((n & group) == 0) exchange<group>(tile[n], tile[n + group]);
    transpose<2 * group>(tile);
  }
}

}  // namespace octant::pencil
