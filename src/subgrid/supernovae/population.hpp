// How many supernovae a population of stars has had at an age, per mass with which it formed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace octant::subgrid {

// Which stars explode, and when: a share of the mass all at once, one after the other, or as a
// table says (population_table.hpp).
enum class Population { single, discrete, table };
constexpr auto names_of(Population) { return std::array{"single", "discrete", "table"}; }

// Core collapses at constant rates from 3.401 to 10.37 and to 37.53 Myr, and then white dwarfs
// (Hopkins et al. 2018, MNRAS 480, 800, appendix A): numbers per solar mass.
struct SupernovaCounts {
  double core_collapses, white_dwarfs;
};

inline SupernovaCounts supernovae_until(double megayears) {
  constexpr double k_first = 3.401, k_slower = 10.37, k_last = 37.53;
  const auto between = [&](double begin, double end) {
    return std::max(0.0, std::min(megayears, end) - begin);
  };
  SupernovaCounts counts{
      5.408e-4 * between(k_first, k_slower) + 2.516e-4 * between(k_slower, k_last), 0.0};
  if (megayears <= k_last) return counts;
  // 5.3e-8 + 1.6e-5 exp(-((t - 50) / 10)^2 / 2) per Myr.
  const auto wave = [](double t) { return std::erf((t - 50.0) / (10.0 * std::numbers::sqrt2)); };
  counts.white_dwarfs = 5.3e-8 * (megayears - k_last) + 1.6e-4 * std::sqrt(0.5 * std::numbers::pi) *
                                                            (wave(megayears) - wave(k_last));
  return counts;
}

}  // namespace octant::subgrid
