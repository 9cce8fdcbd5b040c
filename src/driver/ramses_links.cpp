#include "driver/ramses_links.hpp"

#include <algorithm>
#include <tuple>

#include "driver/ramses_octs.hpp"

namespace octant::driver {

namespace {

bool has_walls(const RamsesOutput& output, int axis) { return output.coarse_cells[axis] > 1; }

std::int64_t octs_across(int level) { return std::int64_t{1} << (level - 1); }

// From 0, as they come in the order of axes.
int region_of(const RamsesOutput& output, int axis, bool above) {
  int before = 0;
  for (int d = 0; d < axis; ++d) before += has_walls(output, d) ? 2 : 0;
  return before + (above ? 1 : 0);
}

// From 0, of the coarse cell that an oct of level 1 divides; both ends of an axis meet, as RAMSES
// has it also where there are walls.
std::int32_t coarse_cell(const RamsesOutput& output, const RamsesPlace& place) {
  std::int64_t cell = 0;
  for (int d = 2; d >= 0; --d) {
    const int extent = output.coarse_cells[d];
    cell = cell * extent + (place[d] + output.cells_below[d] + extent) % extent;
  }
  return static_cast<std::int32_t>(cell);
}

// Calls visit(place, mask of refined cells, whether it is in the box) for all, in their order.
template <class Visit>
void for_octs(const HeldLevel& level, const Visit& visit) {
  for (const OctItem& oct : level.octs) visit(place_of(oct.key), oct.refined, true);
  for (const OctImage& image : level.images) {
    unsigned refined = 0;
    for (unsigned cell = 0; cell < k_octants; ++cell)
      refined |= (level.octs[image.of].refined >> (cell ^ image.mirrored) & 1) << cell;
    visit(image.place, refined, false);
  }
}

}  // namespace

void add_images(const RamsesOutput& output, HeldLevel& level) {
  level.images.clear();
  const std::int64_t last = octs_across(level.number) - 1;
  for (std::int64_t n = 0; n < std::ssize(level.octs); ++n) {
    const RamsesPlace place = place_of(level.octs[n].key);
    for (int direction = 0; direction < 27; ++direction) {
      OctImage image{.place = place, .region = -1, .mirrored = 0, .of = n};
      bool exists = true;
      for (int d = 0, rest = direction; d < 3; ++d, rest /= 3) {
        const int step = rest % 3 - 1;
        if (step == 0) continue;
        exists = exists && has_walls(output, d) && place[d] == (step < 0 ? 0 : last);
        image.place[d] += step;
        image.mirrored |= 1u << d;
        image.region = region_of(output, d, step > 0);
      }
      if (exists && image.region >= 0) level.images.push_back(image);
    }
  }
  std::ranges::sort(level.images, {}, [](const OctImage& image) {
    return std::tuple(image.region, image.place[2], image.place[1], image.place[0]);
  });
}

OctNumbers::OctNumbers(const HeldLevel& level) {
  numbers_.reserve(static_cast<std::size_t>(level.size()));
  std::int32_t next = level.first_oct;
  for_octs(level, [&](const RamsesPlace& place, unsigned, bool) {
    numbers_.insert(key_of({place[0] + 1, place[1] + 1, place[2] + 1}), next++);
  });
}

std::int32_t OctNumbers::at(const RamsesPlace& place) const {
  if (std::ranges::min(place) < -1) return 0;
  const std::int32_t* number = numbers_.find(key_of({place[0] + 1, place[1] + 1, place[2] + 1}));
  return number ? *number : 0;
}

RamsesTreeLevel linked(const RamsesOutput& output, const RamsesDomains& domains,
                       const HeldLevel& level, const OctNumbers& coarser, const OctNumbers& finer,
                       std::int64_t most) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  const std::int32_t coarse = nx * ny * nz;
  const std::int64_t across = octs_across(level.number);
  // The index of a cell of the coarser level, which an oct of this one may divide.
  const auto index_of = [&](RamsesPlace cell) -> std::int32_t {
    if (level.number == 1) return 1 + coarse_cell(output, cell);
    std::int64_t octant = 0;
    RamsesPlace oct;
    for (int d = 0; d < 3; ++d) {
      if (!has_walls(output, d)) cell[d] = (cell[d] + across) % across;
      oct[d] = cell[d] >> 1;
      octant |= (cell[d] & 1) << d;
    }
    const std::int32_t number = coarser.at(oct);
    return number > 0 ? static_cast<std::int32_t>(coarse + octant * most + number) : 0;
  };
  RamsesTreeLevel links;
  for_octs(level, [&](const RamsesPlace& place, unsigned refined, bool is_inside) {
    for (int d = 0; d < 3; ++d)
      links.centre[d].push_back(output.cells_below[d] + (static_cast<double>(place[d]) + 0.5) /
                                                            static_cast<double>(across));
    links.father.push_back(index_of(place));
    for (int face = 0; face < 6; ++face) {
      RamsesPlace beside = place;
      beside[face / 2] += face % 2 == 0 ? -1 : 1;
      links.neighbour[face].push_back(index_of(beside));
    }
    for (int c = 0; c < k_octants; ++c) {
      RamsesPlace cell;
      for (int d = 0; d < 3; ++d) cell[d] = 2 * place[d] + (c >> d & 1);
      links.son[c].push_back(finer.at(cell));
      links.owner[c].push_back(is_inside ? domains.owner(level.number, cell) + 1 : 0);
      links.flag[c].push_back(refined >> c & 1);
    }
  });
  return links;
}

std::vector<std::int32_t> sons_of_coarse_cells(const RamsesOutput& output, const HeldLevel& first) {
  const auto& [nx, ny, nz] = output.coarse_cells;
  std::vector<std::int32_t> sons(static_cast<std::size_t>(nx * ny * nz), 0);
  std::int32_t next = first.first_oct;
  for_octs(first, [&](const RamsesPlace& place, unsigned, bool) {
    sons[static_cast<std::size_t>(coarse_cell(output, place))] = next++;
  });
  return sons;
}

}  // namespace octant::driver
