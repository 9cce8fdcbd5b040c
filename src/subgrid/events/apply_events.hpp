// Application of events to the gas: sums over the cells around each event, then the total deposit
// in every cell.
//
// The physics is given by an event model, a plain struct that is copied to the device:
//
//   struct EventModel {
//     struct Event { EventRegion region; ... };   // plain
//     struct Blast { ... };                     // plain: quantities from the sums that cells need
//     static constexpr int sums;
//     // Device: the terms of a cell in an event's sums.
//     void weigh(const Event&, const CellAround&, const hydro::GasCell&, double* terms) const;
//     // Host: computes the blast from `sums` over all leaf cells within the radius. Returns false
//     // if there are none.
//     bool finish(const Event&, const double* sums, Blast& blast) const;
//     // Device: the deposit in a cell within the radius.
//     Deposit deposit(const Event&, const Blast&, const CellAround&, const hydro::GasCell&) const;
//     // Device: the deposit in the cell that contains the event, if no cell is within the radius.
//     Deposit deposit_in_host(const Event&, const CellAround&, const hydro::GasCell&) const;
//   };
//
// Sums and deposits are computed from the gas state before any of the events. Sums are added in the
// order of block levels and keys, and deposits in a cell in the order of event ids. Results
// therefore have the same bits on any number of ranks and with every search method.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"
#include "subgrid/events/event_exchange.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant::subgrid {

// Index range of the user's passive scalars among the variables of a cell.
struct PassiveScalars {
  int first = 0, count = 0;
};

// Gas that events read and change.
struct EventTarget {
  hydro::Gas gas;
  int metals = -1;   // index of the metal density; -1: none
  int ejecta = -1;   // index of a scalar that records the injected mass; -1: none
  int coarsest = 0;  // coarsest level that events change
  PassiveScalars passive = {};
};

namespace events {

// Gas in those blocks of a level that are affected by events.
template <class Event>
struct AffectedCells {
  GasLevel level;
  mesh::CellRange cells;  // cells of the affected blocks
  Periods periods;
  mesh::DeviceArray<const std::int32_t> begins, numbers;  // AffectedBlocks: begins, events
  mesh::DeviceArray<const Event> events;

  AffectedCells(mesh::Mesh& mesh, int number, const hydro::Gas& gas, const AffectedBlocks& touched,
                const mesh::DeviceArray<const Event>& all)
      : level(mesh, number, gas),
        cells(mesh.cells(number, touched.slots)),
        periods(mesh.geometry()),
        begins(mesh::to_device("first events", touched.begins)),
        numbers(mesh::to_device("numbers", touched.events)),
        events(all) {}

  // Launches one team per block, with scratch memory for one Value per cell and one number per row
  // of cells.
  template <class Value, class Kernel>
  void for_blocks(const char* name, const Kernel& kernel) const {
    const std::size_t scratch =
        sizeof(Value) * cells.cells_per_block() + sizeof(std::uint32_t) * rows_per_block();
    const mesh::CellRange counted = cells;
    mesh::for_teams(
        name, cells.count(), {.scratch = scratch}, KOKKOS_LAMBDA(const mesh::Team& team) {
          const mesh::BlockCycles cycles(counted, counted.blocks(team.league_rank()).slot);
          kernel(team);
        });
  }
  // Scratch memory of a team for one value per cell of the block.
  template <class Value>
  KOKKOS_INLINE_FUNCTION Value* value_per_cell(const mesh::Team& team) const {
    return static_cast<Value*>(
        team.team_scratch(1).get_shmem(sizeof(Value) * cells.cells_per_block()));
  }

  // Scratch memory of a team for one number per row of cells.
  KOKKOS_INLINE_FUNCTION std::uint32_t* number_per_row(const mesh::Team& team) const {
    return static_cast<std::uint32_t*>(
        team.team_scratch(1).get_shmem(sizeof(std::uint32_t) * rows_per_block()));
  }
  // Number of rows of cells in a block.
  KOKKOS_INLINE_FUNCTION int rows_per_block() const {
    return cells.block_size() * cells.block_size();
  }

  // Event of a block-event pair, given by the index of the pair.
  KOKKOS_FORCEINLINE_FUNCTION const Event& event(std::int64_t pair) const {
    return events(numbers(pair));
  }
  // Returns true if the block contains the cell of the event.
  KOKKOS_FORCEINLINE_FUNCTION bool is_host(const Event& event, const mesh::OwnBlock& block) const {
    return event.region.level == level.number && event.region.slot == block.slot;
  }
  // Index of the cell that contains the event, which must be in the block.
  KOKKOS_INLINE_FUNCTION int host(const Event& event, const mesh::OwnBlock& block) const {
    return host_cell(event.region, block, cells);
  }
  // Bounds of the cells of this block that may lie within the radius of the event.
  KOKKOS_INLINE_FUNCTION CellBounds bounds(const Event& event, const mesh::OwnBlock& block) const {
    return bounds_of(event.region, block, cells, periods);
  }

