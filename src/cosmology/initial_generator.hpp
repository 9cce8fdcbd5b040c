// Initial conditions generated from a power spectrum and a seed.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "cosmology/initial_conditions.hpp"
#include "cosmology/lagrangian.hpp"
#include "cosmology/linear_power.hpp"
#include "pencil/fourier.hpp"

namespace octant::cosmology {

// White Gaussian noise whose waves depend on the box, not on a grid: all grids of a box have
// exactly the same waves as far as they resolve them.
//
// (Noise drawn by cell, with coarser cells as means over finer ones, lacks this property, because
// means alias short waves into long ones. At half the resolution, 16^3 cells, displacements then
// differ by a third.)

// Amplitude of the plane wave exp(i k.r) of the noise, with k = 2 pi / box (nx, ny, nz) and r
// relative to the box's lower corner: a complex normal number with <|w|^2> = 1, a function of seed
// and wave alone. Opposite waves are conjugate, and the amplitude of (0, 0, 0) is 0. |nx|, |ny|,
// |nz| < 2^20.
std::complex<double> noise_amplitude(std::uint64_t seed, int nx, int ny, int nz);

// Coefficient of a mode of noise with independent cells of variance 1, sampled at the centres of a
// grid: the coefficient of an unscaled transform of the cells' values (PeriodicFourier::forward),
// except for the mean, which is 0. Nyquist modes contain the waves of both signs.
std::complex<double> noise_mode(std::uint64_t seed, const pencil::Mode& mode,
                                const pencil::Cells& cells);

// Parameters of the generator.
struct GeneratorOptions {
  int side = 32;  // cells along each axis
  std::uint64_t seed = 1;
  LptOrder order = LptOrder::second;
  SpectrumOptions spectrum;
};

// One level: white noise times the square root of the spectrum, and displacements from Lagrangian
// perturbation theory. Gas and dark matter are one fluid: the gas has the linear overdensity, and
// at each cell centre the velocity of the dark matter that starts there. Memory: about ten numbers
// per cell, distributed over as many ranks as the grid size justifies.
class GeneratedConditions : public InitialConditions {
 public:
  // Throws InputError on every rank if the box or scale factor is missing, and as LinearPower.
  // Collective.
  GeneratedConditions(const Communicator& communicator, const GeneratorOptions& options,
                      const InitialHeader& header, const Expansion& expansion);

  // True for all fields but scalars and refinement.
  bool has(InitialField field) const override;
  // Distribution of the generator's grid.
  CellSpread spread(int level) const override;

 protected:
  std::vector<double> compute(int level, InitialField field) override;
  std::string missing(InitialField field) const override;

 private:
  Growth growth_;
  double rate_ = 0.0;  // result of velocity_rate()
  pencil::ProcessGrid processes_;
  std::optional<LagrangianFields> fields_;  // on ranks with cells
};

}  // namespace octant::cosmology
