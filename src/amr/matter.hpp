// Matter that gravitates or moves: particle kinds, and their density combined with the gas.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "amr/amr_options.hpp"
#include "gravity/gravity.hpp"
#include "particles/particles.hpp"

namespace octant {

// Particle kinds of a run in the order of particles::in_order: those of its problem and its
// processes, each once.
std::vector<particles::Kind> particle_kinds(const AmrOptions& options);

// Particles of a run by kind, and the density of all gravitating matter.
class Matter {
 public:
  // The mesh must outlive this object. Particles are added later. Collective.
  Matter(mesh::Mesh& mesh, const AmrOptions& options);

  // Particle kinds of the run in their order; empty for gas alone.
  std::span<particles::Particles> kinds() { return kinds_; }
  // Particle kinds of the run, for reading.
  std::span<const particles::Particles> kinds() const { return kinds_; }
  // True if the run has any particle kind.
  bool has_particles() const { return !kinds_.empty(); }
  // Returns the kind of this name, or null. Its address is stable.
  particles::Particles* kind(const std::string& name);
  // Kind of this name, for reading; null if there is none.
  const particles::Particles* kind(const std::string& name) const;

  // Must be called after every regrid, and before blocks migrate: see particles::Particles.
  // Collective.
  void adapt_to_mesh();
  // Migrates particles with their blocks; `owners` as for mesh::Mesh::migrate(). Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // Deposits the particle masses on levels >= `coarsest`. Must be called after particles moved, and
  // for all levels after regridding. Collective: one reduction, or none after set_deposit_maxima().
  void update_density(int coarsest);
  // Local terms of the reduction before the next deposit; see
  // particles::Particles::deposit_reduction_terms().
  std::vector<double> deposit_reduction_terms() const {
    return particles::Particles::deposit_reduction_terms(kinds_);
  }
  // Sets the maxima of these terms over all ranks for the next deposit. Until then, particles may
  // drift but neither change their masses nor their levels.
  void set_deposit_maxima(std::span<const double> maxima) {
    deposit_maxima_.assign(maxima.begin(), maxima.end());
    has_deposit_maxima_ = true;
  }
  // Largest masses by kind at the last update_density().
  std::vector<double> largest_masses() const {
    return particles::Particles::largest_masses(kinds_, deposit_maxima_);
  }

  // Sets whether gravity solves each level separately. If so, choose_force_levels() selects the
  // level whose potential accelerates a particle; see particles::Particles.
  void set_separate_levels(bool apart);
  // Selects the force levels of particles on levels >= `coarsest`.
  void choose_force_levels(int coarsest);
  // True if any particle kind has mass.
  bool has_attracting_particles() const { return particles_attract_; }

  // Kicks, v += dt g, the gravitating particles assigned to a level, including those stored on the
  // next finer level. `coarser` is g on the next coarser level, as in
  // particles::Particles::fetch(). Collective.
  void kick(int level, const particles::VectorField& here, const particles::VectorField& coarser,
            double dt);

  // Sums over particles with mass on levels >= `coarsest`, by kind: of masses, and of masses times
  // a field that is defined on every level. Collective.
  std::vector<particles::Particles::MassSums> mass_sums(
      const std::function<particles::VectorField(int level)>& field, int coarsest);

  // Density on a level's own blocks: particles at the last update, and present gas.
  mesh::OptionallyOwnedField density(int level) const;

  // Density on the base level in which all particle clouds have the size of a base cell. The domain
  // must be periodic. Collective.
  mesh::OptionallyOwnedField density_of_equal_clouds() const;

  // Gas density; BlockField{} without gas.
  gravity::BlockField gas_density(int level) const;
  // True if the run has gas.
  bool has_gas() const { return has_gas_; }

  // Maximum total density by level in own blocks, at least 0. Collective because of the density.
  std::vector<double> densest() const;

 private:
  mesh::OptionallyOwnedField gas_in_new_field(int level) const;

  mesh::Mesh& mesh_;
  bool has_gas_;
  std::vector<particles::Particles> kinds_;
  bool particles_attract_ = false;  // true if any kind gravitates
  bool levels_are_separate_ = false;
  std::vector<double> deposit_maxima_;  // maxima over all ranks, for the last or the next deposit
  bool has_deposit_maxima_ = false;     // for the next deposit
};

}  // namespace octant
