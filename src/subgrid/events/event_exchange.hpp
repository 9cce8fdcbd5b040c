// What travels between the owners of events and the ranks with cells around them, whatever the
// events are: their bytes to whom they reach, sums over cells back to the owners, and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/payload.hpp"
#include "mesh/device.hpp"
#include "subgrid/events/touches.hpp"

namespace octant::subgrid::events {

template <class Event>
std::vector<EventPlace> places_of(std::span<const Event> events) {
  std::vector<EventPlace> places;
  places.reserve(events.size());
  for (const Event& event : events) places.push_back(event.place);
  return places;
}

std::vector<mesh::Sphere> spheres_of(std::span<const EventPlace> places);

// Where events are that reach cells of this rank's, in the order of ids.
struct ReachingPlaces {
  std::vector<EventPlace> places;  // without level and slot where another rank owns the event
  std::vector<int> owners;
  std::vector<std::int32_t> numbers;  // on their owners
  std::vector<mesh::Met> met;         // with items that count in `places`

  // Takes what came, in any order. Returns which item each of `places` was.
  std::vector<std::int32_t> take(int rank, std::span<const EventPlace> came,
                                 std::span<const int> sources,
                                 std::span<const std::int32_t> source_numbers,
                                 std::vector<mesh::Met> met_by_items);
};

// With the events themselves.
template <class Event>
struct Reaching : ReachingPlaces {
  std::vector<Event> events;

  // Brings this rank's events to where they have cells. Collective.
  Reaching(const mesh::Mesh& mesh, std::span<const Event> own) {
    auto reached =
        mesh::reach(mesh, std::span<const mesh::Sphere>(spheres_of(places_of(own))), own);
    const auto came = places_of(std::span<const Event>(reached.items));
    events.reserve(came.size());
    for (const std::int32_t n : take(mesh.communicator().rank(), came, reached.sources,
                                     reached.numbers, std::move(reached.met))) {
      events.push_back(reached.items[n]);
      events.back().place = places[events.size() - 1];
    }
  }
};

// Sums over the cells of all ranks around this rank's events, and who has a part in them. Events
// without a part are left out.
struct EventSums {
  int count;                          // of sums per event
  std::vector<std::int32_t> numbers;  // of the events, ascending
  std::vector<double> sums;           // [event][count]
  std::vector<std::size_t> begins{0};
  std::vector<int> ranks;  // of the parts of event n: [begins[n], begins[n + 1])

  const double* of(std::size_t n) const { return &sums[n * count]; }
};

// Sums of touched blocks on their way to the owners of the events.
class TouchSums {
 public:
  explicit TouchSums(int count) : count_(count) {}  // of sums per touch

  // Those of a level's touches, [touch][count].
  void add(const mesh::Mesh& mesh, const ReachingPlaces& reaching, int level,
           const TouchedBlocks& touched, const mesh::DeviceArray<double>& of_touches);

  // An event's sums add up in the order of levels and keys of its blocks. Collective.
  EventSums add_up(const Communicator& communicator) const;

 private:
  int count_;
  std::vector<std::byte> parts_;
  std::vector<int> owners_;  // of the event of each part
};

// An answer of `item_bytes` for each of `sums.numbers` goes to all ranks that have a part in it.
// Returns those to this rank's parts, and by event of `reaching` which one it is: -1 where there is
// none, because an event meets octants of this rank's, and no cell's centre. Collective.
struct Answers {
  std::vector<std::byte> items;
  std::vector<std::int32_t> of_event;
};
Answers answer_bytes(const Communicator& communicator, const EventSums& sums,
                     const ReachingPlaces& reaching, std::span<const std::byte> items,
                     std::size_t item_bytes);

// As above; T{} where there is none.
template <class T>
std::vector<T> answer(const Communicator& communicator, const EventSums& sums,
                      const ReachingPlaces& reaching, std::span<const T> items) {
  const Answers came = answer_bytes(communicator, sums, reaching, std::as_bytes(items), sizeof(T));
  const std::vector<T> known = items_of<T>(came.items);
  std::vector<T> answers(reaching.places.size());
  for (std::size_t n = 0; n < answers.size(); ++n)
    if (came.of_event[n] >= 0) answers[n] = known[came.of_event[n]];
  return answers;
}

}  // namespace octant::subgrid::events
