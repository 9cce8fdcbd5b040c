// Events change the gas: sums over the cells around each, then what every cell gets from all.
//
// The physics is a law, a plain value that is copied to the device:
//
//   struct Law {
//     struct Event { EventPlace place; ... };   // plain
//     struct Blast { ... };                     // plain: what cells must know of an event's sums
//     static constexpr int sums;
//     // Device: the terms of a cell in an event's sums.
//     void weigh(const Event&, const CellAround&, const hydro::GasCell&, double* terms) const;
//     // Host: `sums` over all leaf cells within the radius. False if none takes part.
//     bool finish(const Event&, const double* sums, Blast& blast) const;
//     // Device: what a cell within the radius gets; where there is none, what the event's own cell
//     // gets.
//     Gain share(const Event&, const Blast&, const CellAround&, const hydro::GasCell&) const;
//     Gain share_of_host(const Event&, const CellAround&, const hydro::GasCell&) const;
//   };
//
// Both are called with the gas as it was before any of the events. An event's sums come from its
// blocks in the order of levels and keys, and a cell adds up its gains in the order of ids, so that
// results have the same bits on any number of ranks and with every search.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "subgrid/events/event_exchange.hpp"
#include "subgrid/events/touched_gas.hpp"

namespace octant::subgrid {

// What the gas of this rank's cells got.
struct InjectedSums {
  enum { k_mass, k_momentum, k_energy = 4, k_metals, k_floor_energy, k_sums };
  std::array<ReproducibleSum, k_sums> sums;
};

namespace events {

// The sums of each pair of a touched block and an event, [touch][term].
template <class Law>
struct SumTouches {
  Law law;
  TouchedGas<typename Law::Event> gas;
  mesh::DeviceArray<const std::int32_t> blocks;  // by touch
  mesh::DeviceArray<double> sums;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t touch) const {
    const int place = blocks(touch);
    const mesh::OwnBlock block = gas.cells.blocks(place);
    const typename Law::Event& event = gas.event(touch);
    double total[Law::sums] = {}, term[Law::sums];
    gas.for_all_rows(event, block, [&](int index, const CellAround& around) {
      law.weigh(event, around, gas.level.at({place, block.slot, index}), term);
      for (int n = 0; n < Law::sums; ++n) total[n] += term[n];
    });
    for (int n = 0; n < Law::sums; ++n) sums(touch * Law::sums + n) = total[n];
  }
};

// What became of an event's sums.
template <class Law>
struct Fate {
  typename Law::Blast blast{};
  std::uint8_t alone = 0;  // whether no cell takes part
};

// What the cells of a block get: gains, and by row of cells the mask of those that there are.
struct BlockGains {
  Gain* of_cells;
  std::uint32_t* masks;
  int block_size;

  KOKKOS_FORCEINLINE_FUNCTION void add(int row, int i, const Gain& more) const {
    Gain& gain = of_cells[row * block_size + i];
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((masks[row] & bit) == 0) gain = Gain{};
    masks[row] |= bit;
    gain += more;
  }
  // Calls visit(index, gain) for the gains of a row.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit(int row, const Visit& visit) const {
    for (std::uint32_t mask = masks[row]; mask != 0; mask &= mask - 1) {
      const int index = row * block_size + Kokkos::Experimental::countr_zero_builtin(mask);
      visit(index, of_cells[index]);
    }
  }
};

// Gives the cells of each touched block their gains, and says what they got, [block][sum]. A team
// per block: it collects the gains of all cells, event after event, and then changes the gas.
template <class Law>
struct ShareOut {
  using Gas = TouchedGas<typename Law::Event>;
  using Member = typename Gas::Member;

