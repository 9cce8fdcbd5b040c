// White Gaussian noise whose waves belong to the box, not to a grid: all grids of a box share the
// waves that they can both hold, exactly.
//
// (Noise drawn by cell, of which the means over finer cells are the coarser ones, does not do that:
// the means mix short waves into long ones. At half the resolution, 16^3 cells, displacements then
// differ by a third.)
#pragma once

#include <complex>
#include <cstdint>

#include "pencil/fourier.hpp"

namespace octant::cosmology {

// Amplitude of one wave of the noise, exp(i k.x) with k = 2 pi / box (x, y, z) and x counted from
// the box's lower corner: a complex normal number with <|w|^2> = 1, a function of seed and wave
// alone; opposite waves are conjugate, and w of (0, 0, 0) is 0. |x|, |y|, |z| < 2^20.
std::complex<double> noise_wave(std::uint64_t seed, int x, int y, int z);

// The coefficient of a mode of noise with independent cells of variance 1, sampled at the centres
// of a grid: what an unscaled transform of the cells' values gives (PeriodicFourier::forward), but
// for the mean, which is 0. At half the sampling rate the waves of both signs, which the grid
// cannot tell apart, share the mode.
std::complex<double> noise_mode(std::uint64_t seed, const pencil::Mode& mode,
                                const pencil::Cells& cells);

}  // namespace octant::cosmology
