#include "hydro/fallback.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hydro/dual_energy.hpp"
#include "hydro/repair_stencil.hpp"
#include "hydro/riemann.hpp"
#include "hydro/schemes.hpp"
#include "hydro/sweep_costs.hpp"
#include "hydro/walls.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

namespace {

// Conserved hydro variables of one cell of this rank in the new state.
KOKKOS_INLINE_FUNCTION State<double> next_state(const KernelArguments& a, std::int64_t offset,
                                                int stride) {
  return load_state<double>(a.sweep.next + offset, stride);
}

// Returns true if a stored cell, or any of a pack, needs repair.
template <class V>
KOKKOS_INLINE_FUNCTION bool needs_repair(const double* cell, int stride, const KernelArguments& a) {
  const State<V> u = load_state<V>(cell, stride);
  const V entropy = a.gas.dual_energy ? SimdTraits<V>::load(cell + k_entropy * stride) : V(0.0);
  const auto is_bad = [&](const auto& gas) OCTANT_INLINE_LAMBDA {
    return any(
        hydro::needs_repair(u, physical_state(u, entropy, gas), entropy, gas, a.guards_entropy));
  };
  return a.gas.is_ideal() ? is_bad(a.ideal_gas) : is_bad(a.gas);
}

// Calls visit(cell) for bad cells among `width` cells of a row of a tile's patch, from `first` on.
template <int width, class Visit>
KOKKOS_INLINE_FUNCTION void for_bad_cells(const KernelArguments& a, int tile, int k, int j,
                                          int first, const Visit& visit) {
  const TileView view(a.sweep.tiles, tile);
  const BlockRow row = view.block_row(j, k);
  const int N = a.sweep.tiles.block_size;
  for (int i = first; i < first + width; ++i) {
    const int slot = view.entry(row, i);
    if (slot < 0 || view.box(slot).buffer != mesh::k_own) continue;
    const double* const cell = a.sweep.next + view.offset(row, slot, i);
    const int stride = view.box(slot).stride_variable;
    if (i == first && N >= width && !needs_repair<SimdDouble>(cell, stride, a)) return;
    if (!needs_repair<double>(cell, stride, a)) continue;
    const int in_block = (i + view.tile().origin[0]) & (N - 1);
    visit(BadCell{slot, in_block + N * (row.j + N * row.k), tile, static_cast<std::int16_t>(i),
                  static_cast<std::int16_t>(j), static_cast<std::int16_t>(k), 0});
  }
}

std::vector<std::int32_t> flagged_tiles(const SweepArguments& arguments) {
  const Kokkos::View<const std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(
      arguments.bad_tiles, arguments.tiles.count());
  const std::vector<std::uint8_t> host = to_vector(TransferKind::numbers, bad);
  std::vector<std::int32_t> tiles;
  for (std::size_t t = 0; t < host.size(); ++t)
    if (host[t]) tiles.push_back(static_cast<std::int32_t>(t));
  return tiles;
}

// Restores the state before the step in a cell with negative mass; returns true if the state was
// restored. Raising only the density to its floor would leave the cell's momentum and energy, and
// so a velocity with which the next stage fails in the cells around it.
KOKKOS_INLINE_FUNCTION bool restore_negative_mass(const KernelArguments& a, std::int64_t offset,
                                                  int stride) {
  const double* const before = a.sweep.old + offset;
  if (!(a.sweep.next[offset] < 0.0) || is_unphysical(before, stride, a.gas)) return false;
  for (std::int64_t n = 0; n < a.variables; ++n)
    a.sweep.next[offset + n * stride] = before[n * stride];
  return true;
}

// Restores the mass fractions before the step in a cell whose density is raised to the floor,
// because the fractions of so small a mass have hardly any significant digits. If the cell had no
// mass before the step, the new fractions are unchanged.
KOKKOS_INLINE_FUNCTION void keep_fractions(const KernelArguments& a, std::int64_t offset,
                                           int stride, double from_mass, double mass) {
  const double* const before = a.sweep.old + offset;
  const double mass_before = before[0];
  for (int first = k_hydro_variables; first < a.variables;) {
    const int end = a.fractions.end[first];
    for (int n = first; n < end; ++n) {
      double& value = a.sweep.next[offset + n * stride];
      if (mass_before > 0.0) value = before[n * stride] / mass_before * mass;
      else if (from_mass > 0.0) value *= mass / from_mass;
    }
    first = end > first ? end : first + 1;
  }
}

// Applies the floors to a cell at an offset. A cell with momentum but almost no mass has a huge
// kinetic energy, and raising its pressure as well would add much energy. The velocity is reduced
// instead, so that the total energy of the cell, if positive, suffices. If the pressure follows the
// entropy, only the entropy is raised, which changes neither mass nor energy.
KOKKOS_INLINE_FUNCTION void raise_to_floors(const KernelArguments& a, std::int64_t offset,
                                            int stride) {
  if (restore_negative_mass(a, offset, stride)) return;
  const State<double> before = next_state(a, offset, stride);
  State<double> u = before;
  u[k_mass] = max(u[k_mass], a.gas.density_floor);
  if (u[k_mass] > before[k_mass]) {
    slow_down(u, a.gas);
    keep_fractions(a, offset, stride, before[k_mass], u[k_mass]);
  }
  if (follows_entropy(u, a.gas)) {
    double& entropy = a.sweep.next[offset + k_entropy * stride];
    const double least = entropy_at(u[k_mass], a.gas.pressure_floor, a.gas);
    if (!(entropy >= least)) entropy = least;
  } else {
    u[k_energy] = max(u[k_energy], energy_at(u, a.gas.pressure_floor, a.gas));
    if (a.gas.dual_energy)
      a.sweep.next[offset + k_entropy * stride] =
          entropy_at(u[k_mass], pressure_of_energy(u, a.gas), a.gas);
  }
  store_state(a.sweep.next + offset, stride, u);
}

// Applies the floors and returns the amounts that a cell gains; NaN if floors cannot repair it.
KOKKOS_INLINE_FUNCTION FloorGain raise_to_floors(const KernelArguments& a, const BadCell& cell) {
  const TileView view(a.sweep.tiles, cell.tile);
  const BlockRow row = view.block_row(cell.j, cell.k);
  const int stride = view.box(cell.slot).stride_variable;
  const std::int64_t offset = view.offset(row, cell.slot, cell.i);
  const auto spin = [&](int d) {
    return a.spin < 0 ? 0.0 : a.sweep.next[offset + std::int64_t{a.spin + d} * stride];
  };
  const State<double> before = next_state(a, offset, stride);
  const double spin_before[3] = {spin(0), spin(1), spin(2)};
  raise_to_floors(a, offset, stride);
  const State<double> after = next_state(a, offset, stride);
  FloorGain gain{after[k_mass] - before[k_mass], after[k_energy] - before[k_energy]};
  const Vector<double> x = view.position<double>(a.sweep, cell.k, cell.j, cell.i);
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    gain.angular_momentum[d] = x[e] * (after[k_momentum_x + f] - before[k_momentum_x + f]) -
                               x[f] * (after[k_momentum_x + e] - before[k_momentum_x + e]) +
                               (spin(d) - spin_before[d]);
  }
  return gain;
}