  // Calls body(j, k) for the rows of a box, distributed over the threads of a team.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_rows(const mesh::Team& team, const CellBounds& box,
                                       const Body& body) const {
    const int rows = box.last[1] - box.first[1], planes = box.last[2] - box.first[2];
    if (rows <= 0 || planes <= 0) return;
    mesh::in_team(team, rows * planes,
                  [&](int n) { body(box.first[1] + n % rows, box.first[2] + n / rows); });
  }
  // Calls visit(index, around) for the leaf cells within the event's radius in one row of `box`.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(const Event& event, const mesh::OwnBlock& block,
                                           const CellBounds& box, int j, int k,
                                           const Visit& visit) const {
    for_row_inside(event.region, block, cells, periods, level.cell_volume, box.first[0],
                   box.last[0], j, k, [&](int index, const CellAround& around) {
                     if (!(block.refined >> cells.octant_of(index) & 1)) visit(index, around);
                   });
  }
  // Calls visit(index, around) for all leaf cells within the event's radius, sequentially.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_all_rows(const Event& event, const mesh::OwnBlock& block,
                                           const Visit& visit) const {
    const CellBounds box = bounds(event, block);
    for (int k = box.first[2]; k < box.last[2]; ++k)
      for (int j = box.first[1]; j < box.last[1]; ++j) for_row(event, block, box, j, k, visit);
  }
};

// Calls visit(level, affected blocks, their gas) for the levels from target.coarsest on.
template <class Event, class Visit>
void for_affected_levels(mesh::Mesh& mesh, const EventTarget& target,
                         const ReceivedEvents<Event>& reaching,
                         const std::vector<AffectedBlocks>& touched, const Visit& visit) {
  const mesh::DeviceArray<const Event> events = mesh::to_device("events", reaching.events);
  for (int level = target.coarsest; level < static_cast<int>(touched.size()); ++level) {
    const AffectedBlocks& here = touched[level];
    if (here.events.empty()) continue;
    visit(level, here, AffectedCells<Event>(mesh, level, target.gas, here, events));
  }
}

}  // namespace events

// Volume integrals of the deposits in this rank's cells.
struct InjectedSums {
  // Indices of the sums.
  enum { k_mass, k_momentum, k_energy = 4, k_metals, k_floor_energy, k_sums };
  std::array<ReproducibleSum, k_sums> sums;
};

namespace events {

// Kernel for the sums of each pair of a block and an event, [pair][term].
template <class EventModel>
struct SumPairs {
  EventModel model;
  AffectedCells<typename EventModel::Event> gas;
  mesh::DeviceArray<const std::int32_t> blocks;  // block of each pair
  mesh::DeviceArray<double> sums;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t pair) const {
    const int block_index = blocks(pair);
    const mesh::OwnBlock block = gas.cells.blocks(block_index);
    const typename EventModel::Event& event = gas.event(pair);
    double total[EventModel::sums] = {}, term[EventModel::sums];
    gas.for_all_rows(event, block, [&](int index, const CellAround& around) {
      model.weigh(event, around, gas.level.at({block_index, block.slot, index}), term);
      for (int n = 0; n < EventModel::sums; ++n) total[n] += term[n];
    });
    for (int n = 0; n < EventModel::sums; ++n) sums(pair * EventModel::sums + n) = total[n];
  }
};

// Blast of an event, computed from its sums.
template <class EventModel>
struct EventResult {
  typename EventModel::Blast blast{};
  std::uint8_t alone = 0;  // true if no cell lies within the radius
};

// Deposits in the cells of a block, with a mask of the affected cells for each row.
struct BlockDeposits {
  Deposit* cell_deposits;
  std::uint32_t* masks;
  int block_size;

  // Adds `more` to the deposit in cell i of a row.
  KOKKOS_FORCEINLINE_FUNCTION void add(int row, int i, const Deposit& more) const {
    Deposit& deposit = cell_deposits[row * block_size + i];
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((masks[row] & bit) == 0) deposit = Deposit{};
    masks[row] |= bit;
    deposit += more;
  }
  // Calls visit(index, deposit) for the affected cells of a row.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit(int row, const Visit& visit) const {
    for (std::uint32_t mask = masks[row]; mask != 0; mask &= mask - 1) {
      const int index = row * block_size + Kokkos::Experimental::countr_zero_builtin(mask);
      visit(index, cell_deposits[index]);
    }
  }
};

