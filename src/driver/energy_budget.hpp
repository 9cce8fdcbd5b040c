// The energy of an expanding box, and how well it is conserved.
#pragma once

namespace octant::driver {

// In supercomoving units the potential is proportional to a, so that energy is not constant but
// obeys the Layzer-Irvine equation (Layzer 1963, Irvine 1961; here in the variables of Martel &
// Shapiro 1998):
//
//   d (kinetic + internal + potential) = potential d ln a.
//
// What is left of the difference of both sides since the beginning is the error, but for what
// processes have added, and for what a change of resolution does to the potential: where cells are
// refined or joined, and where particles change to a level of other cells, the same matter at the
// same places has another discrete potential energy, which no force has worked for. So has the gas
// of new cells with dual energy that overwrites, whose motion the cells before could not show.
// Where processes cool gas into a cell or two, the scheme spreads it over its neighbours and lifts
// it in its own potential; the work that it is spared comes back as heat, which is radiated. What
// dual energy overwrites is booked there, too.
struct EnergyBudget {
  bool begun = false;
  double initial = 0.0;                 // energy at the beginning
  double work = 0.0;                    // the integral of potential d ln a since then
  double log_a = 0.0, potential = 0.0;  // at the last update
  double energy = 0.0, added = 0.0;
  double resolution = 0.0;         // by changes of resolution since the beginning
  double resolution_before = 0.0;  // of that, at the last update
  double unsolved = 0.0;           // what the next solution for the potential will add to it
  bool counts_spared = false;
  double spared = 0.0;  // work that gas was spared since the beginning, where it is counted

  // The state at scale factor a, and what processes have added since the beginning. Between two of
  // them the potential is taken for a power of a, but for the changes of resolution at the end.
  void update(double a, double kinetic_and_internal, double new_potential, double added_so_far);

  // The gas has got more energy by a regrid.
  void refine_gas(double gain) {
    resolution += gain;
    resolution_before += gain;  // of the potential's path nothing
  }

  // The error in units of the present potential energy.
  double error() const;
};

}  // namespace octant::driver
