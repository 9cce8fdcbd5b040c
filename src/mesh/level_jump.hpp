// What happens where a level meets the next coarser one: restriction of children into their
// parents, and flux correction of the coarse cells beside fine ones.
#pragma once

#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/transfer.hpp"

namespace octant::mesh {

// The flux requests of a level's own blocks, and the length of the array of registers that they add
// to.
struct LevelRegisters {
  BlockFluxRequests requests;
  std::int64_t doubles = 0;
};

// The jump between a level and the coarser one beneath it, on one rank. Built anew by each regrid.
//
// Fluxes through a face between levels are integrated over time twice: by the fine level, averaged
// over 2^2 faces and summed over its sub-steps, and by the coarse level. The difference corrects
// the coarse cell (Berger & Colella 1989). A register holds one quarter of a coarse block's plane,
// [variable][b][a], and belongs to one fine block's face.
class LevelJump {
 public:
  // Adds its registers to those of both levels, and notes who owns the children of own coarse
  // blocks, [slot][octant], -1 where there is none. Collective.
  LevelJump(const Tree& tree, int fine_level, const BlockLayout& layout, LevelRegisters& fine,
            LevelRegisters& coarse, std::vector<std::array<std::int32_t, 8>>& child_owners);

  // Forgets the fluxes of both sides; `fine` and `coarse` are the levels' arrays of registers.
  void clear_registers(const DeviceArray<double>& fine, const DeviceArray<double>& coarse) const;

  // Coarse cells under children take the mean of their cells. Collective.
  void restrict_to_parents(const double* children, double* parents, Exchanger& exchanger) const;

  // Applies the differences of the registers to the coarse blocks. Collective.
  void correct_parents(const DeviceArray<double>& fine, const DeviceArray<double>& coarse,
                       double coarse_cell_size, double* coarse_blocks, Exchanger& exchanger) const;

  // The coarse cells of this rank that it corrects.
  const Corrections& corrections() const { return corrections_; }

 private:
  void plan_restriction(const Tree& tree, int fine_level,
                        std::vector<std::array<std::int32_t, 8>>& child_owners);
  void plan_correction(const Tree& tree, int fine_level, LevelRegisters& fine,
                       LevelRegisters& coarse);

  BlockLayout layout_;
  int octant_values_, face_values_;  // doubles in a restricted octant, in a register
  bool alone_;                       // one rank: nothing needs to travel

  DeviceArray<const RestrictionTask> restrictions_;
  DeviceArray<const OctantTask> octants_;
  std::unique_ptr<ExchangePlan> octant_plan_, face_plan_;

  // This jump's registers within the arrays of the two levels.
  std::int64_t fine_begin_ = 0, fine_end_ = 0, coarse_begin_ = 0, coarse_end_ = 0;
  Corrections corrections_;
};

}  // namespace octant::mesh
