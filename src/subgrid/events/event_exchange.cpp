#include "subgrid/events/event_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "comm/route.hpp"

namespace octant::subgrid::events {

namespace {

// Header of a block's contribution to an event's sums.
struct Part {
  std::int32_t number, level;  // index of the event on its owner; level of the block
  Key key;

  auto operator<=>(const Part&) const = default;
};

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <class T>
T item_at(std::span<const std::byte> bytes, std::size_t offset) {
  T item;
  std::memcpy(&item, bytes.subspan(offset, sizeof(T)).data(), sizeof(T));
  return item;
}

std::vector<std::int32_t> ascending(std::size_t count, const auto& is_before) {
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), is_before);
  return order;
}

}  // namespace

std::vector<mesh::Sphere> spheres_of(std::span<const EventRegion> regions) {
  std::vector<mesh::Sphere> spheres;
  spheres.reserve(regions.size());
  for (const EventRegion& p : regions)
    spheres.push_back({{p.centre[0], p.centre[1], p.centre[2]}, p.radius, p.level, p.slot});
  return spheres;
}

std::vector<std::int32_t> ReceivedEventRegions::take(
    int rank, std::span<const EventRegion> received, std::span<const int> sources,
    std::span<const std::int32_t> source_numbers,
    std::vector<mesh::SphereOverlap> overlaps_by_item) {
  const auto order = ascending(received.size(), [&](std::int32_t a, std::int32_t b) {
    return received[a].id < received[b].id;
  });
  std::vector<std::int32_t> position(received.size());
  regions.reserve(received.size());
  for (const std::int32_t n : order) {
    position[n] = static_cast<std::int32_t>(regions.size());
    regions.push_back(received[n]);
    owners.push_back(sources[n]);
    numbers.push_back(source_numbers[n]);
    if (owners.back() != rank) regions.back().level = regions.back().slot = -1;
  }
  overlaps = std::move(overlaps_by_item);
  for (mesh::SphereOverlap& overlap : overlaps) overlap.item = position[overlap.item];
  return order;
}

void BlockEventSums::add(const mesh::Mesh& mesh, const ReceivedEventRegions& reaching, int level,
                         const AffectedBlocks& touched, const mesh::DeviceArray<double>& of_pairs) {
  const auto sums = on_host(TransferKind::lists, of_pairs);
  const std::size_t part_bytes = sizeof(Part) + count_ * sizeof(double);
  parts_.reserve(parts_.size() + touched.events.size() * part_bytes);
  owners_.reserve(owners_.size() + touched.events.size());
  for (std::size_t b = 0; b < touched.slots.size(); ++b)
    for (int t = touched.begins[b]; t < touched.begins[b + 1]; ++t) {
      const std::int32_t event = touched.events[t];
      const Part part{reaching.numbers[event], level, mesh.blocks(level).key(touched.slots[b])};
      append(parts_, std::as_bytes(std::span(&part, 1)));
      append(parts_, std::as_bytes(std::span(&sums(std::int64_t{t} * count_), count_)));
      owners_.push_back(reaching.owners[event]);
    }
}

EventSums BlockEventSums::add_up(const Communicator& communicator) const {
  const std::size_t part_bytes = sizeof(Part) + count_ * sizeof(double);
  const auto routed = route_bytes(communicator, owners_, parts_, part_bytes);
  const std::span<const std::byte> received(routed.items);
  std::vector<Part> parts;
  for (std::size_t at = 0; at < received.size(); at += part_bytes)
    parts.push_back(item_at<Part>(received, at));

  EventSums all{count_, {}, {}, {0}, {}};
  for (const std::int32_t n : ascending(
           parts.size(), [&](std::int32_t a, std::int32_t b) { return parts[a] < parts[b]; })) {
    if (all.numbers.empty() || all.numbers.back() != parts[n].number) {
      all.numbers.push_back(parts[n].number);
      all.sums.resize(all.sums.size() + count_, 0.0);
      all.begins.push_back(all.ranks.size());
    }
    const std::size_t from = n * part_bytes + sizeof(Part);
    for (int s = 0; s < count_; ++s)
      all.sums[all.sums.size() - count_ + s] +=
          item_at<double>(received, from + s * sizeof(double));
    all.ranks.push_back(routed.sources[n]);
    all.begins.back() = all.ranks.size();
  }
  return all;
}

Answers answer_bytes(const Communicator& communicator, const EventSums& sums,
                     const ReceivedEventRegions& reaching, std::span<const std::byte> items,
                     std::size_t item_bytes) {
  std::vector<std::byte> bytes;
  std::vector<int> ranks;
  for (std::size_t n = 0; n < sums.numbers.size(); ++n) {
    std::vector<int> requesters(sums.ranks.begin() + sums.begins[n],
                                sums.ranks.begin() + sums.begins[n + 1]);
    std::sort(requesters.begin(), requesters.end());
    requesters.erase(std::unique(requesters.begin(), requesters.end()), requesters.end());
    for (const int rank : requesters) {
      append(bytes, std::as_bytes(std::span(&sums.numbers[n], 1)));
      append(bytes, items.subspan(n * item_bytes, item_bytes));
      ranks.push_back(rank);
    }
  }
  const std::size_t answer_bytes = sizeof(std::int32_t) + item_bytes;
  const auto routed = route_bytes(communicator, ranks, bytes, answer_bytes);
  const std::span<const std::byte> received(routed.items);

  Answers answers;
  std::vector<std::pair<int, std::int32_t>> known;  // (owner, number) of each result, sorted
  for (std::size_t n = 0; n < routed.sources.size(); ++n) {
    known.emplace_back(routed.sources[n], item_at<std::int32_t>(received, n * answer_bytes));
    append(answers.items, received.subspan(n * answer_bytes + sizeof(std::int32_t), item_bytes));
  }
  for (std::size_t n = 0; n < reaching.regions.size(); ++n) {
    const std::pair requested{reaching.owners[n], reaching.numbers[n]};
    const auto at = std::lower_bound(known.begin(), known.end(), requested);
    const bool is_known = at != known.end() && *at == requested;
    answers.of_event.push_back(is_known ? static_cast<std::int32_t>(at - known.begin()) : -1);
  }
  return answers;
}

}  // namespace octant::subgrid::events
