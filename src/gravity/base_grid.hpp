// The base level as one grid that fills the domain: its mean, its potential by Fourier transforms,
// and the spectrum of what is on it.
#pragma once

#include <map>
#include <memory>

#include "gravity/base_fourier.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/power_spectrum.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Its parts are made when they are first asked for. Collective, as all functions.
class BaseGrid {
 public:
  // Mesh and pool must outlive this.
  BaseGrid(const mesh::Mesh& mesh, const CommOptions& options, FieldPool& pool,
           FourierSchedule schedule);

  // To be called whenever blocks were made, removed or moved.
  void connect();

  // Until connect() is called.
  PatchLevel& level();
  double cells() const;
  double mean(const BlockField& density);

  // Sets phi from f, in own patches, where sum(neighbours) - 6 phi = f; phi = 0 in the mean of a
  // periodic domain, and at infinity in one without periodic boundaries. Each mode of a periodic
  // potential is multiplied by `factor` of its wave number, if there is one.
  void solve(Laplacian laplacian, const WaveFactor& factor, const DeviceArray<double>& f,
             const DeviceArray<double>& phi);

  // See measure_power_spectrum(); `means` may be null. The domain must be periodic.
  PowerSpectrum power_spectrum(const BlockField& density, const BlockField* means);

 private:
  BaseFourier& fourier();
  ModeFactors& green(Laplacian laplacian);

  const mesh::Mesh& mesh_;
  CommOptions options_;
  FieldPool& pool_;
  FourierSchedule schedule_;
  std::unique_ptr<PatchLevel> level_;
  std::unique_ptr<BaseFourier> fourier_;
  bool connected_ = false;                   // fourier_ to level_
  WaveNumbers waves_;                        // once something depends on them
  std::map<Laplacian, ModeFactors> greens_;  // isolated ones where the domain is not periodic
};

}  // namespace octant::gravity