// Surface of a first-order scheme: the cell's own state is the state at each of its faces.
struct OneStatePerFace {
  static constexpr int face_points = 1;
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int upper_point(int) {
    return 0;
  }
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int lower_point(int) {
    return 0;
  }
};

// Primitive variables of a cell of a tile as the scheme reads them: relative to a rotating frame
// and to a hydrostatic stratification, and beyond walls. `load` returns its conserved variables.
template <class Load>
KOKKOS_FUNCTION State<double> state_for_scheme(const KernelArguments& a, const TileView& view,
                                               const int (&cell)[3], const Load& load,
                                               double& volume) {
  State<double> w = a.gas.is_ideal() ? to_primitive<double>(load, a.ideal_gas, volume)
                                     : to_primitive<double>(load, a.gas, volume);
  w[k_velocity_x] -= a.frame.velocity_x(view.coordinate(a.sweep, 1, cell[1]));
  w[k_velocity_y] -= a.frame.velocity_y(view.coordinate(a.sweep, 0, cell[0]));
  if (a.balanced) {
    const double factor = hydrostatic_factor(a, view, cell);
    w[k_density] *= factor;
    w[k_pressure] *= factor;
  } else if (a.sources.any()) {
    if (a.is_isothermal)
      w[k_density] = isothermal_density_beyond_walls(a, view, cell, w[k_density], w[k_pressure]);
    w[k_pressure] = pressure_beyond_walls(a, view, cell, w[k_pressure]);
  }
  return w;
}

