#include "gravity/gas_work.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_work.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

using mesh::announce_cells;
using mesh::Cell;
using mesh::for_cells;
using mesh::LevelFields;

namespace {

// What a cell's energy may change by beyond its kinetic energy: a share of its internal energy; and
// nothing where less than another share of its energy is internal. The flow through a cell and its
// momentum differ by the error of the scheme, which would overwhelm the temperature of cold gas.
constexpr double k_largest_change = 0.5, k_cold = 0.02;
// What share of its kinetic energy the total energy of gas that climbs may fall to. Dual energy
// repairs cells with less than half.
constexpr double k_least_energy = 0.6;
// What a cell without heat counts as where heats share a cost.
constexpr double k_least_heat = 1e-300;

KOKKOS_FORCEINLINE_FUNCTION double dot(const VectorField& a, const VectorField& b,
                                       const Cell& cell) {
  const double *x = a.at(cell), *y = b.at(cell);
  const std::int64_t m = a.stride_component, n = b.stride_component;
  return (x[0] * y[0] + x[m] * y[n]) + x[2 * m] * y[2 * n];
}

// What a kick reads and writes of a cell, the energy too, and does. The work of a frame that turns
// is not counted.
constexpr KernelCost k_kick{96.0, 25.0};

// Returns what kinetic energy gains.
KOKKOS_FORCEINLINE_FUNCTION double kick(double dt, const VectorField& acceleration,
                                        const GasFields& gas, const Cell& cell) {
  const double rho = *gas.density.at(cell);
  const double* g = acceleration.at(cell);
  double* m = gas.momentum.at(cell);
  double gain = 0.0;  // times rho
  for (int d = 0; d < 3;
       ++d, g += acceleration.stride_component, m += gas.momentum.stride_component) {
    const double change = dt * rho * *g;
    gain += change * (*m + 0.5 * change);
    *m += change;
  }
  return gain / rho;
}

// Work on the mass that the frame moves, in a time.
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

// momentum += dt rho g, and the energy grows by what the kinetic energy grows.
void kick_blocks(const CellRange& cells, double dt, const VectorField& acceleration,
                 const GasFields& gas) {
  announce_cells("gravity: kick", cells, k_kick);
  for_cells(
      "gravity: kick", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *gas.energy.at(cell) += kick(dt, acceleration, gas, cell);
      });
}

// The kick at the beginning of a step, of whose work `work` takes note; it begins anew.
void begin_work(const CellRange& cells, const mesh::Frame& frame, double dt,
                const VectorField& acceleration, const WorkFields& work, int flows,
                const GasFields& gas) {
  announce_cells("gravity: begin work", cells,
                 {k_kick.bytes + 8.0 * (1 + flows), k_kick.operations + 1.0});
  for_cells(
      "gravity: begin work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double gain = kick(dt, acceleration, gas, cell);
        *gas.energy.at(cell) += gain;
        *work.owed.at(cell) = work_of_frame(cells, frame, dt, acceleration, gas, cell) - gain;
        for (int d = 0; d < flows; ++d) work.flow.at(cell)[d * work.flow.stride_component] = 0.0;
      });
}

// Half of the work on the mass that flowed: owed += flow . g / 2.
void add_half_of_work(const CellRange& cells, const VectorField& acceleration,
                      const WorkFields& work) {
  announce_cells("gravity: work", cells, {64.0, 7.0});
  for_cells(
      "gravity: work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        *work.owed.at(cell) += 0.5 * dot(work.flow, acceleration, cell);
      });
}

// The kick at the end: the energy takes what is owed to it.
void finish_work(const CellRange& cells, const mesh::Frame& frame, double dt,
                 const VectorField& acceleration, const WorkFields& work, const GasFields& gas) {
  // Besides what is owed and what flowed are read.
  announce_cells("gravity: finish work", cells, {k_kick.bytes + 32.0, k_kick.operations + 19.0});
  for_cells(
      "gravity: finish work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        double& energy = *gas.energy.at(cell);
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        const double gain = kick(dt, acceleration, gas, cell);
        const double owed =
            *work.owed.at(cell) + work_of_frame(cells, frame, dt, acceleration, gas, cell);
        const double due = owed + 0.5 * dot(work.flow, acceleration, cell) - gain;
        const double internal = energy - kinetic;
        const double most = internal > k_cold * energy ? k_largest_change * internal : 0.0;
        energy += gain + min(max(due, -most), most);
      });
}

