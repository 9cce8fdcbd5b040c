#include "gravity/patch_level.hpp"

#include <cmath>

#include <fmt/format.h>

#include "comm/reproducible_sum.hpp"
#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

std::vector<std::int32_t> masked_slots(const LevelPatches& patches) {
  std::vector<std::int32_t> slots;
  for (int slot = 0; slot < patches.own(); ++slot)
    if (patches.masked()[slot]) slots.push_back(slot);
  return slots;
}

// Returns the sum of the values, or of their squares, over the cells of each own patch. Cell c is
// added to part c % 8 for any SIMD width.
DeviceArray<double> patch_sums(const LevelPatches& patches, const DeviceArray<double>& field,
                               bool squared) {
  const auto sums = mesh::uninitialised<double>("patch sums", patches.own());
  const auto strips = patches.strips();
  const int side = patches.side(), rows = side * side;
  // number of rows that are contiguous in memory
  const int together = side < k_largest_patch ? rows : k_strip;
  if (patches.own() == 0) return sums;
  constexpr int parts = 8, packs = parts / PackOf::width;
  Kokkos::TeamPolicy<> policy(patches.own(), 1, packs);
  policy.set_scratch_size(0, Kokkos::PerTeam(parts * sizeof(double)));
  record_kernel_work("gravity: patch sums", patches.own() * cells_of(side),
                     {8.0, squared ? 2.0 : 1.0});
  Kokkos::parallel_for(
      "gravity: patch sums", policy, KOKKOS_LAMBDA(const Team& team) {
        auto* part = static_cast<double*>(team.team_scratch(0).get_shmem(parts * sizeof(double)));
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, packs), [&](int n) {
          SimdDouble sum(0.0);
          for (int row = 0; row < rows; row += together) {
            const double* values = row_of(strips.data(), side, field.data(), team.league_rank(),
                                          row % side, row / side);
            if (!values) continue;
            for (int c = n * PackOf::width; c < together * side; c += parts) {
              const SimdDouble v = PackOf::load(values + c);
              sum = sum + (squared ? v * v : v);
            }
          }
          PackOf::store(part + n * PackOf::width, sum);
        });
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          sums(team.league_rank()) = ((part[0] + part[1]) + (part[2] + part[3])) +
                                     ((part[4] + part[5]) + (part[6] + part[7]));
        });
      });
  return sums;
}

}  // namespace

void shift(const DeviceArray<double>& field, double constant) {
  for_items(
      "gravity: shift", field.extent(0),
      KOKKOS_LAMBDA(const std::int64_t n) { field(n) += constant; });
}

PatchLevel::PatchLevel(const mesh::Tree& tree, int level, const CommOptions& options,
                       FieldPool& pool)
    : pool_(pool),
      patches_(tree, level),
      tables_(mesh::to_device("patch tables", patches_.tables())),
      masked_(mesh::to_device("masked", patches_.masked())),
      masked_patches_(mesh::to_device("masked patches", masked_slots(patches_))),
      halo_(patches_, {{patches_.side(), 2}}, options),
      transfer_(patches_, tree.geometry().block_size(), options) {}

ReproducibleSum own_sum(const DeviceArray<double>& terms) {
  const auto host = on_host(TransferKind::numbers, terms);
  ReproducibleSum sum;
  for (std::size_t n = 0; n < host.size(); ++n) sum += host(n);
  return sum;
}

double PatchLevel::total(const DeviceArray<double>& terms) const {
  ReproducibleSum sum = own_sum(terms);
  reproducible_sum(patches_.communicator(), std::span(&sum, 1));
  return sum.to_double();
}

DeviceArray<double> PatchLevel::squares(const DeviceArray<double>& field) const {
  return patch_sums(patches_, field, true);
}

double PatchLevel::norm(const DeviceArray<double>& field) const {
  return std::sqrt(total(squares(field)));
}

double PatchLevel::sum(const DeviceArray<double>& field) const {
  return total(patch_sums(patches_, field, false));
}

PatchLevel& PatchLevels::at(int level) {
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