  Law law;
  EventTarget target;
  Gas gas;
  mesh::DeviceArray<const Fate<Law>> fates;
  mesh::DeviceArray<double> got;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int place = team.league_rank();
    const mesh::OwnBlock block = gas.cells.blocks(place);
    Gain* const of_cells = gas.template value_per_cell<Gain>(team);
    const BlockGains gains{of_cells, gas.number_per_row(team), gas.cells.block_size()};
    const auto for_rows = [&](const auto& body) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, gas.rows_per_block()), body);
      team.team_barrier();
    };
    for_rows([&](int row) { gains.masks[row] = 0; });
    for (int n = gas.begins(place); n < gas.begins(place + 1); ++n) {
      collect(team, gas.numbers(n), place, block, gains);
      team.team_barrier();
    }
    for_rows([&](int row) {
      gains.visit(row, [&](int index, Gain& gain) { give({place, block.slot, index}, gain); });
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] { add_up(place, gains); });
  }

 private:
  // What the cells of a block get from an event.
  KOKKOS_INLINE_FUNCTION void collect(const Member& team, int number, int place,
                                      const mesh::OwnBlock& block, const BlockGains& gains) const {
    const int N = gas.cells.block_size();
    const typename Law::Event& event = gas.events(number);
    if (fates(number).alone) {
      if (!gas.is_host(event, block)) return;
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        const mesh::Cell host{place, block.slot, gas.host(event, block)};
        const CellAround around =
            gas.periods.look(event.place, gas.cells.centre(host), gas.level.cell_volume);
        gains.add(host.index / N, host.index % N,
                  law.share_of_host(event, around, gas.level.at(host)));
      });
      return;
    }
    const CellBounds bounds = gas.bounds(event, block);
    gas.for_rows(team, bounds, [&](int j, int k) {
      const int row = k * N + j;
      gas.for_row(event, block, bounds, j, k, [&](int index, const CellAround& around) {
        gains.add(row, index - row * N,
                  law.share(event, fates(number).blast, around,
                            gas.level.at({place, block.slot, index})));
      });
    });
  }

  // The gain's floor energy becomes what the cell's pressure floor took. What is added has the
  // concentrations of the gas that it comes to: stars and black holes store none of them.
  KOKKOS_INLINE_FUNCTION void give(const mesh::Cell& cell, Gain& gain) const {
    const hydro::GasCell here = gas.level.at(cell);
    const double before = here.density();
    gain.floor_energy = here.add(gain.mass, gain.momentum, gain.energy);
    const double growth = here.density() / before;
    for (int n = 0; n < target.passive.count; ++n) here[target.passive.first + n] *= growth;
    if (target.metals >= 0) here[target.metals] += gain.metals;
    if (target.ejecta >= 0) here[target.ejecta] += gain.mass;
  }

  KOKKOS_INLINE_FUNCTION void add_up(int place, const BlockGains& gains) const {
    double sum[InjectedSums::k_sums] = {};
    for (int row = 0; row < gas.rows_per_block(); ++row)
      gains.visit(row, [&](int, const Gain& gain) {
        sum[InjectedSums::k_mass] += gain.mass;
        for (int d = 0; d < 3; ++d) sum[InjectedSums::k_momentum + d] += gain.momentum[d];
        sum[InjectedSums::k_energy] += gain.energy;
        sum[InjectedSums::k_metals] += gain.metals;
        sum[InjectedSums::k_floor_energy] += gain.floor_energy;
      });
    for (int n = 0; n < InjectedSums::k_sums; ++n)
      got(std::int64_t{place} * InjectedSums::k_sums + n) = sum[n];
  }
};

// The sums over the cells of this rank's blocks, for the owners of the events.
template <class Law>
TouchSums sum_blocks(mesh::Mesh& mesh, const Law& law, const EventTarget& target,
                     const Reaching<typename Law::Event>& reaching,
                     const std::vector<TouchedBlocks>& touched) {
  TouchSums parts(Law::sums);
  for_touched_levels(
      mesh, target, reaching, touched, [&](int level, const TouchedBlocks& here, const auto& gas) {
        const auto touches = static_cast<std::int64_t>(here.events.size());
        std::vector<std::int32_t> blocks;
        for (std::size_t b = 0; b < here.slots.size(); ++b)
          blocks.insert(blocks.end(), here.begins[b + 1] - here.begins[b],
                        static_cast<std::int32_t>(b));
        const SumTouches<Law> kernel{law, gas, mesh::to_device("blocks", blocks),
                                     mesh::uninitialised<double>("sums", touches * Law::sums)};
        Kokkos::parallel_for("sum around events",
                             Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>(0, touches),
                             kernel);
        parts.add(mesh, reaching, level, here, kernel.sums);
      });
  return parts;
}

