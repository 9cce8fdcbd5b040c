#include "amr/repair.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "comm/reproducible_sum.hpp"
#include "comm/route.hpp"
#include "core/log.hpp"
#include "hydro/fallback.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant {

namespace {

constexpr int k_rounds = 4;

// One side of a face with first-order fallback: the cell that changes, and the flux difference.
struct FaceSide {
  Key block;
  std::int32_t cell;        // i + N (j + N k)
  std::int8_t axis, side;   // axis of the face; 0: lower face of the cell, 1: upper
  std::int64_t difference;  // offset of the flux difference, in doubles

  auto order() const { return std::tuple(block, cell, axis, side); }
};

// A change of one flux register value: weight times the flux difference. The face lies at `lever`
// from the centre of the faces that the register averages.
struct RegisterChange {
  std::int64_t index, difference;
  std::int32_t stride_variable;
  double weight;
  double lever[3] = {0.0, 0.0, 0.0};
};

// A change of one cell: factor times the flux difference, through a face along an axis.
struct CellChange {
  std::int64_t index, difference;
  double factor;
  int axis;
};

// Change of the mass flow through one side's face of a cell.
struct FlowChange {
  double* flow;
  std::int64_t difference;
};

void change_flows(const mesh::DeviceArray<const FlowChange>& flows,
                  const mesh::DeviceArray<const double>& differences, double weight) {
  mesh::for_items(
      "repair flows", flows.extent(0), KOKKOS_LAMBDA(int n) {
        *flows(n).flow += weight * differences(flows(n).difference + hydro::k_mass);
      });
}

// Applies all changes of every variable sequentially. (CUDA allows no kernel in private member
// functions.)
void make_changes(const mesh::DeviceArray<const CellChange>& cells,
                  const mesh::DeviceArray<const RegisterChange>& registers,
                  const mesh::DeviceArray<const double>& differences, int variables, int stride,
                  const hydro::SweepArguments& arguments, int spin) {
  double* const next = arguments.next;
  double* const values = arguments.registers;
  mesh::for_items(
      "apply repairs", variables, KOKKOS_LAMBDA(int n) {
        for (std::size_t c = 0; c < cells.extent(0); ++c)
          next[cells(c).index + static_cast<std::int64_t>(n) * stride] +=
              cells(c).factor * differences(cells(c).difference + n);
        for (std::size_t r = 0; r < registers.extent(0); ++r)
          values[registers(r).index +
                 static_cast<std::int64_t>(n) * registers(r).stride_variable] +=
              registers(r).weight * differences(registers(r).difference + n);
      });
  if (spin < 0) return;
  // A momentum flux contributes angular momentum about the centre of a cell (CellUpdate::spin), and
  // about that of the faces of a register (FluxRegisterSums::torque).
  const double half_step = 0.5 * arguments.a1 * arguments.dt;
  mesh::for_items(
      "repair spin", 1, KOKKOS_LAMBDA(int) {
        const auto force = [&](std::int64_t difference, int axis) {
          return differences(difference + hydro::k_momentum_x + axis);
        };
        for (std::size_t c = 0; c < cells.extent(0); ++c) {
          const int b = (cells(c).axis + 1) % 3, d = (cells(c).axis + 2) % 3;
          double* const to = next + cells(c).index + static_cast<std::int64_t>(spin) * stride;
          to[static_cast<std::int64_t>(b) * stride] += half_step * force(cells(c).difference, d);
          to[static_cast<std::int64_t>(d) * stride] -= half_step * force(cells(c).difference, b);
        }
        for (std::size_t r = 0; r < registers.extent(0); ++r) {
          const RegisterChange& change = registers(r);
          for (int d = 0; d < 3; ++d) {
            const int e = (d + 1) % 3, f = (d + 2) % 3;
            values[change.index + static_cast<std::int64_t>(spin + d) * change.stride_variable] +=
                change.weight * (change.lever[e] * force(change.difference, f) -
                                 change.lever[f] * force(change.difference, e));
          }
        }
      });
}

class Repair {
 public:
  Repair(mesh::Mesh& mesh, int level, const hydro::HydroOptions& options,
         const hydro::SweepArguments& arguments)
      : mesh_(mesh),
        blocks_(mesh.blocks(level)),
        level_(level),
        block_size_(mesh.layout().block_size),
        variables_(mesh.layout().swept),
        options_(options),
        arguments_(arguments) {}

  void run(Floored& floored) {
    for (int round = 0; round < k_rounds; ++round) {
      const auto cells = hydro::find_bad_cells(options_, arguments_);
      if (!mesh_.communicator().any(!cells.empty())) return;
      fall_back(cells);
      mark_tiles(cells);
    }
    floor(floored);
  }

