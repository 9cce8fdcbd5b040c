// Halo's counterpart in the memory of Kokkos' default execution space: kernels pack and unpack its
// messages.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "pencil/device_field.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Fills the ghosts that other ranks know, of x-pencils of one grid. Ghosts outside a boundary that
// is not periodic, and all along an axis that is not cut, are the caller's.
class BatchedHalo {
 public:
  // Which of the axes that are cut continue at their other ends. Collective.
  BatchedHalo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const CommOptions& comm);
  ~BatchedHalo();

  // Along y (axis 1): rows -1 and n_y with their ghosts, of all planes with ghosts; along z (2):
  // planes -1 and n_z with all their ghosts. Nothing where the axis is not cut. Collective over the
  // ranks along the axis. Does not wait for the kernels that unpack.
  void fill(std::span<const FieldView> fields, int axis);

  // Bytes and messages sent to other ranks so far.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::unique_ptr<Side> y_, z_;  // none where the axis is not cut
};

}  // namespace octant::pencil
