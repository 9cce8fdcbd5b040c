// The power spectrum of the matter on the base grid.
#pragma once

#include <vector>

#include "gravity/base_fourier.hpp"

namespace octant::gravity {

// Modes with wave numbers within half a fundamental mode of a multiple of it.
struct SpectrumBin {
  double k = 0.0;          // mean wave number of the modes, 2 pi / wavelength in code length
  double power = 0.0;      // mean of V |delta_k|^2, in code volume: what the cells hold
  double corrected = 0.0;  // the same, without the smoothing by cloud-in-cell deposition
  std::int64_t modes = 0;  // a mode and its mirror image are two
};

struct PowerSpectrum {
  std::vector<SpectrumBin> bins;  // from the fundamental mode to the grid's Nyquist wave number
  double shot_noise = 0.0;        // of Poisson-sampled masses, part of `power`; not subtracted
};

// Of a density in own patches, relative to its mean: delta_k = sum(delta exp(-i k x)) / cells. Bins
// are as wide as the wave number of the domain's longest mode. The same bits on any number of
// ranks; no power where the mean is not positive. `means` is the part of the density that cells
// hold as it is, without clouds; it may be empty. The shot noise is left to the caller. Collective.
PowerSpectrum measure_power_spectrum(BaseFourier& fourier, const Communicator& communicator,
                                     const DeviceArray<double>& density,
                                     const DeviceArray<double>& means);

// share^2 V / N of N equal masses that sample the density at random and are this share of all mass.
double shot_noise(double volume, std::int64_t masses, double share);

}  // namespace octant::gravity
