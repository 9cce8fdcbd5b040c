// Friends of friends for other languages: a small library without MPI or Kokkos, loaded by octools
// (python/octools/compiled.py).
#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "subgrid/friends/cell_list.hpp"

// Computes friends-of-friends groups of points at position[3 n], ...: group[n] is the number of the
// first point in the group of point n. period[d] is infinite if axis d is not periodic. Returns 0,
// or 1 if points cannot be linked: coordinates that are not finite, or too many points.
extern "C" [[gnu::visibility("default")]] int octant_friends_of_friends(const double* position,
                                                                        std::int64_t points,
                                                                        double length,
                                                                        const double* period,
                                                                        std::int32_t* group) {
  using namespace octant::subgrid::friends;
  try {
    if (points > std::numeric_limits<std::int32_t>::max()) return 1;
    std::vector<Point> places(static_cast<std::size_t>(points));
    for (std::size_t n = 0; n < places.size(); ++n)
      places[n] = {position[3 * n], position[3 * n + 1], position[3 * n + 2]};
    const Linking linking{length, {period[0], period[1], period[2]}};
    const auto groups = by_cells(std::span<const Point>(places), linking, Near{});
    std::copy(groups.begin(), groups.end(), group);
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
