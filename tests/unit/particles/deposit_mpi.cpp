// Clouds in cells: shares, conservation and bits on any number of ranks.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "swarm.hpp"

namespace octant::particles::test {
namespace {

using Cell = std::array<int, 3>;
using Masses = std::map<std::pair<int, Cell>, double>;  // of (level, cell)

// What `swarm`'s particles should give, cell by cell, from the list of all blocks that a rank alone
// has.
class Expectation {
 public:
  explicit Expectation(Swarm& reference) : mesh_(reference.mesh) {
    reference.for_masses([&](int l, const Cell& cell, std::int64_t) { masses_[{l, cell}] = 0.0; });
    for (int l = 0; l <= mesh_.finest_level(); ++l) {
      std::vector<std::int32_t> rows(reference.particles.set(l).count());
      for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<std::int32_t>(n);
      std::vector<double> x[3];
      for (int d = 0; d < 3; ++d) x[d] = reference.particles.set(l).reals(k_position + d, rows);
      const auto mass = reference.particles.set(l).reals(k_mass, rows);
      for (std::size_t n = 0; n < rows.size(); ++n)
        add_cloud(l, {x[0][n], x[1][n], x[2][n]}, mass[n]);
    }
  }

  const Masses& masses() const { return masses_; }

 private:
  void add_cloud(int level, const Point& x, double mass) {
    const double dx = mesh_.geometry().cell_size(level);
    for (int corner = 0; corner < 8; ++corner) {
      Cell cell;
      double weight = 1.0;
      for (int d = 0; d < 3; ++d) {
        const double u = x[d] / dx - 0.5, below = std::floor(u);
        const bool upper = corner >> d & 1;
        cell[d] = static_cast<int>(below) + upper;
        weight *= upper ? u - below : 1.0 - (u - below);
        const int cells =
            static_cast<int>(mesh_.geometry().extent(level)[d]) * mesh_.geometry().block_size();
        if (mesh_.geometry().periodic(d)) cell[d] = (cell[d] + cells) % cells;
        else cell[d] = std::clamp(cell[d], 0, cells - 1);
      }
      for (int l = level; l >= 0; --l) {
        if (const auto found = masses_.find({l, cell}); found != masses_.end())
          found->second += weight * mass;
        for (int& c : cell) c >>= 1;
      }
    }
  }