// Gathers the primitive variables around unphysical cells that a scheme reads.
void gather_stencils(const KernelArguments& a, const BadCell* cells, int count,
                     const mesh::GhostShape& ghosts, const RepairStencil& stencil) {
  const int side = 2 * ghosts.reach + 1, cube = side * side * side;
  record_kernel_work("hydro::gather_stencils", std::int64_t{count} * cube,
                     cost_of_validation(a.gas));
  mesh::for_items(
      "hydro::gather_stencils", count * cube, KOKKOS_LAMBDA(int item) {
        const int at = item % cube, reach = ghosts.reach;
        const int x = at % side - reach, y = at / side % side - reach, z = at / side / side - reach;
        if (!ghosts.contains(Kokkos::abs(x), Kokkos::abs(y), Kokkos::abs(z))) return;
        const BadCell& bad = cells[item / cube];
        const TileView view(a.sweep.tiles, bad.tile);
        const int cell[3] = {bad.i + x, bad.j + y, bad.k + z};
        const CellPointer from =
            view.cell(a.sweep.current, view.block_row(cell[1], cell[2]), cell[0]);
        if (!from.from) return;
        const auto load = [&](int n) { return from.from[n * from.stride]; };
        double volume;
        const State<double> w = state_for_scheme(a, view, cell, load, volume);
        for (int n = 0; n < k_hydro_variables; ++n) stencil.at(item / cube, n, x, y, z) = w[n];
        for (int n = k_hydro_variables; n < a.variables; ++n)
          stencil.at(item / cube, n, x, y, z) = load(n) * volume;
      });
}

// Replaces the sweep's flux through one face of unphysical cell `number` by the first-order flux
// minus that flux.
template <int Axis>
KOKKOS_FUNCTION void fall_back(const KernelArguments& a, const BadCell& cell,
                               const RepairStencil& stencil, int number, int side,
                               double* difference) {
  const TileView view(a.sweep.tiles, cell.tile);
  const auto primitive = [&](int offset, int n) {  // value at this offset along the axis
    return stencil.at(number, n, Axis == 0 ? offset : 0, Axis == 1 ? offset : 0,
                      Axis == 2 ? offset : 0);
  };
  State<double> below, above;
  for (int n = 0; n < k_hydro_variables; ++n) {
    below[n] = primitive(side - 1, n);
    above[n] = primitive(side, n);
  }
  const bool closed = is_closed(view, cell, Axis, side);
  const bool is_diode = view.is_diode(Axis, side);
  if (closed)
    set_beyond<Axis, OneStatePerFace>([&](int) { return &below[0]; },
                                      [&](int) { return &above[0]; }, side, is_diode,
                                      k_hydro_variables, 1);
  State<double> low = a.gas.is_ideal() ? Llf::flux<Axis>(below, above, a.ideal_gas)
                                       : Llf::flux<Axis>(below, above, a.gas);
  if (closed) close_flux<Axis>(&low[0], side, is_diode, k_hydro_variables, 1);
  State<double> change;
  for (int n = 0; n < k_hydro_variables; ++n) change[n] = low[n] - difference[n];
  if (a.frame.turns())
    change = view.out_of_frame<Axis>(a.frame, a.sweep, change, cell.j + (Axis == 1 ? side : 0),
                                     cell.i + (Axis == 0 ? side : 0));
  store_state(difference, 1, change);
  for (int n = k_hydro_variables; n < a.variables; ++n)
    difference[n] =
        scalar_flux(low[k_mass], primitive(side - 1, n), primitive(side, n)) - difference[n];
}

}  // namespace

