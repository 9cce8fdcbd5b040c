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

// Distribution of blocks over ranks by their costs.
class LoadBalance {
 public:
  // Report of a load-balancing policy for a level; level -1 stands for all levels.
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
  // Returns true if balancing is likely to help: the imbalance of the last step exceeds
  // balance.imbalance_threshold, and exceeds the imbalance of the first step after the last
  // balancing by the factor k_tolerated_growth. Collective.
  bool exceeds_threshold();
  // Model of the memory of blocks.
  const MemoryCost& memory() const { return memory_; }
  // Reports of the placements of blocks since the last clear_placements().
  const std::vector<Placement>& placements() const { return placements_; }
  // Deletes the reports.
  void clear_placements() { placements_.clear(); }

 private:
  std::vector<std::vector<CostItem>> block_costs();
  void measure_costs(std::vector<std::vector<CostItem>>& costs) const;
  std::vector<std::vector<int>> balance_each_level(const std::vector<std::vector<CostItem>>& costs);
  std::vector<std::vector<int>> balance_all_levels(const std::vector<std::vector<CostItem>>& costs);
  std::vector<int> owners_of(const std::vector<CostItem>& blocks, int level,
                             placement::Capacity& capacity);
  placement::Capacity block_capacity() const;
  PlacementChoice placement_choice() const;
  double communication_fraction() const;
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
