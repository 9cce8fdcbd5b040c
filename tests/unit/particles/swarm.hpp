// A small mesh that refines around a point, with particles: the same on any number of ranks.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "core/random.hpp"
#include "decomp/partition.hpp"
#include "particles/cloud.hpp"
#include "particles/particles.hpp"

namespace octant::particles::test {

using Point = std::array<double, 3>;
using VectorFunction = std::function<Point(const Point&)>;

inline mesh::MeshOptions small_box(int block_size, int max_level, const std::string& boundary) {
  mesh::MeshOptions options;
  options.block_size = block_size;
  const int side = std::max(block_size, 4);
  options.base_cells = {3 * side, 2 * side, 2 * side};
  options.upper = {1.5, 1.0, 1.0};
  options.max_level = max_level;
  options.boundary.fill(std::vector(2, value_named<mesh::Boundary>(boundary).value()));
  return options;
}

// A communicator of this rank alone: what it computes is the reference for all ranks together.
inline Communicator alone() { return Communicator::world().split(Communicator::world().rank()); }

// Particles 0 .. count - 1 of mass 1 to 2, those that fall to this rank, somewhere in the box.
inline ParticleBatch scattered(const Communicator& communicator, std::uint64_t count,
                               double speed = 0.0, bool reversed = false) {
  ParticleBatch batch;
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint64_t id = reversed ? count - 1 - n : n;
    if (static_cast<int>(id * 7 / 3 % communicator.size()) != communicator.rank()) continue;
    const RandomStream random(1, id, 0);
    batch.id.push_back(id);
    batch.position.push_back({1.5 * random.uniform(0), random.uniform(1), random.uniform(2)});
    const auto velocity = [&](int draw) { return speed * (2.0 * random.uniform(draw) - 1.0); };
    batch.velocity.push_back({velocity(3), velocity(4), velocity(5)});
    batch.mass.push_back(1.0 + random.uniform(6));
  }
  return batch;
}

inline ParticleBatch single(const Communicator& communicator, const Point& position,
                            const Point& velocity = {0.0, 0.0, 0.0}) {
  if (!communicator.is_root()) return {};
  return {.position = {position}, .velocity = {velocity}, .mass = {1.0}, .id = {42}};
}

class Swarm {
 public:
  Swarm(const mesh::MeshOptions& options, const Communicator& communicator,
        Kind kind = dark_matter())
      : mesh(mesh::Geometry(options), communicator, CommOptions{},
             {.variables = {{"scalar"}}, .ghosts = {2}},
             std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()),
        particles(std::move(kind), mesh, CommOptions{}) {}