std::vector<BadCell> find_bad_cells(const HydroOptions& options, const SweepArguments& arguments) {
  const std::vector<std::int32_t> flagged = flagged_tiles(arguments);
  if (flagged.empty()) return {};
  const KernelArguments a(options, arguments);
  const auto tiles = mesh::to_device("flagged tiles", flagged, TransferKind::lists);
  constexpr int width = SimdTraits<SimdDouble>::width;
  const int M = arguments.tiles.patch, packs = M * M * M / width;
  const int count = static_cast<int>(flagged.size()) * packs;
  std::vector<BadCell> cells;
  for (int capacity = 1024;;) {
    const auto found = mesh::uninitialised<BadCell>("bad cells", capacity);
    const auto next = mesh::zeros<std::int32_t>("number of bad cells", 1);
    record_kernel_work("hydro::find_bad_cells", std::int64_t{count} * width,
                       cost_of_validation(a.gas));
    mesh::for_items(
        "hydro::find_bad_cells", count, KOKKOS_LAMBDA(int n) {
          const int pack = n % packs, row = pack * width / M;
          for_bad_cells<width>(a, tiles(n / packs), row / M, row % M, pack * width % M,
                               [&](const BadCell& cell) {
                                 const int at = Kokkos::atomic_fetch_add(&next(0), 1);
                                 if (at < capacity) found(at) = cell;
                               });
        });
    const int total = to_vector(TransferKind::numbers, next)[0];
    if (total == 0) return {};
    if (total <= capacity) {
      cells = to_vector(TransferKind::lists, Kokkos::subview(found, std::pair(0, total)));
      break;
    }
    capacity = total;  // the second pass has enough memory
  }
  std::sort(cells.begin(), cells.end(), [](const BadCell& x, const BadCell& y) {
    return std::tie(x.slot, x.cell) < std::tie(y.slot, y.cell);
  });
  return cells;
}

std::vector<double> fallback_differences(const HydroOptions& options,
                                         const SweepArguments& arguments,
                                         const std::vector<BadCell>& cells) {
  constexpr int k_batch_size = 256;  // cells per kernel: limits the memory of their stencils
  const KernelArguments a(options, arguments);
  const SchemeOps ops = scheme_ops(options);
  const int count = static_cast<int>(cells.size()), reach = ops.ghosts.reach;
  const std::int64_t batch = std::min(count, k_batch_size);
  const auto device_cells = mesh::to_device("bad cells", cells, TransferKind::lists);
  const auto primitives =
      mesh::uninitialised<double>("stencils", batch * RepairStencil::doubles(reach, a.variables));
  const RepairStencil stencil{primitives.data(), reach, a.variables};
  const auto surfaces =
      mesh::uninitialised<double>("surfaces", batch * k_stencil_cells * a.variables * ops.points);
  const auto result =
      mesh::uninitialised<double>("flux differences", std::int64_t(6) * count * a.variables);
  record_repair(options, arguments, count);
  for (int first = 0; first < count; first += k_batch_size) {
    const BadCell* const these = device_cells.data() + first;
    const int now = std::min(k_batch_size, count - first);
    double* const differences = result.data() + std::int64_t(6) * first * a.variables;
    gather_stencils(a, these, now, ops.ghosts, stencil);
    ops.states_of_cells(a, these, now, stencil, surfaces.data());
    ops.fluxes_of_cells(a, these, now, surfaces.data(), differences);
    mesh::for_items(
        "hydro::fall_back", 6 * now, KOKKOS_LAMBDA(int f) {
          double* const difference = differences + std::int64_t(f) * a.variables;
          const int axis = f % 6 / 2;
          if (axis == 0) fall_back<0>(a, these[f / 6], stencil, f / 6, f % 2, difference);
          if (axis == 1) fall_back<1>(a, these[f / 6], stencil, f / 6, f % 2, difference);
          if (axis == 2) fall_back<2>(a, these[f / 6], stencil, f / 6, f % 2, difference);
        });
  }
  return to_vector(TransferKind::lists, result);
}

FlooredCells apply_floors(const HydroOptions& options, const SweepArguments& arguments,
                          const std::vector<BadCell>& cells) {
  if (cells.empty()) return {};
  const KernelArguments a(options, arguments);
  const int count = static_cast<int>(cells.size());
  const auto device_cells = mesh::to_device("bad cells", cells, TransferKind::lists);
  const auto gains = mesh::uninitialised<FloorGain>("floor gains", count);
  mesh::for_items(
      "hydro::apply_floors", count,
      KOKKOS_LAMBDA(int n) { gains(n) = raise_to_floors(a, device_cells(n)); });
  const std::vector<FloorGain> added = to_vector(TransferKind::lists, gains);
  FlooredCells floored;
  for (int n = 0; n < count; ++n) {
    if (!std::isfinite(added[n].mass) || !std::isfinite(added[n].energy)) {
      floored.irreparable.push_back(cells[n]);
    } else {
      floored.cells.push_back(cells[n]);
      floored.gains.push_back(added[n]);
    }
  }
  return floored;
}

}  // namespace octant::hydro