// This rank's events, and others' that reach its cells, with what their sums came to.
template <class Law>
struct SummedEvents {
  using Blast = typename Law::Blast;

  Reaching<typename Law::Event> reaching;
  std::vector<TouchedBlocks> touched;
  EventSums sums;
  std::vector<Fate<Law>> fates;  // as sums.numbers

  // Collective.
  SummedEvents(mesh::Mesh& mesh, const Law& law, const EventTarget& target,
               std::span<const typename Law::Event> own, EventSearch search)
      : reaching(mesh, own),
        touched(find_touched_blocks(mesh, search, reaching.places, reaching.met)),
        sums(sum_blocks(mesh, law, target, reaching, touched).add_up(mesh.communicator())) {
    for (std::size_t n = 0; n < sums.numbers.size(); ++n) {
      Fate<Law> fate;
      fate.alone = !law.finish(own[sums.numbers[n]], sums.of(n), fate.blast);
      fates.push_back(fate);
    }
  }

  // Of each of this rank's `count` events; Blast{} of those without a cell.
  std::vector<Blast> blasts(std::size_t count) const {
    std::vector<Blast> blasts(count);
    for (std::size_t n = 0; n < fates.size(); ++n)
      if (!fates[n].alone) blasts[sums.numbers[n]] = fates[n].blast;
    return blasts;
  }

  // Of each event that reaches this rank. Collective.
  std::vector<Fate<Law>> fates_of_reaching(const Communicator& communicator) const {
    return answer(communicator, sums, reaching, std::span<const Fate<Law>>(fates));
  }
};

}  // namespace events

// The blasts of this rank's events, in their order, without changing any gas; Blast{} of those that
// no cell takes part in. For laws that need sums of sums: what the first law found goes into the
// events of the second one. Collective.
template <class Law>
std::vector<typename Law::Blast> sum_events(mesh::Mesh& mesh, const Law& law,
                                            const EventTarget& target,
                                            std::span<const typename Law::Event> own,
                                            EventSearch search) {
  return events::SummedEvents<Law>(mesh, law, target, own, search).blasts(own.size());
}

// Applies this rank's events, together with those of others that reach its cells. Cells under finer
// blocks are left as they are. Returns what this rank's cells got. Collective.
template <class Law>
InjectedSums apply_events(mesh::Mesh& mesh, const Law& law, const EventTarget& target,
                          std::span<const typename Law::Event> own, EventSearch search) {
  const events::SummedEvents<Law> summed(mesh, law, target, own, search);
  InjectedSums injected;
  const auto fates =
      mesh::to_device("fates of events", summed.fates_of_reaching(mesh.communicator()));
  events::for_touched_levels(
      mesh, target, summed.reaching, summed.touched,
      [&](int level, const TouchedBlocks& here, const auto& gas) {
        const auto blocks = static_cast<std::int64_t>(here.slots.size());
        const events::ShareOut<Law> kernel{
            law, target, gas, fates,
            mesh::uninitialised<double>("got", blocks * InjectedSums::k_sums)};
        gas.template for_blocks<Gain>("share out events", kernel);
        const auto got = on_host(Cargo::numbers, kernel.got);
        const double volume = mesh.geometry().cell_volume(level);
        for (std::int64_t b = 0; b < blocks; ++b)
          for (int n = 0; n < InjectedSums::k_sums; ++n)
            injected.sums[n] += volume * got(b * InjectedSums::k_sums + n);
      });
  return injected;
}

}  // namespace octant::subgrid