// Applies the deposits to the cells of each block and returns their totals, [block][sum]. One team
// per block adds up the deposits in all cells, event after event, and then changes the gas.
template <class EventModel>
struct AddDeposits {
  using Gas = AffectedCells<typename EventModel::Event>;

  EventModel model;
  EventTarget target;
  Gas gas;
  mesh::DeviceArray<const EventResult<EventModel>> results;
  mesh::DeviceArray<double> injected;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Team& team) const {
    const int block_index = team.league_rank();
    const mesh::OwnBlock block = gas.cells.blocks(block_index);
    Deposit* const cell_deposits = gas.template value_per_cell<Deposit>(team);
    const BlockDeposits deposits{cell_deposits, gas.number_per_row(team), gas.cells.block_size()};
    const auto for_rows = [&](const auto& body) {
      mesh::in_team(team, gas.rows_per_block(), body);
      team.team_barrier();
    };
    for_rows([&](int row) { deposits.masks[row] = 0; });
    for (int n = gas.begins(block_index); n < gas.begins(block_index + 1); ++n) {
      collect_deposits(team, gas.numbers(n), block_index, block, deposits);
      team.team_barrier();
    }
    for_rows([&](int row) {
      deposits.visit(row, [&](int index, Deposit& deposit) {
        apply_deposit({block_index, block.slot, index}, deposit);
      });
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] { add_up(block_index, deposits); });
  }

 private:
  // Adds an event's deposits to the cells of a block.
  KOKKOS_INLINE_FUNCTION void collect_deposits(const mesh::Team& team, int number, int block_index,
                                               const mesh::OwnBlock& block,
                                               const BlockDeposits& deposits) const {
    const int N = gas.cells.block_size();
    const typename EventModel::Event& event = gas.events(number);
    if (results(number).alone) {
      if (!gas.is_host(event, block)) return;
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        const mesh::Cell host{block_index, block.slot, gas.host(event, block)};
        const CellAround around =
            gas.periods.cell_around(event.region, gas.cells.centre(host), gas.level.cell_volume);
        deposits.add(host.index / N, host.index % N,
                     model.deposit_in_host(event, around, gas.level.at(host)));
      });
      return;
    }
    const CellBounds bounds = gas.bounds(event, block);
    gas.for_rows(team, bounds, [&](int j, int k) {
      const int row = k * N + j;
      gas.for_row(event, block, bounds, j, k, [&](int index, const CellAround& around) {
        deposits.add(row, index - row * N,
                     model.deposit(event, results(number).blast, around,
                                   gas.level.at({block_index, block.slot, index})));
      });
    });
  }

  // Applies a deposit to a cell and sets deposit.floor_energy to the energy that the pressure floor
  // added. Added mass has the passive-scalar concentrations of the cell, because stars store none.
  KOKKOS_INLINE_FUNCTION void apply_deposit(const mesh::Cell& cell, Deposit& deposit) const {
    const hydro::GasCell here = gas.level.at(cell);
    const double before = here.density();
    deposit.floor_energy = here.add(deposit.mass, deposit.momentum, deposit.energy);
    const double growth = here.density() / before;
    for (int n = 0; n < target.passive.count; ++n) here[target.passive.first + n] *= growth;
    if (target.metals >= 0) here[target.metals] += deposit.metals;
    if (target.ejecta >= 0) here[target.ejecta] += deposit.mass;
  }

  KOKKOS_INLINE_FUNCTION void add_up(int block_index, const BlockDeposits& deposits) const {
    double sum[InjectedSums::k_sums] = {};
    for (int row = 0; row < gas.rows_per_block(); ++row)
      deposits.visit(row, [&](int, const Deposit& deposit) {
        sum[InjectedSums::k_mass] += deposit.mass;
        for (int d = 0; d < 3; ++d) sum[InjectedSums::k_momentum + d] += deposit.momentum[d];
        sum[InjectedSums::k_energy] += deposit.energy;
        sum[InjectedSums::k_metals] += deposit.metals;
        sum[InjectedSums::k_floor_energy] += deposit.floor_energy;
      });
    for (int n = 0; n < InjectedSums::k_sums; ++n)
      injected(std::int64_t{block_index} * InjectedSums::k_sums + n) = sum[n];
  }
};

