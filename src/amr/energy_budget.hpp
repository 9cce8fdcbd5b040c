// Energy budget of an expanding box, and energy changes by changes of resolution.
#pragma once

namespace octant {

// Energy budget of an expanding box. In supercomoving units the potential is proportional to a, so
// energy is not constant but obeys the Layzer-Irvine equation (Layzer 1963, Irvine 1961; here in
// the variables of Martel & Shapiro 1998):
//
//   d (kinetic + internal + potential) = potential d ln a.
//
// The error is the accumulated difference of both sides, minus the energy added by processes and
// minus changes of resolution (`resolution`): refinement, derefinement and the reassignment of
// particles to another level change the discrete potential energy of matter that does not move; if
// the dual-energy formalism overwrites energies, new cells also gain the energy of motions that the
// old cells did not resolve. Where cooling concentrates gas in one or two cells, numerical
// diffusion lifts gas into neighbouring cells against gravity. The gravitational kicks do not
// subtract this work from the energy of the gas, which is heated and radiates when it falls back.
// `withheld_work` accumulates this work, minus the energy that the dual-energy formalism overwrites
// (docs/galaxy.md).
//
// Without expansion, `resolution` is recorded with gravity.work = "potential", which conserves the
// sum of all energies otherwise. The other terms are zero.
struct EnergyBudget {
  bool begun = false;
  double initial = 0.0;                 // energy at the start
  double work = 0.0;                    // integral of potential d ln a since the start
  double log_a = 0.0, potential = 0.0;  // at the last update
  double energy = 0.0, added = 0.0;
  double resolution = 0.0;         // energy change by changes of resolution since the start
  double resolution_before = 0.0;  // `resolution` at the last update
  double unsolved = 0.0;  // addition to `resolution` by the next solution for the potential
  bool counts_withheld = false;
  // work of numerical diffusion against gravity since the start, if it is recorded
  double withheld_work = 0.0;

  // Adds the state at scale factor a; `added_so_far` is the energy from processes since the start.
  // Between updates the potential energy is assumed to be a power of a, except for changes of
  // resolution at the end.
  void update(double a, double kinetic_and_internal, double new_potential, double added_so_far);

  // Adds an energy gain of the gas in a regrid.
  void add_regrid_energy(double gain) {
    resolution += gain;
    resolution_before += gain;  // does not affect the potential's power law
  }

  // Error in units of the present potential energy.
  double error() const;
};

}  // namespace octant
