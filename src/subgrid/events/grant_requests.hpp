// Events that request limited quantities from cells: gas for the accretion of black holes, or
// heating up to a maximum temperature. If the requests to a cell exceed its capacity, all are
// reduced by the same factor.
//
// The physics is given by an event model as for apply_events(), with requests instead of deposits:
//
//   struct EventModel {
//     Event, Blast, sums, weigh, finish;  // as for apply_events()
//     static constexpr int granted;
//     // Device: request of an event to a cell within its radius; `holds`: host cell of the event.
//     double request(const Event&, const Blast&, const CellAround&, bool holds, GasCell) const;
//     // Device: capacity of the cell.
//     double capacity(const GasCell&) const;
//     // Device: terms of a cell in the granted sums of an event.
//     void grant(const Event&, const CellAround&, const GasCell&, double requested, double given,
//                double* terms) const;
//     // Device: changes the cell by the total `given` that the cell grants.
//     void change(const GasCell&, double given) const;
//   };
//
// An event without a cell within its radius requests nothing. Requests are added in the order of
// event ids, and grants in the order of block levels and keys, so results have the same bits on any
// number of ranks and with every search method.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "subgrid/events/apply_events.hpp"

namespace octant::subgrid {

namespace events {

// Kernel in which one team per block adds up the requests to the cells, computes the granted sums,
// [pair][term], and then changes the gas.
template <class EventModel>
struct GrantRequests {
  using Gas = AffectedCells<typename EventModel::Event>;
  // Requests of all events to a cell.
  struct CellRequests {
    double total, share;  // total: sum of requests; share: granted fraction
  };

  EventModel model;
  Gas gas;
  mesh::DeviceArray<const EventResult<EventModel>> results;
  mesh::DeviceArray<double> granted;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Team& team) const {
    const int block_index = team.league_rank();
    const mesh::OwnBlock block = gas.cells.blocks(block_index);
    const int begin = gas.begins(block_index), end = gas.begins(block_index + 1);
    CellRequests* const requests = gas.template value_per_cell<CellRequests>(team);
    const auto for_cells = [&](const auto& body) {
      mesh::in_team(team, gas.cells.cells_per_block(), body);
      team.team_barrier();
    };
    for_cells([&](int index) { requests[index] = {0.0, 0.0}; });
    // Events are processed in sequence, the cells of an event in parallel.
    for (int n = begin; n < end; ++n) {
      const typename EventModel::Event& event = gas.event(n);
      const CellBounds bounds = gas.bounds(event, block);
      gas.for_rows(team, bounds, [&](int j, int k) {
        gas.for_row(event, block, bounds, j, k, [&](int index, const CellAround& around) {
          requests[index].total += request(block_index, block, n, index, around);
        });
      });
      team.team_barrier();
    }
    for_cells([&](int index) {
      const double total = requests[index].total;
      if (total == 0.0) return;
      const double capacity = model.capacity(gas.level.at({block_index, block.slot, index}));
      requests[index].share = total > capacity ? capacity / total : 1.0;
    });
    mesh::in_team(team, end - begin,
                  [&](int n) { add_up(block_index, block, begin + n, requests); });
    team.team_barrier();
    for_cells([&](int index) {
      const double given = requests[index].share * requests[index].total;
      if (given != 0.0) model.change(gas.level.at({block_index, block.slot, index}), given);
    });
  }

 private:
  KOKKOS_INLINE_FUNCTION double request(int block_index, const mesh::OwnBlock& block, int pair,
                                        int index, const CellAround& around) const {
    const typename EventModel::Event& event = gas.event(pair);
    const bool holds = gas.is_host(event, block) && index == gas.host(event, block);
    return model.request(event, results(gas.numbers(pair)).blast, around, holds,
                         gas.level.at({block_index, block.slot, index}));
  }

  KOKKOS_INLINE_FUNCTION void add_up(int block_index, const mesh::OwnBlock& block, int pair,
                                     const CellRequests* requests) const {
    const typename EventModel::Event& event = gas.event(pair);
    double total[EventModel::granted] = {}, term[EventModel::granted];
    gas.for_all_rows(event, block, [&](int index, const CellAround& around) {
      const double requested = request(block_index, block, pair, index, around);
      model.grant(event, around, gas.level.at({block_index, block.slot, index}), requested,
                  requests[index].share * requested, term);
      for (int t = 0; t < EventModel::granted; ++t) total[t] += term[t];
    });
    for (int t = 0; t < EventModel::granted; ++t)
      granted(std::int64_t{pair} * EventModel::granted + t) = total[t];
  }
};

}  // namespace events

// Result of an event: its blast and its granted sums.
template <class EventModel>
struct Granted {
  typename EventModel::Blast blast{};
  std::array<double, EventModel::granted> sums{};
};

// Grants the requests of the events of all ranks from this rank's leaf cells, but not from cells
// under finer blocks. Returns the results of this rank's events, in the order of `own`. Collective.
template <class EventModel>
std::vector<Granted<EventModel>> grant_requests(mesh::Mesh& mesh, const EventModel& model,
                                                const EventTarget& target,
                                                std::span<const typename EventModel::Event> own,
                                                EventSearch search) {
  const events::SummedEvents<EventModel> summed(mesh, model, target, own, search);
  events::BlockEventSums granted(EventModel::granted);
  const auto results =
      mesh::to_device("event results", summed.results_of_received(mesh.communicator()));
  using Kernel = events::GrantRequests<EventModel>;
  events::for_affected_levels(
      mesh, target, summed.reaching, summed.touched,
      [&](int level, const AffectedBlocks& here, const auto& gas) {
        const auto block_event_pairs = static_cast<std::int64_t>(here.events.size());
        const Kernel kernel{
            model, gas, results,
            mesh::uninitialised<double>("granted", block_event_pairs * EventModel::granted)};
        gas.template for_blocks<typename Kernel::CellRequests>("grant requests", kernel);
        granted.add(mesh, summed.reaching, level, here, kernel.granted);
      });
  std::vector<Granted<EventModel>> outcome(own.size());
  if (!summed.reaching.any) return outcome;
  const events::EventSums sums = granted.add_up(mesh.communicator());
  const auto blasts = summed.blasts(own.size());
  for (std::size_t n = 0; n < own.size(); ++n) outcome[n].blast = blasts[n];
  for (std::size_t n = 0; n < sums.numbers.size(); ++n)
    std::copy_n(sums.of(n), EventModel::granted, outcome[sums.numbers[n]].sums.begin());
  return outcome;
}

}  // namespace octant::subgrid
