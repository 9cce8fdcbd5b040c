// Random fields from a seed and a spectrum.
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "mesh/geometry.hpp"

namespace octant::problems {

// Periodic Gaussian random field of mean 0: the sum of all waves that fit into the domain with wave
// numbers, in units of 2 pi over its longest side, between two bounds. The power per wave is a
// power law of the wave number, and phases are random. The root mean square over the volume is
// exactly `rms`.
class RandomField {
 public:
  // Parses "seed 1, from 1, to 8, slope -2, rms 0.1". `to` is required; the others default to seed
  // 1, from 1, slope -2, rms 1. Throws InputError with `parameter` for other text, and if no such
  // wave fits into the domain.
  RandomField(const std::string& parameter, const std::string& text,
              const mesh::Geometry& geometry);

  // Value at a position. Not thread-safe. Fast if only x has changed since the last call.
  double value(const std::array<double, 3>& position) const;

 private:
  struct Wave {
    std::array<int, 3> number;
    std::complex<double> amplitude;
  };
  struct Spectrum {
    double seed = 1.0, from = 1.0, to = 0.0, slope = -2.0, rms = 1.0;
  };
  static Spectrum parse(const std::string& parameter, const std::string& text);
  void add_waves(const Spectrum& spectrum);
  std::complex<double> turn(int axis, int number, double position) const;

  std::array<double, 3> lower_, wave_number_;          // lower corner; 2 pi / side
  std::vector<Wave> waves_;                            // sorted, x varies fastest
  std::array<int, 3> most_{};                          // maximum wave number along each axis
  mutable std::array<double, 2> row_;                  // y and z of the row of along_x_
  mutable std::vector<std::complex<double>> along_x_;  // amplitudes, by wave number along x
};

}  // namespace octant::problems
