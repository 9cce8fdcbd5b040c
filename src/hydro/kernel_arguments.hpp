// The options and arguments of a sweep as its kernels want them.
#pragma once

#include "hydro/hydrostatic.hpp"
#include "hydro/point_sources.hpp"
#include "hydro/schemes.hpp"

namespace octant::hydro {

struct KernelArguments {
  KernelArguments(const HydroOptions& options, const SweepArguments& a)
      : sweep(a),
        patch(a.tiles.patch == 8 ? 0 : 1),
        gas(options.gas()),
        variables(options.variable_count()),
        fractions(options.fractions()),
        spin(options.spin()),
        dimensions(options.dimensions),
        hancock(options.integrator == Integrator::muscl_hancock),
        senses_shocks(scheme_kernels(options).senses_shocks),
        steepens_contacts(options.contact_steepening),
        frame(options.frame),
        sources(options, a),
        balanced(options.is_balanced()),
        stratification(options.acceleration, a.dx),
        guards_entropy(options.dual_energy == DualEnergy::overwrite),
        overwrites_energy(guards_entropy && a.ends_step),
        blended(a.a0 != 0.0 || a.a1 != 1.0),
        dt_over_dx(a.dt / a.dx),
        cells_per_block(static_cast<std::int64_t>(a.tiles.block_size) * a.tiles.block_size *
                        a.tiles.block_size) {}

  SweepArguments sweep;
  int patch;  // which of the kernels for tiles of 8^3 and 16^3 cells
  Gas gas;
  int variables;
  FractionGroups fractions;
  int spin;        // the first of spin_variables(), or -1
  int dimensions;  // along which the gas changes; batches of tiles take no notice
  bool hancock;
  bool senses_shocks;      // for Riemann solvers that need the shock sensor
  bool steepens_contacts;  // of parabolas, in Runge-Kutta schemes
  mesh::Frame frame;
  PointSources sources;
  bool balanced;  // hydro.well_balanced, which alone asks for the next
  Stratification stratification;
  bool guards_entropy;     // from truncation errors of the energy: DualEnergy::overwrite
  bool overwrites_energy;  // resets the total energy from the entropy that was guarded
  bool blended;            // whether next is more than current + dt L(current)
  double dt_over_dx;
  std::int64_t cells_per_block;
};

}  // namespace octant::hydro
