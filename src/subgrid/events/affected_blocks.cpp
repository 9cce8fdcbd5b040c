#include "subgrid/events/affected_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant::subgrid {

namespace {

// Pair of an own block and an event that affects the block.
struct BlockEventPair {
  Key key;
  std::int32_t event, slot;

  auto operator<=>(const BlockEventPair&) const = default;
};

// Sorts the pairs by block and event and removes duplicates.
AffectedBlocks in_order(std::vector<BlockEventPair> block_event_pairs) {
  std::sort(block_event_pairs.begin(), block_event_pairs.end());
  AffectedBlocks touched;
  for (std::size_t n = 0; n < block_event_pairs.size(); ++n) {
    const bool is_new = n == 0 || block_event_pairs[n].slot != block_event_pairs[n - 1].slot;
    if (!is_new && block_event_pairs[n].event == block_event_pairs[n - 1].event) continue;
    if (is_new) {
      touched.slots.push_back(block_event_pairs[n].slot);
      touched.begins.push_back(touched.begins.back());
    }
    touched.events.push_back(block_event_pairs[n].event);
    ++touched.begins.back();
  }
  return touched;
}

// --- bins ----------------------------------------------------------------------------------------

// Uniform bins, at least as wide as the largest event radius, over the extent of the blocks plus a
// margin of that radius. A bin lists each of its events once for every periodic image within it.
struct Bins {
  static constexpr int k_max_bins = 128;  // maximum number of bins along an axis

  int count[3] = {1, 1, 1};
  double lower[3] = {}, bins_per_length[3] = {};
  mesh::DeviceArray<const std::int32_t> begins, events;

  KOKKOS_INLINE_FUNCTION int along(int axis, double x) const {
    const int bin = static_cast<int>(Kokkos::floor((x - lower[axis]) * bins_per_length[axis]));
    return bin < 0 ? 0 : bin < count[axis] ? bin : count[axis] - 1;
  }

  // Calls visit(event) for all events in the bins around a position.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void around(const mesh::DevicePosition& x, const Visit& visit) const {
    int first[3], last[3];
    for (int d = 0; d < 3; ++d) {
      const int bin = along(d, x[d]);
      first[d] = bin > 0 ? bin - 1 : 0;
      last[d] = bin + 1 < count[d] ? bin + 1 : bin;
    }
    for (int k = first[2]; k <= last[2]; ++k)
      for (int j = first[1]; j <= last[1]; ++j) {
        const int row = (k * count[1] + j) * count[0];
        for (int n = begins(row + first[0]); n < begins(row + last[0] + 1); ++n) visit(events(n));
      }
  }
};

struct Extent {
  std::array<double, 3> lower, upper;
};

// Extent of all own blocks of all levels, with a margin.
Extent extent_of_blocks(const mesh::Mesh& mesh, double margin) {
  const double most = std::numeric_limits<double>::max();
  Extent extent{{most, most, most}, {-most, -most, -most}};
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const double side = mesh.geometry().cell_size(level) * mesh.geometry().block_size();
    for (const int slot : mesh.blocks(level).own()) {
      const auto corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      for (int d = 0; d < 3; ++d) {
        extent.lower[d] = std::min(extent.lower[d], corner[d] - margin);
        extent.upper[d] = std::max(extent.upper[d], corner[d] + side + margin);
      }
    }
  }
  return extent;
}

Bins make_bins(const mesh::Mesh& mesh, std::span<const EventRegion> regions) {
  double radius = 0.0;
  for (const EventRegion& event : regions) radius = std::max(radius, event.radius);
  const Extent extent = extent_of_blocks(mesh, radius);
  const Periods periods(mesh.geometry());
  Bins bins;
  for (int d = 0; d < 3; ++d) {
    const double length = extent.upper[d] - extent.lower[d];
    bins.count[d] = std::clamp(static_cast<int>(length / radius), 1, Bins::k_max_bins);
    bins.lower[d] = extent.lower[d];
    bins.bins_per_length[d] = bins.count[d] / length;
  }
  struct Entry {
    std::int32_t bin, event;
  };
  std::vector<Entry> listed;
  const auto images = [&](int d) { return periods.size[d] > 0.0 ? 1 : 0; };
  for (std::size_t n = 0; n < regions.size(); ++n)
    for (int k = -images(2); k <= images(2); ++k)
      for (int j = -images(1); j <= images(1); ++j)
        for (int i = -images(0); i <= images(0); ++i) {
          const int image[3] = {i, j, k};
          int bin[3];
          bool outside = false;
          for (int d = 0; d < 3; ++d) {
            const double x = regions[n].centre[d] + image[d] * periods.size[d];
            outside = outside || x < extent.lower[d] || x > extent.upper[d];
            bin[d] = bins.along(d, x);
          }
          if (!outside)
            listed.push_back({(bin[2] * bins.count[1] + bin[1]) * bins.count[0] + bin[0],
                              static_cast<std::int32_t>(n)});
        }
  std::vector<std::int32_t> begins(
      static_cast<std::size_t>(bins.count[0]) * bins.count[1] * bins.count[2] + 1);
  for (const Entry& entry : listed) ++begins[entry.bin + 1];
  for (std::size_t b = 1; b < begins.size(); ++b) begins[b] += begins[b - 1];
  std::vector<std::int32_t> ends = begins, events(listed.size());
  for (const Entry& entry : listed) events[ends[entry.bin]++] = entry.event;
  bins.begins = mesh::to_device("first events of bins", begins);
  bins.events = mesh::to_device("events of bins", events);
  return bins;
}