  const mesh::Mesh& mesh_;
  Masses masses_;
};

struct Case {
  int block_size;
  std::string boundary;
};

class Deposit : public testing::TestWithParam<Case> {
 protected:
  Swarm make(const Communicator& communicator) const {
    return Swarm(small_box(GetParam().block_size, 2, GetParam().boundary), communicator);
  }
};

TEST_P(Deposit, gives_every_cell_the_shares_of_the_clouds_that_touch_it) {
  Swarm reference = make(alone()), swarm = make(Communicator::world());
  for (Swarm* s : {&reference, &swarm}) {
    s->refine({0.4, 0.9, 0.5}, 0.5);
    s->particles.add(scattered(s->mesh.communicator(), 800));
  }
  ASSERT_EQ(swarm.mesh.finest_level(), 2);
  swarm.migrate(Decomposition::hilbert);
  Particles::deposit(swarm.kinds(), 0);
  Particles::deposit(reference.kinds(), 0);
  const Expectation expected(reference);
  const double tolerance = 100.0 * swarm.particles.quantum(0);  // of some 30 clouds in a cell
  swarm.for_masses([&](int l, const Cell& cell, std::int64_t mass) {
    EXPECT_NEAR(static_cast<double>(mass) * swarm.particles.quantum(0),
                expected.masses().at({l, cell}), tolerance)
        << "level " << l << " cell " << cell[0] << " " << cell[1] << " " << cell[2];
  });
  EXPECT_EQ(swarm.fingerprint_of_masses(), reference.fingerprint_of_masses());
}

TEST_P(Deposit, conserves_mass_to_the_last_quantum) {
  Swarm swarm = make(Communicator::world());
  swarm.refine({0.1, 0.2, 0.95}, 0.6);
  const ParticleBatch batch = scattered(Communicator::world(), 3000);
  swarm.particles.add(batch);
  Particles::deposit(swarm.kinds(), 0);
  std::int64_t expected = 0, found = 0;
  for (const double m : batch.mass)
    expected += static_cast<std::int64_t>(m / swarm.particles.quantum(0) + 0.5);
  swarm.for_masses([&](int l, const Cell&, std::int64_t mass) { found += l == 0 ? mass : 0; });
  EXPECT_EQ(Communicator::world().sum(found), Communicator::world().sum(expected));
}

TEST_P(Deposit, has_the_same_bits_in_any_order_and_for_any_owners) {
  Swarm reference = make(alone());
  reference.refine({0.7, 0.5, 0.5}, 0.5);
  reference.particles.add(scattered(reference.mesh.communicator(), 1000));
  Particles::deposit(reference.kinds(), 0);
  for (const auto decomposition :
       {Decomposition::ksection, Decomposition::hilbert, Decomposition::morton}) {
    Swarm swarm = make(Communicator::world());
    swarm.particles.add(scattered(Communicator::world(), 1000, 0.0, true));
    swarm.refine({0.7, 0.5, 0.5}, 0.5);
    swarm.migrate(decomposition);
    Particles::deposit(swarm.kinds(), 0);
    EXPECT_EQ(swarm.fingerprint_of_masses(), reference.fingerprint_of_masses());
    // A finer level alone gives the same again.
    Particles::deposit(swarm.kinds(), 1);
    EXPECT_EQ(swarm.fingerprint_of_masses(), reference.fingerprint_of_masses());
  }
}

TEST_P(Deposit, has_the_same_bits_if_masses_are_reduced_before_a_drift) {
  Swarm reference = make(Communicator::world()), swarm = make(Communicator::world());
  for (Swarm* s : {&reference, &swarm}) {
    s->refine({0.7, 0.5, 0.5}, 0.5);
    s->migrate(Decomposition::hilbert);
    s->particles.add(scattered(Communicator::world(), 1000, 0.1));
    std::vector<double> maxima = Particles::deposit_reduction_terms(s->kinds());
    Communicator::world().max_in_place(std::span(maxima));
    EXPECT_GT(Particles::largest_masses(s->kinds(), maxima).front(), 0.0);
    for (int l = 0; l <= s->mesh.finest_level(); ++l) Particles::drift(s->kinds(), l, 0.01);
    if (s == &swarm) Particles::deposit(s->kinds(), 0, maxima);
    else Particles::deposit(s->kinds(), 0);
  }
  EXPECT_EQ(swarm.fingerprint_of_masses(), reference.fingerprint_of_masses());
}

INSTANTIATE_TEST_SUITE_P(Boxes, Deposit,
                         testing::Values(Case{2, "periodic"}, Case{4, "periodic"},
                                         Case{8, "periodic"}, Case{4, "outflow"},
                                         Case{8, "reflecting"}),
                         [](const auto& info) {
                           return std::to_string(info.param.block_size) + info.param.boundary;
                         });

// The masses of a single particle of mass 1 on the base grid of 12 x 8 x 8 cells of 1/8.
Masses masses_of(const Point& position) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  swarm.particles.add(single(Communicator::world(), position));
  Particles::deposit(swarm.kinds(), 0);
  Masses masses;
  swarm.for_masses([&](int l, const Cell& cell, std::int64_t mass) {
    if (mass > 0) masses[{l, cell}] = static_cast<double>(mass) * swarm.particles.quantum(0);
  });
  return masses;
}

std::int64_t cells_on_all_ranks(const Masses& masses, double expected) {
  for (const auto& [cell, mass] : masses) EXPECT_EQ(mass, expected);
  return Communicator::world().sum(static_cast<std::int64_t>(masses.size()));
}

TEST(Cloud, at_a_cell_centre_is_in_that_cell_alone) {
  const Masses masses = masses_of({0.3125, 0.4375, 0.9375});
  EXPECT_EQ(cells_on_all_ranks(masses, 1.0), 1);
  for (const auto& [cell, mass] : masses) EXPECT_EQ(cell.second, (Cell{2, 3, 7}));
}

TEST(Cloud, on_a_face_is_halved_also_between_blocks) {
  const Masses masses = masses_of({0.5, 0.4375, 0.9375});
  EXPECT_EQ(cells_on_all_ranks(masses, 0.5), 2);
  for (const auto& [cell, mass] : masses)
    EXPECT_TRUE(cell.second == (Cell{3, 3, 7}) || cell.second == (Cell{4, 3, 7}));
}

TEST(Cloud, at_the_corner_of_a_periodic_box_reaches_all_corners) {
  const Masses masses = masses_of({0.0, 0.0, 0.0});
  EXPECT_EQ(cells_on_all_ranks(masses, 0.125), 8);
  for (const auto& [cell, mass] : masses)
    EXPECT_TRUE(cell.second[0] % 11 == 0 && cell.second[1] % 7 == 0 && cell.second[2] % 7 == 0);
}

TEST(Density, integrates_to_the_mass) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world());
  swarm.refine({0.5, 0.5, 0.5}, 0.4);
  swarm.particles.add(scattered(Communicator::world(), 500));
  Particles::deposit(swarm.kinds(), 0);
  const mesh::DeviceArray<double> density("density", 100 * swarm.mesh.blocks(0).slots());
  Kokkos::deep_copy(density, 2.0);  // of the gas
  swarm.particles.add_density(0, {density.data(), 100});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, density);
  double mass = 0.0;
  for (const int slot : swarm.mesh.blocks(0).own())
    for (int c = 0; c < 64; ++c)
      mass += host(slot * 100 + c) * swarm.mesh.geometry().cell_volume(0);
  const double blocks = swarm.mesh.blocks(0).count();
  const double share = mass - 2.0 * blocks / 12.0 * 1.5;
  EXPECT_NEAR(static_cast<double>(Communicator::world().sum(std::llround(share * 1e9))) * 1e-9,
              swarm.totals().mass, 1e-6);
}

