#include "gravity/potential_work.hpp"

#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// One side's faces of the cells of a patch, along one axis.
template <int T>
struct FaceSide {
  using Coordinates = int[3];

  PatchScratch<T, 1> phi, heat;
  CoarseBox<T> coarse;  // the coarser level's potential; not read where the level does not end
  const double* flow;   // outwards
  const StripTable* strips;
  std::int64_t patch;
  int axis, side;
  bool ends_domain;  // those at the patch's end

  KOKKOS_FORCEINLINE_FUNCTION double work(const Coordinates& cell) const {
    const double here = at(heat, cell);
    if (here <= 0.0) return 0.0;
    if (ends_domain && cell[axis] == (side == 0 ? 0 : T - 1))
      return flow_from(cell) * 0.5 * (at(phi, cell) - at(phi, cell, -outwards()));
    const double there = at(heat, cell, outwards());
    if (there == 0.0) return work_to_coarse_cell(cell);
    const double share = there < 0.0 ? 0.5 : here / (here + there);
    return flow_from(cell) * share * (at(phi, cell, outwards()) - at(phi, cell));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int outwards() const { return side == 0 ? -1 : 1; }

  // In a cell, or some steps along the axis from it.
  KOKKOS_FORCEINLINE_FUNCTION double at(const PatchScratch<T, 1>& field, const Coordinates& cell,
                                        int steps = 0) const {
    const int i = axis == 0 ? cell[0] + steps : cell[0];
    return field.pairs(i & 1, axis == 1 ? cell[1] + steps : cell[1],
                       axis == 2 ? cell[2] + steps : cell[2])[i >> 1];
  }
  KOKKOS_FORCEINLINE_FUNCTION double flow_from(const Coordinates& cell) const {
    return row_of(strips, T, flow, patch, cell[1], cell[2])[split(cell[0], T)];
  }

  // In the middle of the coarse face around that of a fine cell, or one coarse cell beside it.
  KOKKOS_FORCEINLINE_FUNCTION double coarse_potential(const Coordinates& fine, int along,
                                                      int steps) const {
    Coordinates cell = {fine[0] >> 1, fine[1] >> 1, fine[2] >> 1};
    cell[along] += steps;
    const double inside = coarse.line(cell[1], cell[2])[cell[0] + 2];
    cell[axis] += outwards();
    return 0.5 * (inside + coarse.line(cell[1], cell[2])[cell[0] + 2]);
  }

  KOKKOS_FORCEINLINE_FUNCTION double work_to_coarse_cell(const Coordinates& cell) const {
    const int across[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
    double tilt[2];  // from the middle of the coarse face to that of the upper fine faces
    for (int d = 0; d < 2; ++d)
      tilt[d] =
          0.125 * (coarse_potential(cell, across[d], 1) - coarse_potential(cell, across[d], -1));
    const auto tilted = [&](const Coordinates& fine) {
      return (fine[across[0]] & 1 ? tilt[0] : -tilt[0]) +
             (fine[across[1]] & 1 ? tilt[1] : -tilt[1]);
    };
    double unseen = 0.0;
    for (int n = 0; n < 4; ++n) {
      Coordinates fine = {cell[0], cell[1], cell[2]};
      fine[across[0]] = (cell[across[0]] & ~1) + (n & 1);
      fine[across[1]] = (cell[across[1]] & ~1) + (n >> 1);
      unseen += 0.25 * flow_from(fine) * tilted(fine);
    }
    const double rise = coarse_potential(cell, axis, 0) + tilted(cell) - at(phi, cell);
    return flow_from(cell) * rise - unseen;
  }
};

// What all axes have in common. Fields are those of own patches with copies to a depth of 1.
struct Patches {
  DeviceArray<const PatchTable> tables;
  DeviceArray<const StripTable> strips;
  DeviceArray<const std::uint8_t> ends_of_domain;
  const double *phi, *heat, *boxes;
};

// work -= that of both sides along an axis.
template <int T>
void take_work(const Patches& patches, int axis, const double* from_lower, const double* from_upper,
               const DeviceArray<double>& work) {
  const int own = static_cast<int>(patches.ends_of_domain.extent(0));
  Kokkos::parallel_for(
      "gravity: work of the potential", teams(own, 2 * PatchScratch<T, 1>::bytes()),
      KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = team.league_rank();
        const StripTable* strips = patches.strips.data();
        const PatchScratch<T, 1> phi(team), heat(team);
        gather(team, patches.tables(patch), strips, patches.phi, 1, phi);
        gather(team, patches.tables(patch), strips, patches.heat, 1, heat);
        team.team_barrier();
        const CoarseBox<T> box{patches.boxes + patch * CoarseBox<T>::doubles};
        const unsigned ends = patches.ends_of_domain(patch) >> 2 * axis;
        const auto faces = [&](const double* flow, int side) {
          const bool ends_domain = (ends >> side & 1) != 0;
          return FaceSide<T>{phi, heat, box, flow, strips, patch, axis, side, ends_domain};
        };
        const FaceSide<T> lower = faces(from_lower, 0), upper = faces(from_upper, 1);
        for_rows<T>(team, 0, [&](int j, int k) {
          double* row = row_of(strips, T, work.data(), patch, j, k);
          if (!row) return;
          for (int i = 0; i < T; ++i)
            row[split(i, T)] -= lower.work({i, j, k}) + upper.work({i, j, k});
        });
      });
}

std::vector<std::uint8_t> find_ends(const LevelPatches& patches) {
  std::vector<std::uint8_t> ends(patches.own(), 0);
  for (int slot = 0; slot < patches.own(); ++slot)
    for (int face = 0; face < 6; ++face) {
      std::array<int, 3> offset{};
      offset[face / 2] = face % 2 == 0 ? -1 : 1;
      if (!patches.neighbour(patches.key(slot), offset))
        ends[slot] |= static_cast<std::uint8_t>(1u << face);
    }
  return ends;
}

}  // namespace

