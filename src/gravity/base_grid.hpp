// Base level as one grid that fills the domain: mean density, potential by Fourier transforms, and
// power spectrum of the matter.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gravity/base_fourier.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Spectrum bin: modes whose wavenumbers round to the same multiple of the fundamental wavenumber,
// which is that of the longest side of the domain.
struct SpectrumBin {
  double k = 0.0;          // mean wavenumber of the modes, 2 pi / wavelength in code length
  double power = 0.0;      // mean of V |delta_k|^2 of the cell values, in code volume
  double corrected = 0.0;  // `power`, corrected for the smoothing by cloud-in-cell deposition
  std::int64_t modes = 0;  // number of modes; a mode and its mirror image count as two
};

// Power spectrum of a density contrast.
struct PowerSpectrum {
  std::vector<SpectrumBin> bins;  // up to the grid's Nyquist wavenumber
  double shot_noise = 0.0;        // part of `power` due to Poisson sampling; not subtracted
};

// Measures the power spectrum of a density in own patches, relative to its mean: delta_k =
// sum(delta exp(-i k x)) / cells. Bins are as wide as the fundamental wavenumber. `means`, which
// may be empty, is the part of the density that was not deposited as clouds. Power is 0 if the mean
// is not positive. The caller sets shot_noise. Same bits on any number of ranks. Collective.
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

  // Patches of the base level. The reference is valid until connect() is called.
  PatchLevel& level() { return levels_.at(0); }
  // Number of cells of the base level.
  double cells() const;
  // Returns the mean of a density over the domain. Same bits on any number of ranks.
  double mean(const BlockField& density);

  // Sets phi from f in own patches, where sum(neighbours) - 6 phi = f. The mean of phi is 0 in a
  // periodic domain, and phi = 0 at infinity in an isolated one. If `factor` is set, each mode of a
  // periodic potential is also multiplied by factor(wavenumber).
  void solve(Laplacian laplacian, const WaveFactor& factor, const DeviceArray<double>& f,
             const DeviceArray<double>& phi);

  // Returns measure_power_spectrum() of a periodic domain. `means` may be null.
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
  WaveNumbers waves_;       // set at the first use of a WaveFactor
  // Green's functions, one per discrete Laplacian, for the periodic or isolated domain
  std::map<Laplacian, ModeFactors> greens_;
};

}  // namespace octant::gravity