 private:
  // Marks tiles with bad cells and with cells changed by repairs, whose neighbours may be bad next.
  void mark_tiles(const std::vector<hydro::BadCell>& cells) {
    const mesh::LevelHalo& halo = mesh_.halo(level_);
    std::vector<bool> is_changed(blocks_.slots());
    for (const FaceSide& side : sides_) is_changed[blocks_.find(side.block)->slot] = true;
    std::vector<std::uint8_t> marks(arguments_.tiles.count());
    for (std::size_t t = 0; t < marks.size(); ++t)
      marks[t] = std::any_of(halo.tile_slots.begin() + halo.tile_slot_begin[t],
                             halo.tile_slots.begin() + halo.tile_slot_begin[t + 1],
                             [&](int slot) { return is_changed[slot]; });
    for (const hydro::BadCell& cell : cells) marks[cell.tile] = 1;
    Kokkos::View<std::uint8_t*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> bad(
        arguments_.bad_tiles, marks.size());
    copy_to_device(TransferKind::numbers, bad, host_view(marks));
  }

  // Replaces the fluxes on all faces of bad cells by first-order fluxes, unless done before.
  void fall_back(const std::vector<hydro::BadCell>& cells) {
    differences_ = hydro::fallback_differences(options_, arguments_, cells);
    sides_.clear();
    sent_.clear();
    sent_differences_.clear();
    destinations_.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      for (int face = 0; face < 6; ++face) {
        const FaceSide own{blocks_.key(cells[c].slot), cells[c].cell,
                           static_cast<std::int8_t>(face / 2), static_cast<std::int8_t>(face % 2),
                           static_cast<std::int64_t>(6 * c + face) * variables_};
        if (done_.contains(own.order())) continue;
        sides_.push_back(own);
        add_other_side(own);
      }
    }
    receive_from_others();
    std::sort(sides_.begin(), sides_.end(),
              [](const FaceSide& a, const FaceSide& b) { return a.order() < b.order(); });
    // A face between two bad neighbours occurs twice.
    sides_.erase(
        std::unique(sides_.begin(), sides_.end(),
                    [](const FaceSide& a, const FaceSide& b) { return a.order() == b.order(); }),
        sides_.end());
    for (const FaceSide& side : sides_) done_.insert(side.order());
    apply();
  }

  // Adds the cell of this level on the other side of the face, here or on another rank. Flux
  // registers carry the change to coarser neighbours.
  void add_other_side(const FaceSide& own) {
    const int N = block_size_;
    int c[3] = {own.cell % N, own.cell / N % N, own.cell / N / N};
    BlockCoordinates position = morton_decode(own.block);
    c[own.axis] += own.side == 0 ? -1 : 1;
    if (c[own.axis] < 0) c[own.axis] += N, --position[own.axis];
    if (c[own.axis] >= N) c[own.axis] -= N, ++position[own.axis];
    if (!mesh_.geometry().wrap(level_, position)) return;
    const mesh::Node* node = blocks_.find(morton_encode(position));
    if (!node) return;
    const FaceSide other{morton_encode(position), c[0] + N * (c[1] + N * c[2]), own.axis,
                         static_cast<std::int8_t>(1 - own.side), own.difference};
    if (node->slot >= 0) {
      sides_.push_back(other);
      return;
    }
    sent_.push_back(other);
    destinations_.push_back(node->owner);
    const auto from = differences_.begin() + own.difference;
    sent_differences_.insert(sent_differences_.end(), from, from + variables_);
  }

  void receive_from_others() {
    const Communicator& communicator = mesh_.communicator();
    if (communicator.size() == 1) return;
    auto received = route<FaceSide>(communicator, destinations_, sent_);
    const auto bytes = route_bytes(communicator, destinations_,
                                   std::as_bytes(std::span<const double>(sent_differences_)),
                                   sizeof(double) * variables_);
    std::vector<double> values(bytes.items.size() / sizeof(double));
    std::memcpy(values.data(), bytes.items.data(), bytes.items.size());
    for (std::size_t n = 0; n < received.items.size(); ++n) {
      FaceSide side = received.items[n];
      side.difference = static_cast<std::int64_t>(differences_.size() + n * variables_);
      if (!done_.contains(side.order())) sides_.push_back(side);
    }
    differences_.insert(differences_.end(), values.begin(), values.end());
  }

  // Applies the changes to cells, registers and flows sequentially in the order of `sides_`, which
  // has few entries.
  void apply() const {
    std::vector<CellChange> cells;
    std::vector<RegisterChange> registers;
    std::vector<FlowChange> flows;
    const double ratio = arguments_.a1 * arguments_.dt / arguments_.dx;
    for (const FaceSide& side : sides_) {
      const int slot = blocks_.find(side.block)->slot;
      cells.push_back({slot * mesh_.layout().stride_slot + side.cell, side.difference,
                       side.side == 0 ? ratio : -ratio, side.axis});
      if (arguments_.face_flow)
        flows.push_back({arguments_.face_flow.through_face(slot, side.axis, side.side) + side.cell,
                         side.difference});
      for (const mesh::FluxRegisterFaces& request : mesh_.flux_requests(level_, slot))
        add_register_change(request, side, registers);
    }
    const auto differences = mesh::to_device("flux differences", differences_);
    make_changes(mesh::to_device("cell changes", cells),
                 mesh::to_device("register changes", registers), differences, variables_,
                 mesh_.layout().stride_variable, arguments_, options_.spin());
    if (!flows.empty())
      change_flows(mesh::to_device("flow changes", flows), differences, arguments_.flux_weight);
  }

