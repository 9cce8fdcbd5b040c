// Load balancing: the assignment of blocks to ranks.
#pragma once

#include <optional>
#include <vector>

#include "amr/matter.hpp"
#include "amr/memory_cost.hpp"
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

  LoadBalance(StepContext& context, Matter& matter)
      : context_(context),
        mesh_(context.mesh),
        options_(context.options),
        matter_(matter),
        memory_(mesh_, options_, matter) {}

  // Moves blocks to other ranks by their costs. Returns true if any moved. Collective.
  bool rebalance();
  // Returns true if the imbalance of the last step exceeds balance.imbalance_threshold, and that of
  // the first step after the last balancing by k_tolerated_growth: blocks do not migrate again if
  // this cannot help. Collective.
  bool exceeds_threshold();
  const MemoryCost& memory() const { return memory_; }
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
  double imbalance() const;

  static constexpr double k_tolerated_growth = 1.05;

  StepContext& context_;
  mesh::Mesh& mesh_;
  const AmrOptions& options_;
  Matter& matter_;
  MemoryCost memory_;
  std::vector<Placement> placements_;
  // Imbalance in the first step after the last balancing with measurements; empty until known.
  std::optional<double> reached_ = 1.0;
};

}  // namespace octant
