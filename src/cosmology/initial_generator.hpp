// Initial conditions made from a power spectrum and a seed.
#pragma once

#include <cstdint>
#include <optional>

#include "cosmology/initial_conditions.hpp"
#include "cosmology/lagrangian.hpp"
#include "cosmology/linear_power.hpp"

namespace octant::cosmology {

struct GeneratorOptions {
  int side = 32;  // cells along each axis
  std::uint64_t seed = 1;
  LagrangianOrder order = LagrangianOrder::second;
  SpectrumOptions spectrum;
};

// One level: white noise times the square root of the spectrum, moved by Lagrangian perturbation
// theory. Gas and dark matter are one fluid; the gas's overdensity is the linear one, and its
// velocity at a cell's centre is that of the dark matter that comes from there. Memory: some ten
// numbers per cell, spread over as many ranks as the grid is worth.
class GeneratedConditions : public InitialConditions {
 public:
  // Collective. Throws InputError on every rank: no box or scale factor, and as LinearPower.
  GeneratedConditions(const Communicator& communicator, const GeneratorOptions& options,
                      const InitialHeader& header, const Expansion& expansion);

  bool has(InitialField field) const override;
  CellSpread spread(int level) const override;

 protected:
  std::vector<double> compute(int level, InitialField field) override;
  std::string missing(InitialField field) const override;

 private:
  Growth growth_;
  double rate_ = 0.0;  // velocity_rate()
  pencil::ProcessGrid processes_;
  std::optional<LagrangianFields> fields_;  // on ranks that hold cells
};

}  // namespace octant::cosmology
