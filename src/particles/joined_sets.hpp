// Several particle sets with consecutive numbers, for kernels that process the particles of all
// levels in one launch.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "particles/particle_set.hpp"

namespace octant::particles {

class JoinedSets {
 public:
  // A GPU kernel with more than 512 bytes of arguments waits for the previous one.
  static constexpr int k_most = 8;

  // Set, and row in it, of a particle by its number among all.
  struct Place {
    int set, row;
  };

  void add(const ParticleSet& set) {
    OCTANT_REQUIRE(sets_ < k_most, "at most {} sets of particles can be joined", k_most);
    const ParticleColumns p = set.columns();
    mass_[sets_] = p.mass;
    for (int d = 0; d < 3; ++d) velocity_[sets_][d] = p.velocity[d];
    begin_[sets_ + 1] = begin_[sets_] + set.count();
    ++sets_;
  }
  bool is_full() const { return sets_ == k_most; }
  std::int64_t count() const { return begin_[sets_]; }

  KOKKOS_FORCEINLINE_FUNCTION Place place(std::int64_t n) const {
    int set = 0;
    while (n >= begin_[set + 1]) ++set;
    return {set, static_cast<int>(n - begin_[set])};
  }
  KOKKOS_FORCEINLINE_FUNCTION double mass(const Place& at) const { return mass_[at.set][at.row]; }
  KOKKOS_FORCEINLINE_FUNCTION double velocity(const Place& at, int d) const {
    return velocity_[at.set][d][at.row];
  }

 private:
  int sets_ = 0;
  std::int64_t begin_[k_most + 1] = {};
  const double* mass_[k_most] = {};
  const double* velocity_[k_most][3] = {};
};

}  // namespace octant::particles
