// The half kick that RAMSES's files lack.
//
// RAMSES (Teyssier 2002) ends the kicks of a step when it begins the next one, after it has written
// its files: there, velocities of particles lack half of their last step times the force, and the
// gas has half a step with the force at the step's beginning where that at its end belongs
// (amr_step.f90, synchro_fine.f90, synchro_hydro_fine.f90). What is read shows what the files say;
// this is what it must be given before it goes on.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "driver/amr_simulation.hpp"
#include "driver/ramses_agreement.hpp"
#include "driver/ramses_delivery.hpp"
#include "io/ramses_source.hpp"
#include "particles/particles.hpp"

namespace octant::driver {

class OwedKick {
 public:
  // Finds what the state lacks that was read from an output: gravity has been solved for, and
  // nothing has moved since. Reads the output's forces and particles once more. Throws InputError
  // on every rank. Collective.
  OwedKick(AmrSimulation& simulation, const RamsesFacts& facts, RamsesLevels levels,
           RamsesSource& source, int chunk_files);

  // Gives it to gas and particles, which are where they were. Collective.
  void give() const;

 private:
  void find_steps(const RamsesSource& source);
  // How long a level of RAMSES is still to be kicked.
  double half_step(int level) const { return 0.5 * last_steps_.at(level - 1); }
  std::vector<double> half_steps_of(const RamsesFacts& facts, const RamsesParticles& some,
                                    RamsesFamily family) const;
  void find_of_particles(const RamsesFacts& facts, RamsesSource& source);
  void find_of_gas(const RamsesFacts& facts, RamsesSource& forces);

  AmrSimulation& simulation_;
  RamsesLevels levels_;
  std::vector<double> last_steps_;  // by RAMSES's level, from 1
  // Changes of the gas's velocity, by level: [slot][axis][cell]; none without gas or forces.
  std::vector<mesh::DeviceArray<double>> gas_;
  // Twins of the run's particles by name and id, whose velocities are the accelerations, and whose
  // column says for how long.
  std::deque<particles::Particles> particles_;
};

}  // namespace octant::driver
