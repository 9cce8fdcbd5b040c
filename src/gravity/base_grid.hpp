// The base level as one grid that fills the domain: its mean, its potential by Fourier transforms,
// and the power spectrum of the matter on it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gravity/base_fourier.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Spectrum bin: modes with wavenumbers within half a fundamental wavenumber of a multiple of it.
struct SpectrumBin {
  double k = 0.0;          // mean wavenumber of the modes, 2 pi / wavelength in code length
  double power = 0.0;      // mean of V |delta_k|^2, in code volume, of the values in the cells
  double corrected = 0.0;  // `power`, corrected for the smoothing by cloud-in-cell deposition
  std::int64_t modes = 0;  // number of modes; a mode and its mirror image count as two
};

// Power spectrum of a density contrast.
struct PowerSpectrum {
  std::vector<SpectrumBin> bins;  // from the fundamental mode to the grid's Nyquist wavenumber
  double shot_noise = 0.0;  // shot noise of Poisson-sampled masses, part of `power`; not subtracted
};

// Measures the power spectrum of a density in own patches, relative to its mean: delta_k =
// sum(delta exp(-i k x)) / cells. Bins are as wide as the fundamental wavenumber. `means` is the
// part of the density not deposited as clouds; it may be empty. Power is 0 if the mean is not
// positive. The caller sets the shot noise. Same bits on any number of ranks. Collective.
PowerSpectrum measure_power_spectrum(BaseFourierSolver& fourier, const Communicator& communicator,
                                     const DeviceArray<double>& density,
                                     const DeviceArray<double>& means);

// Returns the shot noise share^2 V / N of N equal masses, sampled at random, that make up the
// fraction `share` of all mass.
double shot_noise(double volume, std::int64_t masses, double share);

// Base level and its Fourier solver, created at first use. All functions are collective.
class BaseGrid {
 public:
  // Mesh and levels must outlive this object.
  BaseGrid(const mesh::Mesh& mesh, const CommOptions& options, PatchLevels& levels,
           FourierSchedule schedule);

  // Must be called whenever blocks were created, removed or moved.
  void connect() { connected_ = false; }

  // Reference to the base level's patches, valid until connect() is called.
  PatchLevel& level() { return levels_.at(0); }
  // Number of cells of the base level.
  double cells() const;
  // Returns the mean of a density over the domain. Same bits on any number of ranks.
  double mean(const BlockField& density);

  // Sets phi from f in own patches, where sum(neighbours) - 6 phi = f. The mean of phi is 0 in a
  // periodic domain; phi = 0 at infinity in an isolated one. If `factor` is set, each mode of a
  // periodic potential is also multiplied by that function of its wavenumber.
  void solve(Laplacian laplacian, const WaveFactor& factor, const DeviceArray<double>& f,
             const DeviceArray<double>& phi);

  // Power spectrum; see measure_power_spectrum(). `means` may be null. The domain must be periodic.
  PowerSpectrum power_spectrum(const BlockField& density, const BlockField* means);

 private:
  BaseFourierSolver& fourier();
  ModeFactors& green(Laplacian laplacian);

  const mesh::Mesh& mesh_;
  CommOptions options_;
  PatchLevels& levels_;
  FourierSchedule schedule_;
  std::unique_ptr<BaseFourierSolver> fourier_;
  bool connected_ = false;  // true if fourier_ uses the patches of level()
  WaveNumbers waves_;       // filled when a factor first depends on wavenumbers
  // factors by Laplacian; of the isolated Green functions in non-periodic domains
  std::map<Laplacian, ModeFactors> greens_;
};

}  // namespace octant::gravity
