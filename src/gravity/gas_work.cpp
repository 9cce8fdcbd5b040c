#include "gravity/gas_work.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_range.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Faces on one side of the cells of a patch, along one axis.
template <int T>
struct FaceSide {
  using Coordinates = int[3];

  PatchScratch<T, 1> phi, heat;
  CoarseBox<T> coarse;  // coarse-level potential, read only at the boundary of the level
  const double* flow;   // outward mass flow per cell size
  const StripTable* strips;
  std::int64_t patch;
  int axis, side;
  bool ends_domain;  // true if the domain ends at this side of the patch

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

  // Value in the cell `steps` cells from `cell` along the axis.
  KOKKOS_FORCEINLINE_FUNCTION double at(const PatchScratch<T, 1>& field, const Coordinates& cell,
                                        int steps = 0) const {
    const int i = axis == 0 ? cell[0] + steps : cell[0];
    return field.pairs(i & 1, axis == 1 ? cell[1] + steps : cell[1],
                       axis == 2 ? cell[2] + steps : cell[2])[i >> 1];
  }
  KOKKOS_FORCEINLINE_FUNCTION double flow_from(const Coordinates& cell) const {
    return row_of(strips, T, flow, patch, cell[1], cell[2])[split(cell[0], T)];
  }

  // Potential at the centre of the coarse face that contains a fine face, or of the coarse face
  // `steps` coarse cells away along the axis `along`.
  KOKKOS_FORCEINLINE_FUNCTION double coarse_potential(const Coordinates& fine, int along,
                                                      int steps) const {
    Coordinates cell = {fine[0] >> 1, fine[1] >> 1, fine[2] >> 1};
    cell[along] += steps;
    const double inside = coarse.line(cell[1], cell[2])[cell[0] + 2];
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): axis is 0, 1 or 2
    cell[axis] += outwards();
    return 0.5 * (inside + coarse.line(cell[1], cell[2])[cell[0] + 2]);
  }

  KOKKOS_FORCEINLINE_FUNCTION double work_to_coarse_cell(const Coordinates& cell) const {
    const int across[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
    // difference of the coarse potential between the centres of the coarse and the upper fine faces
    double tilt[2];
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

// Common data of all axes: fields of own patches, with copies to a depth of 1.
struct Patches {
  DeviceArray<const PatchTable> tables;
  DeviceArray<const StripTable> strips;
  DeviceArray<const std::uint8_t> ends_of_domain;
  const double *phi, *heat, *boxes;
};

// Subtracts the energy that mass outflow removes through both sides of cells along an axis.
template <int T>
void take_work(const Patches& patches, int axis, const double* from_lower, const double* from_upper,
               const DeviceArray<double>& work) {
  const int own = static_cast<int>(patches.ends_of_domain.extent(0));
  for_teams(
      "gravity: work of the potential", own, teams(2 * PatchScratch<T, 1>::bytes()),
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
      const BlockField through{flow.through_face(0, axis, side), 6 * flow.cells_per_block};
      return {.a = side == 0 ? -per_length : per_length, .x = through};
    };
    const auto flows =
        level_patches.make_fields({{"lower flow", outwards(0)}, {"upper flow", outwards(1)}});
    with_side(level_patches.patches(), [&, &result = work_of_patches](auto T) {
      take_work<T.value>(patches, axis, flows[0].data(), flows[1].data(), result);
    });
  }
  level_patches.transfer().to_blocks(work_of_patches.data(), work);
  if (level > 0) levels_.boxes(level).release();
}

using mesh::Cell;
using mesh::for_cells;
using mesh::LevelFields;
using mesh::record_cells;

namespace {

// Minimum ratio of internal to total energy for which the work on mass flows is applied. In colder
// gas, gravity changes only the kinetic energy.
constexpr double k_cold = 0.02;
// Minimum ratio of total to kinetic energy to which work of the potential may reduce the total
// energy. The dual-energy scheme corrects cells below one half.
constexpr double k_min_energy = 0.6;
// Minimum internal energy per volume, where internal energies are weights.
constexpr double k_min_internal_energy = 1e-300;

KOKKOS_FORCEINLINE_FUNCTION double dot(const VectorField& a, const VectorField& b,
                                       const Cell& cell) {
  const double *x = a.at(cell), *y = b.at(cell);
  const std::int64_t m = a.stride_component, n = b.stride_component;
  return (x[0] * y[0] + x[m] * y[n]) + x[2 * m] * y[2 * n];
}

// Memory traffic and operations of a kick of a cell, without the work of a rotating frame.
constexpr KernelCost k_kick{96.0, 25.0};

// Changes the momentum of a cell and returns the gain of kinetic energy.
KOKKOS_FORCEINLINE_FUNCTION double kick(double dt, const VectorField& acceleration,
                                        const GasFields& gas, const Cell& cell) {
  const double rho = *gas.density.at(cell);
  const double* g = acceleration.at(cell);
  double* m = gas.momentum.at(cell);
  double gain = 0.0;  // gain of kinetic energy times rho
  for (int d = 0; d < 3;
       ++d, g += acceleration.stride_component, m += gas.momentum.stride_component) {
    const double change = dt * rho * *g;
    gain += change * (*m + 0.5 * change);
    *m += change;
  }
  return gain / rho;
}

// Work of gravity during dt on the mass of a cell due to the motion of the frame.
KOKKOS_FORCEINLINE_FUNCTION double work_of_frame(const CellRange& cells, const mesh::Frame& frame,
                                                 double dt, const VectorField& acceleration,
                                                 const GasFields& gas, const Cell& cell) {
  if (!frame.turns()) return 0.0;
  const mesh::DevicePosition x = cells.centre(cell);
  const double* g = acceleration.at(cell);
  return dt * *gas.density.at(cell) *
         (frame.velocity_x(x[1]) * g[0] +
          frame.velocity_y(x[0]) * g[acceleration.stride_component]);
}

// Kicks the gas: adds dt rho g to the momentum and the gain of kinetic energy to the energy.
void kick_blocks(const CellRange& cells, double dt, const VectorField& acceleration,
                 const GasFields& gas) {
  record_cells("gravity: kick", cells, k_kick);
  for_cells(
      "gravity: kick", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *gas.energy.at(cell) += kick(dt, acceleration, gas, cell);
      });
}

// First half kick of a step. Resets `work`; pending work is minus the gain of kinetic energy.
void begin_work(const CellRange& cells, const mesh::Frame& frame, double dt,
                const VectorField& acceleration, const WorkFields& work, int flows,
                const GasFields& gas) {
  record_cells("gravity: first half of work", cells,
               {k_kick.bytes + 8.0 * (1 + flows), k_kick.operations + 1.0});
  for_cells(
      "gravity: first half of work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double gain = kick(dt, acceleration, gas, cell);
        *gas.energy.at(cell) += gain;
        *work.pending.at(cell) = work_of_frame(cells, frame, dt, acceleration, gas, cell) - gain;
        for (int d = 0; d < flows; ++d) work.flow.at(cell)[d * work.flow.stride_component] = 0.0;
      });
}

