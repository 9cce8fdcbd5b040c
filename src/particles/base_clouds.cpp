// Density of all particles on the base level, with clouds of the size of a base cell.
//
// The base blocks around each rank's own blocks, of any owner, have arrays on that rank, whose
// masses are then sent to their owners.
#include <algorithm>
#include <cstring>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_range.hpp"
#include "mesh/launch.hpp"
#include "particles/cloud.hpp"
#include "particles/masses.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

// Base block that contains a block, and the arrays of the 27 base blocks around it.
struct BaseHome {
  BlockCoordinate first_cell[3] = {-1, -1, -1};
  std::int32_t array[27] = {};
};

void add_base_clouds_of(const ParticleSet& set, const LevelFrame& base, double quantum,
                        const DeviceArray<const BaseHome>& homes,
                        const DeviceArray<std::int64_t>& masses) {
  const ParticleColumns p = set.columns();
  const int N = base.block_size;
  const double per_quantum = 1.0 / quantum;
  mesh::for_items(
      {"deposit on base level", {52.0, 28.0}}, set.count(), KOKKOS_LAMBDA(int n) {
        const BaseHome& home = homes(p.home[n]);
        int cell[3][2];
        double weight[3];
        for (int d = 0; d < 3; ++d) {
          const double centre = base.in_cells(d, p.position[d][n]) - 0.5;
          const double below = Kokkos::floor(centre);
          weight[d] = centre - below;
          cell[d][0] = static_cast<int>(static_cast<BlockCoordinate>(below) - home.first_cell[d]);
          cell[d][1] = cell[d][0] + 1;
        }
        const auto whole = static_cast<std::int64_t>(p.mass[n] * per_quantum + 0.5);
        const auto put = [&](int c, int b, int a, std::int64_t mass) {
          const int at[3] = {cell[0][a], cell[1][b], cell[2][c]};
          int position = 0, index = 0;
          for (int d = 2; d >= 0; --d) {
            position = 3 * position + (at[d] >= 0) + (at[d] >= N);
            index = N * index + (at[d] & (N - 1));
          }
          add_mass(&masses(std::int64_t{home.array[position]} * N * N * N + index), mass);
        };
        const std::int64_t upper = share(whole, weight[2]);
        for (int c = 0; c < 2; ++c) {
          const std::int64_t layer = c == 0 ? whole - upper : upper;
          const std::int64_t back = share(layer, weight[1]);
          for (int b = 0; b < 2; ++b) {
            const std::int64_t row = b == 0 ? layer - back : back;
            const std::int64_t right = share(row, weight[0]);
            put(c, b, 0, row - right);
            put(c, b, 1, right);
          }
        }
      });
}

}  // namespace

void Particles::add_base_clouds(const mesh::BlockField& density) const {
  OCTANT_REQUIRE(mesh_.geometry().periodic(0), "clouds of one size require a periodic domain");
  const double quantum = measure_masses().quantum;
  const LevelFrame base(mesh_.geometry(), 0);
  const int N = base.block_size;
  const std::int64_t cells = std::int64_t{N} * N * N;

  KeyTable<std::int32_t> array_of;
  std::vector<Key> keys;
  std::vector<std::vector<BaseHome>> homes(mesh_.finest_level() + 1);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    homes[level].resize(blocks.slots());
    for (const int slot : blocks.own()) {
      BlockCoordinates block = morton_decode(blocks.key(slot));
      BaseHome& home = homes[level][slot];
      for (int d = 0; d < 3; ++d) {
        block[d] >>= level;
        home.first_cell[d] = block[d] * N;
      }
      const auto around = mesh_.geometry().keys_around(0, morton_encode(block));
      for (int n = 0; n < 27; ++n) {
        const std::int32_t* known = array_of.find(around[n]);
        home.array[n] = known ? *known : static_cast<std::int32_t>(keys.size());
        if (known) continue;
        array_of.insert(around[n], home.array[n]);
        keys.push_back(around[n]);
      }
    }
  }
  const auto masses = mesh::zeros<std::int64_t>("base masses", std::ssize(keys) * cells);
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    add_base_clouds_of(levels_[level].set, base, quantum,
                       mesh::to_device("base homes", homes[level]), masses);

  // Masses of own blocks are sent, too, so that all masses are added in the same way.
  const std::vector<std::int64_t> found = to_vector(TransferKind::numbers, masses);
  std::vector<std::int64_t> sent;
  std::vector<Key> wanted;
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const auto of_block = std::span(found).subspan(n * cells, cells);
    if (std::ranges::all_of(of_block, [](std::int64_t mass) { return mass == 0; })) continue;
    wanted.push_back(keys[n]);
    sent.push_back(static_cast<std::int64_t>(keys[n]));
    sent.insert(sent.end(), of_block.begin(), of_block.end());
  }
  const auto owners = mesh_.tree().owners(0, wanted);
  const auto routed = route_bytes(mesh_.communicator(), owners, std::as_bytes(std::span(sent)),
                                  static_cast<std::size_t>(cells + 1) * sizeof(std::int64_t));
  const auto arrived = items_of<std::int64_t>(routed.items);
  std::vector<std::int64_t> sums(mesh_.blocks(0).slots() * cells, 0);
  for (std::size_t first = 0; first < arrived.size(); first += cells + 1) {
    const mesh::Node* node = mesh_.blocks(0).find(static_cast<Key>(arrived[first]));
    OCTANT_REQUIRE(node && node->slot >= 0, "masses of a base block were sent to the wrong rank");
    for (std::int64_t c = 0; c < cells; ++c) sums[node->slot * cells + c] += arrived[first + 1 + c];
  }
  const auto summed = mesh::to_device("base masses", sums);
  const double factor = quantum / mesh_.geometry().cell_volume(0);
  mesh::announce_cells("add density", mesh_.cells(0), {24.0, 2.0});
  mesh::for_cells(
      "add density", mesh_.cells(0), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        *density.at(cell) += factor * static_cast<double>(summed(cell.slot * cells + cell.index));
      });
}

}  // namespace octant::particles
