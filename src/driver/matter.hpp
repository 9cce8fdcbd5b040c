// All that attracts: dark matter, and the density that it has together with the gas.
#pragma once

#include <memory>
#include <vector>

#include "driver/options.hpp"
#include "gravity/gravity.hpp"
#include "particles/particles.hpp"

namespace octant::driver {

class Matter {
 public:
  // The mesh must outlive this. Dark matter is there if the problem has some; it comes later.
  // Collective.
  Matter(mesh::Mesh& mesh, const AmrOptions& options);

  particles::Particles* dark() { return dark_.get(); }  // null if there is none
  const particles::Particles* dark() const { return dark_.get(); }

  // Brings the densities of a level and all finer ones up to date: after particles or gas have
  // moved, and of all levels after changes of the mesh. Collective.
  void update_density(int coarsest);

  // The mass per volume on a level's own blocks, of the last update.
  gravity::BlockField density(int level) const;

  // The gas's own share; BlockField{} where there is no gas.
  gravity::BlockField gas_density(int level) const;

  // The largest density of all by level, at least 0. Collective.
  std::vector<double> densest() const;

 private:
  mesh::Mesh& mesh_;
  bool has_gas_;
  std::unique_ptr<particles::Particles> dark_;
  std::vector<mesh::DeviceArray<double>> density_;  // by level, [slot][cell]; with dark matter only
};

}  // namespace octant::driver