// Adds half of the work on the mass flows: pending += flow . g / 2.
void add_half_of_work(const CellRange& cells, const VectorField& acceleration,
                      const WorkFields& work) {
  record_cells("gravity: work", cells, {64.0, 7.0});
  for_cells(
      "gravity: work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *work.pending.at(cell) += 0.5 * dot(work.flow, acceleration, cell);
      });
}

// Second half kick. Adds the pending work of forces to the energy, limited by the internal energy.
// If withheld work is accumulated, `pending` becomes the withheld work.
void finish_work(const CellRange& cells, const mesh::Frame& frame, double dt,
                 const VectorField& acceleration, const WorkFields& work,
                 const EnergyUpdate& update, const GasFields& gas) {
  // The kernel also reads the pending work and the mass flow.
  record_cells("gravity: second half of work", cells,
               {k_kick.bytes + 32.0, k_kick.operations + 19.0});
  const double heat_fraction = update.heat_fraction;
  const bool counts = update.counts_withheld;
  for_cells(
      "gravity: second half of work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        double &energy = *gas.energy.at(cell), &pending = *work.pending.at(cell);
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        const double gain = kick(dt, acceleration, gas, cell);
        const double all = pending + work_of_frame(cells, frame, dt, acceleration, gas, cell);
        const double due = all + 0.5 * dot(work.flow, acceleration, cell) - gain;
        const double internal = energy - kinetic;
        const double most = internal > k_cold * energy ? heat_fraction * internal : 0.0;
        const double heat = most > 0.0 ? min(max(due, -most), most) : 0.0;
        energy += gain + heat;
        // The mass flow of a cell that a sweep left unphysical may not be finite.
        if (counts) pending = Kokkos::isfinite(due) ? due - heat : 0.0;
      });
}

// Computes the internal energy per volume of leaf cells for PotentialWork, and -1 in other cells.
void find_internal_energy(const CellRange& cells, const GasFields& gas, const BlockField& heat) {
  for_cells(
      "gravity: clear heat", cells, KOKKOS_LAMBDA(const Cell& cell) { *heat.at(cell) = -1.0; });
  for_cells(
      "gravity: heat", cells.leaves(), KOKKOS_LAMBDA(const Cell& cell) {
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        *heat.at(cell) = max(*gas.energy.at(cell) - kinetic, k_min_internal_energy);
      });
}

