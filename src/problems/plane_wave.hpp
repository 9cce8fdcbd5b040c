// Waves of one wave vector that fits into the domain, with the gas adiabatic around a mean state.
#pragma once

#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

class PlaneWave {
 public:
  PlaneWave(std::array<int, 3> wavelengths, double amplitude)
      : wavelengths_(wavelengths), amplitude_(amplitude) {}

  // problem.wave, amplitude, density and sound_speed.
  void declare(ParameterSchema& schema);

  // Throws InputError if the wave has no direction, or the domain is not periodic along it.
  void prepare(const Setting& setting);

  double sound_speed() const { return sound_speed_; }
  // Of length 1.
  const Position& direction() const { return direction_; }

  // amplitude * cos(k.(x - lower corner) - lag) averaged over a cell.
  double signal(const Position& centre, double cell_size, double lag) const;

  // The gas at rest with density d0 (1 + signal) and pressure d0 c^2 / gamma (1 + gamma signal).
  GasState state(double signal) const;

 private:
  std::array<int, 3> wavelengths_;
  double amplitude_, density_ = 1.0, sound_speed_ = 1.0;

  double gamma_ = 1.4;
  Position lower_{}, wave_vector_{}, direction_{};
};

}  // namespace octant::problems
