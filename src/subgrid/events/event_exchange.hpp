// Communication between the owners of events and the ranks with cells around the events, for any
// type of event: events to the ranks, sums over cells to the owners, and results to the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "mesh/device.hpp"
#include "subgrid/events/affected_blocks.hpp"

namespace octant::subgrid::events {

// Returns the positions of events in the order of `events`.
template <class Event>
std::vector<EventRegion> regions_of(std::span<const Event> events) {
  std::vector<EventRegion> regions;
  regions.reserve(events.size());
  for (const Event& event : events) regions.push_back(event.region);
  return regions;
}

// Returns the spheres of events for mesh::reach().
std::vector<mesh::Sphere> spheres_of(std::span<const EventRegion> regions);

// Positions of events that may reach cells of this rank, in the order of ids.
struct ReceivedEventRegions {
  std::vector<EventRegion> regions;  // level and slot are -1 if another rank owns the event
  std::vector<int> owners;
  std::vector<std::int32_t> numbers;          // indices of the events on their owners
  std::vector<mesh::SphereOverlap> overlaps;  // items are indices in `regions`
  bool any = false;                           // true, on all ranks, if any rank has an event

  // Stores received events, in any order. Returns the index in `received` of each of `regions`.
  std::vector<std::int32_t> take(int rank, std::span<const EventRegion> received,
                                 std::span<const int> sources,
                                 std::span<const std::int32_t> source_numbers,
                                 std::vector<mesh::SphereOverlap> overlaps_by_item);
};

// Events that reach this rank, with their data.
template <class Event>
struct ReceivedEvents : ReceivedEventRegions {
  std::vector<Event> events;

  // Sends this rank's events to all ranks with cells in their reach. Collective.
  ReceivedEvents(const mesh::Mesh& mesh, std::span<const Event> own) {
    auto reached =
        mesh::reach(mesh, std::span<const mesh::Sphere>(spheres_of(regions_of(own))), own);
    any = reached.any;
    const auto received = regions_of(std::span<const Event>(reached.items));
    events.reserve(received.size());
    for (const std::int32_t n : take(mesh.communicator().rank(), received, reached.sources,
                                     reached.numbers, std::move(reached.overlaps))) {
      events.push_back(reached.items[n]);
      events.back().region = regions[events.size() - 1];
    }
  }
};

// Sums over the cells of all ranks around this rank's events, and the contributing ranks. Events
// without a contribution are absent.
struct EventSums {
  int count;                            // number of sums per event
  std::vector<std::int32_t> numbers{};  // indices of the events, ascending
  std::vector<double> sums{};           // [event][count]
  std::vector<std::size_t> begins{0};
  std::vector<int> ranks{};  // contributors to event n: [begins[n], begins[n + 1])

  // Sums of event numbers[n].
  const double* of(std::size_t n) const { return &sums[n * count]; }
};

// Sums for each pair of a block and an event, to be sent to the owners of the events.
class BlockEventSums {
 public:
  explicit BlockEventSums(int count) : count_(count) {}  // number of sums per pair

  // Adds the sums of a level's pairs, [pair][count].
  void add(const mesh::Mesh& mesh, const ReceivedEventRegions& reaching, int level,
           const AffectedBlocks& touched, const mesh::DeviceArray<double>& of_pairs);

  // Adds up the sums of each event in the order of its blocks' levels and keys. Collective.
  EventSums add_up(const Communicator& communicator) const;

 private:
  int count_;
  std::vector<std::byte> parts_;
  std::vector<int> owners_;  // owner of the event of each part
};

// Results that this rank receives, and the index of the result of each event of `reaching`, which
// is -1 for an event that overlaps octants of this rank but no cell centre.
struct Answers {
  std::vector<std::byte> items;
  std::vector<std::int32_t> of_event;
};
// Sends a result of `item_bytes` for each of `sums.numbers` to all ranks that contributed to the
// sums. Collective.
Answers answer_bytes(const Communicator& communicator, const EventSums& sums,
                     const ReceivedEventRegions& reaching, std::span<const std::byte> items,
                     std::size_t item_bytes);

// Typed form of answer_bytes(). Returns T{} for an event without a result.
template <class T>
std::vector<T> answer(const Communicator& communicator, const EventSums& sums,
                      const ReceivedEventRegions& reaching, std::span<const T> items) {
  const Answers received =
      answer_bytes(communicator, sums, reaching, std::as_bytes(items), sizeof(T));
  const std::vector<T> known = items_of<T>(received.items);
  std::vector<T> answers(reaching.regions.size());
  for (std::size_t n = 0; n < answers.size(); ++n)
    if (received.of_event[n] >= 0) answers[n] = known[received.of_event[n]];
  return answers;
}

}  // namespace octant::subgrid::events
