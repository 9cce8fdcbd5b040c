// Load balancing: the assignment of blocks to ranks.
#pragma once

#include <vector>

#include "amr/gas_solver.hpp"
#include "amr/matter.hpp"
#include "amr/particle_step.hpp"
#include "amr/step_context.hpp"
#include "decomp/partition.hpp"
#include "decomp/planner.hpp"
#include "decomp/work.hpp"

namespace octant {

class LoadBalance {
 public:
  // The report of a load-balancing policy on a level; level -1 stands for all levels.
  struct Placement {
    int level;
    PlacementReport report;
  };

  LoadBalance(StepContext& context, Matter& matter, GasSolver& gas, ParticleStep& particles)
      : context_(context),
        mesh_(context.mesh),
        options_(context.options),
        matter_(matter),
        gas_(gas),
        particles_(particles) {}

  // Moves blocks to other ranks by their costs. Returns true if any moved. Collective.
  bool rebalance();
  // Reports since the last clear_placements().
  const std::vector<Placement>& placements() const { return placements_; }
  void clear_placements() { placements_.clear(); }

 private:
  std::vector<std::vector<CostItem>> block_costs();
  void measure_costs(std::vector<std::vector<CostItem>>& costs) const;
  std::vector<std::vector<int>> balance_each_level(const std::vector<std::vector<CostItem>>& costs);
  std::vector<std::vector<int>> balance_all_levels(const std::vector<std::vector<CostItem>>& costs);
  std::vector<int> owners_of(const std::vector<CostItem>& blocks, int level,
                             placement::Capacity& capacity);
  placement::Capacity block_capacity() const;
  double communication_share() const;

  StepContext& context_;
  mesh::Mesh& mesh_;
  const AmrOptions& options_;
  Matter& matter_;
  GasSolver& gas_;
  ParticleStep& particles_;
  std::vector<Placement> placements_;
};

}  // namespace octant
