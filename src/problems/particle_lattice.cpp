#include "problems/particle_lattice.hpp"

#include <cmath>

#include "io/row_range.hpp"

namespace octant::problems {

particles::ParticleBatch lattice_particles(const mesh::Geometry& geometry, int per_cell,
                                           double mass, const Communicator& communicator,
                                           const LatticeMap& map) {
  const double spacing = geometry.cell_size(0) / per_cell;
  std::int64_t points[3], all = 1;
  for (int d = 0; d < 3; ++d) {
    points[d] = std::int64_t{geometry.extent(0)[d]} * geometry.block_size() * per_cell;
    all *= points[d];
  }
  particles::ParticleBatch batch;
  const RowRange own = even_share(all, communicator.rank(), communicator.size());
  for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
    const std::int64_t index[3] = {n % points[0], n / points[0] % points[1],
                                   n / (points[0] * points[1])};
    Position point, &position = batch.position.emplace_back();
    for (int d = 0; d < 3; ++d)
      point[d] = geometry.lower()[d] + (static_cast<double>(index[d]) + 0.5) * spacing;
    map(point, position, batch.velocity.emplace_back());
    for (int d = 0; d < 3; ++d) {
      const double lower = geometry.lower()[d], size = geometry.upper()[d] - lower;
      if (geometry.periodic(d)) position[d] -= size * std::floor((position[d] - lower) / size);
    }
    batch.mass.push_back(mass / static_cast<double>(all));
    batch.id.push_back(static_cast<std::uint64_t>(n));
  }
  return batch;
}

}  // namespace octant::problems
