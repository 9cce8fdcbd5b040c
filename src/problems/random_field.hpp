// Random fields of a seed and a spectrum.
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "mesh/geometry.hpp"

namespace octant::problems {

// A periodic Gaussian random field of mean 0: a sum of all waves that fit into the domain and
// whose wave numbers, in units of 2 pi over its longest side, lie between two bounds, with a power
// per wave that goes as a power of the wave number and random phases. Values are functions of seed
// and place alone; the volume's root mean square is exactly `rms`.
class RandomField {
 public:
  // "seed 1, from 1, to 8, slope -2, rms 0.1"; all but `to` have these defaults, and rms is 1.
  // Throws InputError, naming `parameter`, for another text, and if there are no such waves.
  RandomField(const std::string& parameter, const std::string& text,
              const mesh::Geometry& geometry);

  // Not for several threads at once. Cheap if only x has changed since the last time.
  double value(const std::array<double, 3>& place) const;

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
  std::complex<double> turn(int axis, int number, double place) const;

  std::array<double, 3> lower_, wave_number_;          // 2 pi / side
  std::vector<Wave> waves_;                            // x ascends last
  std::array<int, 3> most_{};                          // waves along each axis
  mutable std::array<double, 2> row_;                  // y and z of the row below
  mutable std::vector<std::complex<double>> along_x_;  // its amplitudes, by the wave number along x
};

}  // namespace octant::problems