// Returns the sums over the cells of this rank's blocks, to be sent to the owners of the events.
template <class EventModel>
BlockEventSums sum_blocks(mesh::Mesh& mesh, const EventModel& model, const EventTarget& target,
                          const ReceivedEvents<typename EventModel::Event>& reaching,
                          const std::vector<AffectedBlocks>& touched) {
  BlockEventSums parts(EventModel::sums);
  for_affected_levels(
      mesh, target, reaching, touched, [&](int level, const AffectedBlocks& here, const auto& gas) {
        const auto block_event_pairs = static_cast<std::int64_t>(here.events.size());
        std::vector<std::int32_t> blocks;
        for (std::size_t b = 0; b < here.slots.size(); ++b)
          blocks.insert(blocks.end(), here.begins[b + 1] - here.begins[b],
                        static_cast<std::int32_t>(b));
        const SumPairs<EventModel> kernel{
            model, gas, mesh::to_device("blocks", blocks),
            mesh::uninitialised<double>("sums", block_event_pairs * EventModel::sums)};
        mesh::for_items("sum around events", block_event_pairs, kernel);
        parts.add(mesh, reaching, level, here, kernel.sums);
      });
  return parts;
}

// Events of all ranks that reach this rank's cells, and the blasts of this rank's events.
template <class EventModel>
struct SummedEvents {
  using Blast = typename EventModel::Blast;

  ReceivedEvents<typename EventModel::Event> reaching;
  std::vector<AffectedBlocks> touched;
  EventSums sums;
  std::vector<EventResult<EventModel>> results;  // in the order of sums.numbers

  // Exchanges the events and, if any rank has one, their sums. Collective.
  SummedEvents(mesh::Mesh& mesh, const EventModel& model, const EventTarget& target,
               std::span<const typename EventModel::Event> own, EventSearch search)
      : reaching(mesh, own),
        touched(find_affected_blocks(mesh, search, reaching.regions, reaching.overlaps)),
        sums(reaching.any
                 ? sum_blocks(mesh, model, target, reaching, touched).add_up(mesh.communicator())
                 : EventSums{.count = EventModel::sums}) {
    for (std::size_t n = 0; n < sums.numbers.size(); ++n) {
      EventResult<EventModel> result;
      result.alone = !model.finish(own[sums.numbers[n]], sums.of(n), result.blast);
      results.push_back(result);
    }
  }

  // Returns the results of this rank's `count` events; Blast{} for an event with no cell centre
  // within its radius.
  std::vector<Blast> blasts(std::size_t count) const {
    std::vector<Blast> blasts(count);
    for (std::size_t n = 0; n < results.size(); ++n)
      if (!results[n].alone) blasts[sums.numbers[n]] = results[n].blast;
    return blasts;
  }

  // Returns the result of each event that reaches this rank. Collective.
  std::vector<EventResult<EventModel>> results_of_received(const Communicator& communicator) const {
    if (!reaching.any) return {};
    return answer(communicator, sums, reaching, std::span<const EventResult<EventModel>>(results));
  }
};

}  // namespace events

// Returns the blasts of this rank's events without changing the gas, or Blast{} for an event
// without a cell in reach. For models with two passes: the blasts of the first become input to the
// events of the second. Collective.
template <class EventModel>
std::vector<typename EventModel::Blast> sum_events(mesh::Mesh& mesh, const EventModel& model,
                                                   const EventTarget& target,
                                                   std::span<const typename EventModel::Event> own,
                                                   EventSearch search) {
  return events::SummedEvents<EventModel>(mesh, model, target, own, search).blasts(own.size());
}

// Applies the events of all ranks to this rank's leaf cells, but not to cells under finer blocks.
// Returns the total deposits in this rank's cells. Collective.
template <class EventModel>
InjectedSums apply_events(mesh::Mesh& mesh, const EventModel& model, const EventTarget& target,
                          std::span<const typename EventModel::Event> own, EventSearch search) {
  const events::SummedEvents<EventModel> summed(mesh, model, target, own, search);
  InjectedSums injected;
  const auto results =
      mesh::to_device("event results", summed.results_of_received(mesh.communicator()));
  events::for_affected_levels(
      mesh, target, summed.reaching, summed.touched,
      [&](int level, const AffectedBlocks& here, const auto& gas) {
        const auto blocks = static_cast<std::int64_t>(here.slots.size());
        const events::AddDeposits<EventModel> kernel{
            model, target, gas, results,
            mesh::uninitialised<double>("injected sums", blocks * InjectedSums::k_sums)};
        gas.template for_blocks<Deposit>("inject events", kernel);
        const auto sums = on_host(TransferKind::numbers, kernel.injected);
        const double volume = mesh.geometry().cell_volume(level);
        for (std::int64_t b = 0; b < blocks; ++b)
          for (int n = 0; n < InjectedSums::k_sums; ++n)
            injected.sums[n] += volume * sums(b * InjectedSums::k_sums + n);
      });
  return injected;
}

}  // namespace octant::subgrid