void PotentialWork::connect() {
  ends_.clear();
  ends_.resize(mesh_.finest_level() + 1);
}

const DeviceArray<const std::uint8_t>& PotentialWork::ends_of_domain(int level) {
  auto& ends = ends_[level];
  if (!ends) ends = mesh::to_device("ends of the domain", find_ends(levels_.at(level).patches()));
  return *ends;
}

void PotentialWork::add(int level, const mesh::FaceFlow& flow, const BlockField& heat,
                        const BlockField& work) {
  PatchLevel& level_patches = levels_.at(level);
  const auto [phi, hot, work_of_patches] =
      level_patches.make_fields({{"phi",
                                  {.a = 0.5,
                                   .x = stored_.field(level, Field::potential),
                                   .b = 0.5,
                                   .y = stored_.field(level, Field::previous_potential)}},
                                 {"heat", {.x = heat}},
                                 {"work", {.x = work}}});
  for (const auto& field : {phi, hot}) level_patches.halo().run(field.data());
  if (level > 0) {
    const PotentialTimes times = stored_.times(level);
    const DeviceArray<double> coarse = levels_.at(level - 1).make_field(
        "coarse phi", stored_.potential_at(level - 1, 0.5 * (times.previous + times.now)));
    levels_.boxes(level).fill(coarse.data(), 0.0);
  }
  const Patches patches{level_patches.tables(),
                        level_patches.patches().strips(),
                        ends_of_domain(level),
                        phi.data(),
                        hot.data(),
                        level > 0 ? levels_.boxes(level).data() : nullptr};
  const double per_length = 1.0 / mesh_.geometry().cell_size(level);
  for (int axis = 0; axis < 3; ++axis) {
    const auto outwards = [&](int side) -> Combination {
      const BlockField through{flow.of_face(0, axis, side), 6 * flow.cells_per_block};
      return {.a = side == 0 ? -per_length : per_length, .x = through};
    };
    const auto flows =
        level_patches.make_fields({{"lower flow", outwards(0)}, {"upper flow", outwards(1)}});
    with_side(level_patches.patches(), [&](auto T) {
      take_work<T.value>(patches, axis, flows[0].data(), flows[1].data(), work_of_patches);
    });
  }
  level_patches.transfer().to_blocks(work_of_patches.data(), work);
  if (level > 0) levels_.boxes(level).release();
}

}  // namespace octant::gravity