// Second half kick with work of the potential. `pending` becomes the withheld work.
void finish_potential_work(const CellRange& cells, const mesh::Frame& frame, double dt,
                           const VectorField& acceleration, const WorkFields& work,
                           const GasFields& gas) {
  for_cells(
      "gravity: second half of work of the potential", cells, KOKKOS_LAMBDA(const Cell& cell) {
        double &energy = *gas.energy.at(cell), &pending = *work.pending.at(cell);
        const double gain = kick(dt, acceleration, gas, cell);
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        const double due = pending + work_of_frame(cells, frame, dt, acceleration, gas, cell);
        const double kicked = energy + gain, worked = energy + due;
        energy = max(worked, min(kicked, k_min_energy * kinetic));
        pending = worked - energy;
      });
}

}  // namespace

GasWork::GasWork(mesh::Mesh& mesh)
    : mesh_(mesh),
      density_(variable("density")),
      momentum_(variable("momentum_x")),
      energy_(variable("total_energy")),
      levels_(mesh.geometry().max_level() + 1) {}

int GasWork::variable(const std::string& name) const {
  const auto& all = mesh_.variables();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const mesh::FieldInfo& v) { return v.name == name; });
  OCTANT_REQUIRE(found != all.end(), "gravity: the mesh has no variable \"{}\"", name);
  return static_cast<int>(found - all.begin());
}

BlockField GasWork::gas(int level, int variable) const {
  const mesh::BlockLayout& layout = mesh_.layout();
  return {mesh_.fields(level).blocks(LevelFields::k_now) +
              static_cast<std::int64_t>(variable) * layout.stride_variable,
          layout.stride_slot};
}

GasFields GasWork::gas(int level) const {
  return {gas(level, density_),
          {gas(level, momentum_), mesh_.layout().stride_variable},
          gas(level, energy_)};
}

WorkFields GasWork::work(int level) const {
  const Level& l = levels_[level];
  const std::int64_t cells = mesh_.cells(level).cells_per_block();
  return {{{l.flow.data(), flows() * cells}, cells}, {l.pending.data(), cells}};
}

void GasWork::kick(int level, double dt, Half half, const VectorField& acceleration) {
  Level& l = levels_[level];
  const CellRange& own = mesh_.cells(level);
  if (!update_.needs_flows()) return kick_blocks(own, dt, acceleration, gas(level));
  l.kicking = half == Half::first;
  if (half == Half::first) {
    const std::int64_t cells = std::int64_t{own.cells_per_block()} * mesh_.blocks(level).slots();
    if (static_cast<std::int64_t>(l.pending.extent(0)) < cells) {
      l.flow = mesh::uninitialised<double>("mass flow", flows() * cells);
      l.pending = mesh::uninitialised<double>("work", cells);
      if (by_potential()) l.heat = mesh::uninitialised<double>("heat", cells);
    }
    return begin_work(own, frame_, dt, acceleration, work(level), flows(), gas(level));
  }
  if (by_potential()) finish_potential_work(own, frame_, dt, acceleration, work(level), gas(level));
  else finish_work(own, frame_, dt, acceleration, work(level), update_, gas(level));
  if (!update_.counts()) return;
  const double volume = mesh_.geometry().cell_volume(level);
  add_sum(own.leaves(), work(level).pending, -volume, withheld_work_);
}

void GasWork::add_velocity(int level, const VectorField& change) {
  kick_blocks(mesh_.cells(level), 1.0, change, gas(level));
}

void GasWork::add_first_half_of_work(int level, const VectorField& acceleration) {
  if (levels_[level].kicking && !by_potential())
    add_half_of_work(mesh_.cells(level), acceleration, work(level));
}

void GasWork::add_potential_work(int level, PotentialWork& potential) {
  const BlockField heat{levels_[level].heat.data(), mesh_.cells(level).cells_per_block()};
  find_internal_energy(mesh_.cells(level), gas(level), heat);
  potential.add(level, face_flow(level), heat, work(level).pending);
}

mesh::FaceFlow GasWork::face_flow(int level) {
  if (!by_potential()) return {};
  return {levels_[level].flow.data(), mesh_.cells(level).cells_per_block()};
}

ReproducibleSum GasWork::take_withheld_work() { return std::exchange(withheld_work_, {}); }

void GasWork::release_finer(int finest) {
  for (std::size_t level = finest + 1; level < levels_.size(); ++level) levels_[level] = {};
}

}  // namespace octant::gravity