// Internal energy per volume as PotentialWork takes it: above 0 in leaf cells, below in others.
void find_heat(const CellRange& cells, const GasFields& gas, const BlockField& heat) {
  for_cells(
      "gravity: no heat", cells, KOKKOS_LAMBDA(const Cell& cell) { *heat.at(cell) = -1.0; });
  for_cells(
      "gravity: heat", cells.leaves(), KOKKOS_LAMBDA(const Cell& cell) {
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        *heat.at(cell) = max(*gas.energy.at(cell) - kinetic, k_least_heat);
      });
}

// The kick at the end, where work is climbed: owed becomes what the energy does not get of it.
void finish_climb(const CellRange& cells, const mesh::Frame& frame, double dt,
                  const VectorField& acceleration, const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: finish climb", cells, KOKKOS_LAMBDA(const Cell& cell) {
        double &energy = *gas.energy.at(cell), &owed = *work.owed.at(cell);
        const double gain = kick(dt, acceleration, gas, cell);
        const double kinetic = 0.5 * dot(gas.momentum, gas.momentum, cell) / *gas.density.at(cell);
        const double due = owed + work_of_frame(cells, frame, dt, acceleration, gas, cell);
        const double kicked = energy + gain, climbed = energy + due;
        energy = max(climbed, min(kicked, k_least_energy * kinetic));
        owed = climbed - energy;
      });
}

// The kick at the end, where work is counted: owed becomes what the energy does not get of it.
void count_work(const CellRange& cells, double dt, const VectorField& acceleration,
                const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: count work", cells, KOKKOS_LAMBDA(const Cell& cell) {
        const double gain = kick(dt, acceleration, gas, cell);
        *gas.energy.at(cell) += gain;
        const double due = *work.owed.at(cell) + 0.5 * dot(work.flow, acceleration, cell) - gain;
        // What flowed into a cell that a sweep broke may be no number, though the cell is repaired.
        *work.owed.at(cell) = Kokkos::isfinite(due) ? due : 0.0;
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
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const mesh::Variable& v) { return v.name == name; });
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
  return {{{l.flow.data(), flows() * cells}, cells}, {l.owed.data(), cells}};
}

void GasWork::kick(int level, double dt, Half half, const VectorField& acceleration) {
  Level& l = levels_[level];
  const CellRange& own = mesh_.cells(level);
  if (work_on_flow_ == WorkOnFlow::ignored) return kick_blocks(own, dt, acceleration, gas(level));
  l.kicking = half == Half::first;
  if (half == Half::first) {
    const std::int64_t cells = std::int64_t{own.cells_per_block()} * mesh_.blocks(level).slots();
    if (static_cast<std::int64_t>(l.owed.extent(0)) < cells) {
      l.flow = mesh::uninitialised<double>("mass flow", flows() * cells);
      l.owed = mesh::uninitialised<double>("work", cells);
      if (climbs()) l.heat = mesh::uninitialised<double>("heat", cells);
    }
    return begin_work(own, frame_, dt, acceleration, work(level), flows(), gas(level));
  }
  if (work_on_flow_ == WorkOnFlow::gained)
    return finish_work(own, frame_, dt, acceleration, work(level), gas(level));
  if (climbs()) finish_climb(own, frame_, dt, acceleration, work(level), gas(level));
  else count_work(own, dt, acceleration, work(level), gas(level));
  const double volume = mesh_.geometry().cell_volume(level);
  add_sum(own.leaves(), work(level).owed, -volume, spared_);
}

void GasWork::push(int level, const VectorField& change) {
  kick_blocks(mesh_.cells(level), 1.0, change, gas(level));
}

void GasWork::take_share(int level, const VectorField& acceleration) {
  if (levels_[level].kicking && !climbs())
    add_half_of_work(mesh_.cells(level), acceleration, work(level));
}

void GasWork::climb(int level, PotentialWork& potential) {
  const BlockField heat{levels_[level].heat.data(), mesh_.cells(level).cells_per_block()};
  find_heat(mesh_.cells(level), gas(level), heat);
  potential.add(level, face_flow(level), heat, work(level).owed);
}

mesh::FaceFlow GasWork::face_flow(int level) {
  if (!climbs()) return {};
  return {levels_[level].flow.data(), mesh_.cells(level).cells_per_block()};
}

double GasWork::take_spared_work() {
  ReproducibleSum sum = std::exchange(spared_, {});
  reproducible_sum(mesh_.communicator(), std::span(&sum, 1));
  return sum.to_double();
}

void GasWork::forget_finer(int finest) {
  for (std::size_t level = finest + 1; level < levels_.size(); ++level) levels_[level] = {};
}

}  // namespace octant::gravity
