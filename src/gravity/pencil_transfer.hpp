// Copies between the base level's patches and x-pencils of the whole grid.
#pragma once

#include <memory>
#include <vector>

#include "gravity/patches.hpp"
#include "pencil/device_field.hpp"

namespace octant::gravity {

// The rows along x that a patch and a rank's pencil have in common; cells are counted in the grid.
struct SharedRows {
  std::int32_t patch;                  // slot; on the pencil's side without meaning
  std::array<std::int32_t, 3> corner;  // first cell of the patch
  pencil::Range y, z;
  std::int64_t first = 0;  // place of the first row in a message

  std::int64_t count() const { return std::int64_t{y.count()} * z.count(); }
};

// Fields of own patches are [slot][k][j][split i]; they and pencils lie in the memory of Kokkos'
// default execution space, whose kernels pack and unpack what travels to other ranks.
//
// Memory: two buffers as large as what this rank's patches and pencil do not share. Ranks beyond
// those of the process grid hold no pencil: their views are empty. Collective, as all functions.
class PencilTransfer {
 public:
  PencilTransfer(const LevelPatches& patches, const pencil::Cells& cells,
                 const pencil::ProcessGrid& processes, const CommOptions& options);

  // Neither waits for the kernels that unpack.
  void to_pencil(const double* patches, const pencil::FieldView& pencil);
  // Times a factor.
  void to_patches(const pencil::FieldView& pencil, double* patches, double factor = 1.0);

 private:
  void match(const LevelPatches& patches, const pencil::Cells& cells,
             const pencil::ProcessGrid& processes);

  int side_;
  pencil::Box pencil_;
  // Own patches in the own pencil; in other ranks' pencils; other ranks' patches in the own pencil.
  DeviceArray<const SharedRows> local_, leaving_, arriving_;
  std::unique_ptr<ExchangePlan> plan_;  // an item is a row
  DeviceArray<double> sent_, received_;
  Exchanger exchanger_;
};

}  // namespace octant::gravity
