// The work on mass that flows from cell to cell, by what its potential rises on the way.
#pragma once

#include "gravity/patch_levels.hpp"
#include "gravity/stored_potential.hpp"

namespace octant::gravity {

// The sum over a cell's faces of the mass that flows through them, times what the potential has
// there beyond that of the cell: what the energy of the cell falls by. Both cells at a face see the
// same potential, so that the sum over cells is that of the mass that comes to each times its
// potential. In the mean of the potentials before and after a step that is what 1/2 sum(mass *
// potential) grows by, wherever two masses are to each other what they are the other way round.
//
// Two cells share the way from one to the other as their heats: a thin cell beside a star could not
// pay for half of what diffuses into it. At the domain's end the potential is on the line through
// the last two cells. Between levels it is the mean of the two coarse cells', tilted over the four
// fine faces as the coarse potential is; what that adds to the work on fine faces whose flows
// differ, and the coarse cell does not see, the four fine cells share.
class PotentialWork {
 public:
  // All must outlive this.
  PotentialWork(const mesh::Mesh& mesh, const StoredPotential& stored, PatchLevels& levels)
      : mesh_(mesh), stored_(stored), levels_(levels) {}

  // To be called whenever blocks were made, removed or moved.
  void connect();

  // Adds that to `work`, an energy per volume, on a level's own blocks. `flow` is mass per area,
  // that of coarse cells beside fine ones being what flowed through the fine ones' faces; `heat` is
  // positive in leaf cells and negative in others. Cells that are no leaves get anything.
  // Collective.
  void add(int level, const mesh::FaceFlow& flow, const BlockField& heat, const BlockField& work);

 private:
  const DeviceArray<const std::uint8_t>& ends_of_domain(int level);

  const mesh::Mesh& mesh_;
  const StoredPotential& stored_;
  PatchLevels& levels_;
  // By level and own patch, made when first asked for: bit 2 axis + side where the domain ends.
  std::vector<std::optional<DeviceArray<const std::uint8_t>>> ends_;
};

}  // namespace octant::gravity
