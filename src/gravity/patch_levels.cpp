#include "gravity/patch_levels.hpp"

namespace octant::gravity {

void PatchLevels::connect() {
  levels_.clear();
  levels_.resize(mesh_.finest_level() + 1);
}

PatchLevel& PatchLevels::at(int level) {
  if (level == 0) return base_.level();
  auto& patches = levels_[level].patches;
  if (!patches) patches = std::make_unique<PatchLevel>(mesh_.tree(), level, options_, pool_);
  return *patches;
}

CoarseBoxes& PatchLevels::boxes(int level) {
  auto& boxes = levels_[level].boxes;
  if (!boxes)
    boxes = std::make_unique<CoarseBoxes>(at(level).patches(),
                                          level > 0 ? &at(level - 1).patches() : nullptr,
                                          mesh_.geometry(), options_, pool_);
  return *boxes;
}

}  // namespace octant::gravity