  // Adds the change of the flux register that contains this face, only once for a face inside the
  // block, which is in the list for both of its cells.
  void add_register_change(const mesh::FluxRegisterFaces& request, const FaceSide& side,
                           std::vector<RegisterChange>& changes) const {
    const int N = block_size_;
    const int c[3] = {side.cell % N, side.cell / N % N, side.cell / N / N};
    if (request.axis != side.axis || request.plane != c[side.axis] + side.side) return;
    if (side.side == 1 && request.plane < N) return;
    const int a = c[side.axis == 0 ? 1 : 0], b = c[side.axis == 2 ? 1 : 2];
    if (a < request.a_begin || a >= request.a_end || b < request.b_begin || b >= request.b_end)
      return;
    const int faces = request.average ? 2 : 1;
    RegisterChange change{
        request.base + (a - request.a_begin) / faces +
            static_cast<std::int64_t>((b - request.b_begin) / faces) * request.stride_b,
        side.difference, request.stride_variable, arguments_.flux_weight / (faces * faces)};
    if (request.average) {
      const double half_cell = 0.5 * arguments_.dx;
      change.lever[side.axis == 0 ? 1 : 0] =
          (a - request.a_begin) % 2 == 0 ? -half_cell : half_cell;
      change.lever[side.axis == 2 ? 1 : 2] =
          (b - request.b_begin) % 2 == 0 ? -half_cell : half_cell;
    }
    changes.push_back(change);
  }

  // Returns true if no finer block covers the cell.
  bool is_leaf(const hydro::BadCell& cell) const {
    const int N = block_size_, half = N / 2;
    const int octant = (cell.cell % N >= half ? 1 : 0) + (cell.cell / N % N >= half ? 2 : 0) +
                       (cell.cell / N / N >= half ? 4 : 0);
    return (blocks_.refined(cell.slot) >> octant & 1) == 0;
  }

  // Raises all unphysical cells to the floors, but counts only leaf cells: restriction replaces the
  // state of covered cells, and their fluxes into leaf cells are those of the flux registers.
  void floor(Floored& floored) const {
    const auto cells = hydro::find_bad_cells(options_, arguments_);
    const hydro::FlooredCells raised = hydro::apply_floors(options_, arguments_, cells);
    const Communicator& communicator = mesh_.communicator();
    const auto count = communicator.sum(static_cast<std::int64_t>(std::count_if(
        cells.begin(), cells.end(), [&](const hydro::BadCell& cell) { return is_leaf(cell); })));
    if (count == 0) return;
    std::array<ReproducibleSum, 5> added;  // mass, energy, angular momentum
    for (std::size_t n = 0; n < raised.cells.size(); ++n) {
      if (!is_leaf(raised.cells[n])) continue;
      const hydro::FloorGain& gain = raised.gains[n];
      added[0] += gain.mass;
      added[1] += gain.energy;
      for (int d = 0; d < 3; ++d) added[2 + d] += gain.angular_momentum[d];
    }
    reproducible_sum(communicator, std::span<ReproducibleSum>(added));
    // Weight of a stage's state in the state at the end of the step.
    const double share = arguments_.flux_weight / (arguments_.a1 * arguments_.dt);
    const double volume = share * mesh_.geometry().cell_volume(level_);
    const double mass = volume * added[0].to_double(), energy = volume * added[1].to_double();
    floored.cells += count;
    floored.mass += mass;
    floored.energy += energy;
    for (int d = 0; d < 3; ++d) floored.angular_momentum[d] += volume * added[2 + d].to_double();
    log::warn(
        "level {}: raised {} cells to the density and pressure floors; mass {:.3g} and energy "
        "{:.3g} added",
        level_, count, mass, energy);
  }

  mesh::Mesh& mesh_;
  const mesh::TreeLevel& blocks_;
  int level_, block_size_, variables_;
  const hydro::HydroOptions& options_;
  const hydro::SweepArguments& arguments_;

  std::vector<double> differences_, sent_differences_;
  std::vector<FaceSide> sides_, sent_;
  std::vector<int> destinations_;
  std::set<std::tuple<Key, std::int32_t, std::int8_t, std::int8_t>> done_;
};

}  // namespace

void repair(mesh::Mesh& mesh, int level, const hydro::HydroOptions& options,
            const hydro::SweepArguments& arguments, Floored& floored) {
  Repair(mesh, level, options, arguments).run(floored);
}

}  // namespace octant
