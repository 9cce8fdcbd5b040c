// All that attracts, and what moves with it: kinds of particles, and their density together with
// the gas's.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/run_options.hpp"
#include "gravity/gravity.hpp"
#include "particles/particles.hpp"

namespace octant::driver {

// The kinds of particles that a run has, in order (particles::in_order): those of its problem and
// of its processes, each once.
std::vector<particles::Kind> particle_kinds(const AmrOptions& options);

class Matter {
 public:
  // The mesh must outlive this. The particles come later. Collective.
  Matter(mesh::Mesh& mesh, const AmrOptions& options);

  // The kinds of the run, in their order; none where nothing but gas moves.
  std::span<particles::Particles> kinds() { return kinds_; }
  std::span<const particles::Particles> kinds() const { return kinds_; }
  bool has_particles() const { return !kinds_.empty(); }
  // The kind of this name, or null. It stays where it is.
  particles::Particles* kind(const std::string& name);
  const particles::Particles* kind(const std::string& name) const;

  // After every change of the mesh, and before blocks migrate: see particles::Particles.
  // Collective.
  void adapt_to_mesh();
  void migrate(const std::vector<std::vector<int>>& owners);

  // Shares the masses of particles of a level and all finer ones among cells: after they have
  // moved, and of all levels after changes of the mesh. Collective.
  void update_density(int coarsest);

  // See particles::Particles: whether gravity solves every level for a potential of its own, and
  // which level serves a particle then.
  void serve_levels_apart(bool apart);
  void choose_serving_levels(int coarsest);
  bool has_attracting_particles() const { return particles_attract_; }

  // v += dt g for the particles that fall and that a level serves, those of the next finer level
  // among them. `coarser` is g on the next coarser level, as particles::Particles::fetch().
  // Collective.
  void kick(int level, const particles::VectorField& here, const particles::VectorField& coarser,
            double dt);

  // Of the particles with mass on levels from `coarsest` on, by kind: what their masses add up to,
  // themselves and times a field on every level. Collective.
  std::vector<particles::Particles::MassSums> mass_sums(
      const std::function<particles::VectorField(int level)>& field, int coarsest);

  // The mass per volume on a level's own blocks: of particles where they were at the last update,
  // and of gas as it is.
  mesh::LentField density(int level) const;

  // The same on the base level, in which the cloud of every particle, of whatever level, has the
  // size of a base cell. The domain must be periodic. Collective.
  mesh::LentField density_of_equal_clouds() const;

  // The gas's own share; BlockField{} where there is no gas.
  gravity::BlockField gas_density(int level) const;
  bool has_gas() const { return has_gas_; }

  // The largest density of all by level, at least 0. Collective.
  std::vector<double> densest() const;

 private:
  mesh::LentField gas_in_new_field(int level) const;

  mesh::Mesh& mesh_;
  bool has_gas_;
  std::vector<particles::Particles> kinds_;
  bool particles_attract_ = false;  // any kind of them
  bool levels_apart_ = false;
};

}  // namespace octant::driver