// Ranks leave out levels on which nobody has a particle, and those finer than all.
TEST(Deposit, of_a_single_particle_is_on_its_level_and_all_coarser_ones) {
  const std::vector<std::pair<Point, int>> places{{{0.5, 0.5, 0.5}, 2}, {{1.4, 0.1, 0.9}, 0}};
  for (const auto& [place, finest] : places) {
    Swarm swarm(small_box(4, 2, "periodic"), Communicator::world());
    swarm.refine({0.5, 0.5, 0.5}, 0.3);
    swarm.migrate(Decomposition::morton);
    ASSERT_EQ(swarm.mesh.finest_level(), 2);
    swarm.particles.add(single(Communicator::world(), place));
    Particles::deposit(swarm.kinds(), 0);
    std::vector<std::int64_t> found(3);
    swarm.for_masses([&](int l, const Cell&, std::int64_t mass) { found[l] += mass; });
    Communicator::world().sum_in_place(std::span(found));
    for (int l = 0; l <= 2; ++l)
      EXPECT_EQ(static_cast<double>(found[l]) * swarm.particles.quantum(l), l <= finest ? 1.0 : 0.0)
          << "level " << l;
  }
}

// Those of equal particles are right to 2^-36 of one; all of very different ones to 2^-61 of their
// sum. A cell may hold them all.
TEST(Deposit, of_masses_that_differ_much_is_right_to_a_share_of_their_sum) {
  for (const double heaviest : {1.0, 1e5, 1e8, 1e15}) {
    Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
    ParticleBatch batch;
    for (std::uint64_t id = 0; id < 100; ++id) {
      if (static_cast<int>(id % Communicator::world().size()) != Communicator::world().rank())
        continue;
      batch.id.push_back(id);
      batch.position.push_back({0.3125, 0.4375, 0.9375});  // the centre of a cell
      batch.velocity.push_back({0.0, 0.0, 0.0});
      batch.mass.push_back(id == 17 ? heaviest : 1.0);
    }
    swarm.particles.add(batch);
    Particles::deposit(swarm.kinds(), 0);
    const double sum = 99.0 + heaviest, quantum = swarm.particles.quantum(0);
    if (heaviest < 1e6) EXPECT_EQ(quantum, 0x1p-36);
    else EXPECT_TRUE(quantum > sum * 0x1p-63 && quantum <= sum * 0x1p-61) << quantum;
    std::int64_t found = 0;
    swarm.for_masses([&](int, const Cell&, std::int64_t mass) { found += mass; });
    found = Communicator::world().sum(found);
    EXPECT_EQ(static_cast<double>(found) * quantum, sum) << heaviest;
  }
}

TEST(Deposit, of_a_mass_that_is_no_number_is_an_error) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  swarm.particles.add(scattered(Communicator::world(), 100));
  if (swarm.particles.count() > 0 && Communicator::world().rank() == 0)
    Kokkos::deep_copy(Kokkos::View<double, mesh::DeviceSpace, Kokkos::MemoryUnmanaged>(
                          swarm.particles.set(0).columns().mass),
                      std::nan(""));
  EXPECT_THROW(Particles::deposit(swarm.kinds(), 0), RunError);
}

}  // namespace
}  // namespace octant::particles::test