  // Refines the octants whose centres lie within `radius` of a point, the finer the nearer, and
  // derefines the others.
  void refine(const Point& centre, double radius) {
    for (int round = 0; round <= mesh.geometry().max_level(); ++round) {
      mesh::FlagMasks flags(mesh.geometry().max_level() + 1);
      for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
        flags[l].assign(mesh.blocks(l).slots(), 0);
        const double side = 0.5 * mesh.geometry().cell_size(l) * mesh.geometry().block_size();
        for (const int slot : mesh.blocks(l).own()) {
          const auto corner = mesh.geometry().origin(l, morton_decode(mesh.blocks(l).key(slot)));
          for (int o = 0; o < 8; ++o) {
            double square = 0.0;
            for (int d = 0; d < 3; ++d)
              square += std::pow(corner[d] + ((o >> d & 1) + 0.5) * side - centre[d], 2);
            const int bit = 1 + (o & 1) + 4 * (1 + (o >> 1 & 1)) + 16 * (1 + (o >> 2));
            if (std::sqrt(square) < radius / (1 << l)) flags[l][slot] |= std::uint64_t{1} << bit;
          }
        }
      }
      if (!mesh.regrid(flags)) return;
      Particles::adapt_to_mesh(kinds());
    }
  }

  // The particles as the only kind on the mesh.
  std::span<Particles> kinds() { return std::span(&particles, 1); }
  ParticleTotals totals() {
    JointSums joint(mesh.communicator());
    std::vector<ParticleTotals> totals;
    Particles::add_totals(kinds(), joint, totals);
    joint.reduce();
    return totals.front();
  }

  void migrate(Decomposition decomposition) {
    std::vector<std::vector<int>> owners(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      std::vector<CostItem> items;
      for (const int slot : mesh.blocks(l).own())
        items.push_back({morton_decode(mesh.blocks(l).key(slot)), l, 1.0});
      owners[l] = partition(decomposition, mesh.communicator(), {mesh.geometry().extent(0)}, items);
    }
    particles.migrate(owners);
    mesh.migrate(owners);
    Particles::adapt_to_mesh(kinds());
  }

  // Kick-drift-kick of a level and, in two steps each, of all finer ones.
  void advance(int level, double dt, const VectorFunction& acceleration) {
    kick(level, 0.5 * dt, acceleration);
    Particles::drift(kinds(), level, dt);
    if (level < mesh.finest_level())
      for (int step = 0; step < 2; ++step) advance(level + 1, 0.5 * dt, acceleration);
    kick(level, 0.5 * dt, acceleration);
    Particles::synchronise(kinds(), level);
  }

  void kick(int level, double dt, const VectorFunction& acceleration) {
    const auto here = sampled(level, acceleration);
    const auto coarser = level > 0 ? sampled(level - 1, acceleration) : here;
    particles.kick(level, particles.fetch(level, field(here), field(coarser), 3), dt);
  }

  // The values at cell centres, [slot][component][cell].
  mesh::DeviceArray<double> sampled(int level, const VectorFunction& function) const {
    const int N = mesh.geometry().block_size(), cells = N * N * N;
    const double dx = mesh.geometry().cell_size(level);
    std::vector<double> values(3 * static_cast<std::size_t>(cells) * mesh.blocks(level).slots());
    for (const int slot : mesh.blocks(level).own()) {
      const auto corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      for (int c = 0; c < cells; ++c) {
        const auto value =
            function({corner[0] + (c % N + 0.5) * dx, corner[1] + (c / N % N + 0.5) * dx,
                      corner[2] + (c / N / N + 0.5) * dx});
        for (int d = 0; d < 3; ++d)
          values[(3 * static_cast<std::size_t>(slot) + d) * cells + c] = value[d];
      }
    }
    const auto field = mesh::uninitialised<double>("field", values.size());
    Kokkos::deep_copy(field, mesh::to_device("field", values));
    return field;
  }
  VectorField field(const mesh::DeviceArray<double>& values) const {
    const std::int64_t N = mesh.geometry().block_size();
    return {values.data(), 3 * N * N * N, N * N * N};
  }

  // Calls visit(level, cell's coordinates in the level, quanta) for all own cells.
  void for_masses(const std::function<void(int, const std::array<int, 3>&, std::int64_t)>& visit) {
    const int N = mesh.geometry().block_size();
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.mass(l));
      for (const int slot : mesh.blocks(l).own()) {
        const auto block = morton_decode(mesh.blocks(l).key(slot));
        for (int c = 0; c < N * N * N; ++c)
          visit(l,
                {static_cast<int>(block[0]) * N + c % N, static_cast<int>(block[1]) * N + c / N % N,
                 static_cast<int>(block[2]) * N + c / N / N},
                host(static_cast<std::int64_t>(slot) * N * N * N + c));
      }
    }
  }

  std::vector<std::int64_t> all_own() const {
    std::vector<std::int64_t> all(particles.count());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<std::int64_t>(n);
    return all;
  }

  // A number that two states share if and, but for a miracle, only if all bits are the same.
  std::uint64_t fingerprint() const {
    const auto all = all_own();
    const auto ids = particles.read_ids(all);
    const auto x = particles.read_positions(all), v = particles.read_velocities(all);
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
      std::uint64_t word = mixed(0, ids[n]);
      for (int d = 0; d < 3; ++d)
        word = mixed(mixed(word, std::bit_cast<std::uint64_t>(x[3 * n + d])),
                     std::bit_cast<std::uint64_t>(v[3 * n + d]));
      sum += word;
    }
    return mesh.communicator().sum(sum);
  }
  std::uint64_t fingerprint_of_masses() {
    std::uint64_t sum = 0;
    for_masses([&](int level, const std::array<int, 3>& cell, std::int64_t mass) {
      std::uint64_t word = mixed(level, static_cast<std::uint64_t>(mass));
      for (const int c : cell) word = mixed(word, c);
      sum += word;
    });
    return mesh.communicator().sum(sum);
  }

  mesh::Mesh mesh;
  Particles particles;

 private:
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const auto words =
        philox4x32_10({{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
                        static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)}},
                      1, 2);
    return std::uint64_t{words.word[0]} << 32 | words.word[1];
  }
};

}  // namespace octant::particles::test
