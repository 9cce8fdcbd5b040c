// Point sources of photons: share of each cell in their photons.
#pragma once

#include "core/compiler.hpp"
#include "mesh/cell_range.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid::ionization {

// Source at a point in code units.
struct PointSource {
  double position[3];
  double rate;  // photons per s
};

// Share along one axis of a cell whose centre is at `distance` from a source: 1 inside the cell,
// 1/2 on its face, 0 outside.
KOKKOS_FORCEINLINE_FUNCTION double share_along_axis(double distance, double cell_size) {
  constexpr double rounding = 1e-9;
  const double d = Kokkos::abs(distance);
  if (d < (0.5 - rounding) * cell_size) return 1.0;
  return d <= (0.5 + rounding) * cell_size ? 0.5 : 0.0;
}

// Photons per s that all sources emit into the cell at this centre. The shares of the cells
// around a source have the sum 1, also beside finer cells, because each of the eight octants around
// it lies in exactly one leaf cell; those outside the domain are lost.
KOKKOS_INLINE_FUNCTION double photons_into_cell(const mesh::DeviceArray<const PointSource>& sources,
                                                const Periods& periods,
                                                const mesh::DevicePosition& centre,
                                                double cell_size) {
  double rate = 0.0;
  for (std::size_t n = 0; n < sources.extent(0); ++n) {
    const PointSource& source = sources(n);
    double share = 1.0;
    for (int d = 0; d < 3 && share > 0.0; ++d)
      share *= share_along_axis(periods.nearest(d, centre[d] - source.position[d]), cell_size);
    rate += share * source.rate;
  }
  return rate;
}

}  // namespace octant::subgrid::ionization