// --- search by cells -----------------------------------------------------------------------------

struct AllEvents {
  int count;
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void around(const mesh::DevicePosition&, const Visit& visit) const {
    for (int event = 0; event < count; ++event) visit(event);
  }
};

// Kernel that finds the events with leaf cells in each block of a range: found(block, n) for n <
// counts(block), of which the first `capacity` are stored.
template <class Candidates>
struct FindEvents {
  mesh::CellRange cells;
  Periods periods;
  Candidates candidates;
  mesh::DeviceArray<const EventRegion> regions;
  int capacity;
  mesh::DeviceArray<std::int32_t> counts, found;

  KOKKOS_INLINE_FUNCTION void operator()(int block) const {
    const mesh::OwnBlock own = cells.blocks(block);
    const mesh::BlockCycles cycles(cells, own.slot);
    int count = 0;
    for (int index = 0; index < cells.cells_per_block(); ++index) {
      if (own.refined >> cells.octant_of(index) & 1) continue;
      const mesh::DevicePosition x = cells.centre({block, own.slot, index});
      candidates.around(x, [&](int event) {
        if (!is_inside(regions(event), periods.cell_around(regions(event), x, 0.0))) return;
        for (int n = 0; n < count && n < capacity; ++n)
          if (found(std::int64_t{block} * capacity + n) == event) return;
        if (count < capacity) found(std::int64_t{block} * capacity + count) = event;
        ++count;
      });
    }
    counts(block) = count;
  }
};

template <class Candidates>
std::vector<BlockEventPair> find_pairs(const mesh::Mesh& mesh, int level,
                                       const Candidates& candidates,
                                       const mesh::DeviceArray<const EventRegion>& regions) {
  const mesh::CellRange& cells = mesh.cells(level);
  const mesh::TreeLevel& blocks = mesh.blocks(level);
  std::vector<BlockEventPair> block_event_pairs;
  for (int capacity = 16; cells.count() > 0; capacity *= 4) {
    const FindEvents<Candidates> kernel{
        cells,
        Periods(mesh.geometry()),
        candidates,
        regions,
        capacity,
        mesh::uninitialised<std::int32_t>("events of blocks", cells.count()),
        mesh::uninitialised<std::int32_t>("events found", std::int64_t{capacity} * cells.count())};
    mesh::for_items("find events of blocks", cells.count(), kernel);
    const auto counts = on_host(TransferKind::numbers, kernel.counts);
    const auto found = on_host(TransferKind::lists, kernel.found);
    int most = 0;
    for (int block = 0; block < cells.count(); ++block) most = std::max(most, counts(block));
    if (most > capacity) continue;
    for (int block = 0; block < cells.count(); ++block) {
      const int slot = blocks.own()[block];
      for (int n = 0; n < counts(block); ++n)
        block_event_pairs.push_back(
            {blocks.key(slot), found(std::int64_t{block} * capacity + n), slot});
    }
    break;
  }
  return block_event_pairs;
}

}  // namespace

std::vector<AffectedBlocks> find_affected_blocks(const mesh::Mesh& mesh, EventSearch search,
                                                 std::span<const EventRegion> regions,
                                                 std::span<const mesh::SphereOverlap> overlaps) {
  const int levels = mesh.finest_level() + 1;
  std::vector<std::vector<BlockEventPair>> block_event_pairs(levels);
  const auto add = [&](int level, std::int32_t slot, std::int32_t event) {
    block_event_pairs[level].push_back({mesh.blocks(level).key(slot), event, slot});
  };
  if (search == EventSearch::blocks) {
    for (const mesh::SphereOverlap& o : overlaps) add(o.level, o.slot, o.item);
  } else if (!regions.empty()) {
    const auto on_device =
        mesh::to_device("events", std::vector<EventRegion>(regions.begin(), regions.end()));
    const auto search_with = [&](const auto& candidates) {
      for (int level = 0; level < levels; ++level)
        block_event_pairs[level] = find_pairs(mesh, level, candidates, on_device);
    };
    if (search == EventSearch::bins) search_with(make_bins(mesh, regions));
    else search_with(AllEvents{static_cast<int>(regions.size())});
  }
  for (std::size_t n = 0; n < regions.size(); ++n)
    if (regions[n].slot >= 0) add(regions[n].level, regions[n].slot, static_cast<std::int32_t>(n));
  std::vector<AffectedBlocks> touched;
  for (int level = 0; level < levels; ++level)
    touched.push_back(in_order(std::move(block_event_pairs[level])));
  return touched;
}

}  // namespace octant::subgrid
