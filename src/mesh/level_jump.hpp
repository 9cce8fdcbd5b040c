// What happens where a level meets the next coarser one: restriction of children into their
// parents, and flux correction of the coarse cells beside fine ones.
#pragma once

#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/send_buffers.hpp"
#include "mesh/transfer.hpp"

namespace octant::mesh {

// The flux requests of a level's own blocks, and the length of the array of registers that they add
// to.
struct LevelRegisters {
  std::vector<SlotFluxRequest> requests;
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

  // Restriction: coarse cells under children take the mean of their cells. What is for other ranks
  // is sent first, own parents are served while it travels. Sending and receiving are collective.
  void send_octants(const double* children, Exchanger& octants);
  void restrict_own(const double* children, double* parents) const;
  void receive_octants(double* parents, Exchanger& octants);

  // Flux correction of the coarse blocks, by the arrays of registers of both levels: first those
  // that touch own fine blocks alone, then the others. Fluxes leave from the fine level's array,
  // which must stay as it is until the exchanger is drained.
  struct Registers {
    const double* fine;
    const double* coarse;
  };
  void send_fluxes(const Registers& registers, Exchanger& fluxes);
  void correct_own(const Registers& registers, double* coarse_blocks) const;
  void receive_fluxes(const Registers& registers, double* coarse_blocks, Exchanger& fluxes);

  // The coarse cells of this rank that it corrects.
  const Corrections& corrections() const { return corrections_; }

 private:
  void plan_restriction(const Tree& tree, int fine_level,
                        std::vector<std::array<std::int32_t, 8>>& child_owners);
  void plan_correction(const Tree& tree, int fine_level, LevelRegisters& fine,
                       LevelRegisters& coarse);

  BlockLayout layout_;
  double inverse_cell_size_;         // of the coarse level
  int octant_values_, face_values_;  // doubles in a restricted octant, in a register
  bool alone_;                       // one rank: nothing needs to travel

  DeviceArray<const RestrictionTask> sent_restrictions_, own_restrictions_;
  DeviceArray<const OctantTask> octants_;
  std::unique_ptr<ExchangePlan> octant_plan_, face_plan_;
  SendBuffers octant_buffers_;
  DeviceArray<double> received_octants_, received_fluxes_;  // while they are under way

  // This jump's registers within the arrays of the two levels.
  std::int64_t fine_begin_ = 0, fine_end_ = 0, coarse_begin_ = 0, coarse_end_ = 0;
  // All corrections; those of blocks that touch own fine blocks alone, by the fine level's
  // registers; and those of the others, by received ones.
  Corrections corrections_, own_corrections_, late_corrections_;
};

}  // namespace octant::mesh
