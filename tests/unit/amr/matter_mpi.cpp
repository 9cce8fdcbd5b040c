// Kinds of particles together: their order, and a density of members that could not be less alike.
#include "amr/matter.hpp"

#include <gtest/gtest.h>

#include "amr/amr_simulation.hpp"

namespace octant {
namespace {

constexpr double k_gas = 3.2, k_star = 1e4 / 3.0, k_halo = 1e12 / 3.0;

// Halos and stars at the same places, all of them in the first of 8^3 cells.
class TwoKinds final : public problems::Problem {
 public:
  void declare(ParameterSchema&) override {}
  problems::GasState initial_state(const problems::Position&, double) const override {
    return {.density = k_gas};
  }
  std::vector<particles::Kind> particle_kinds() const override {
    return {{.name = "beacons", .description = "lights", .has_mass = false},
            {.name = "stars", .description = "stars"},
            particles::dark_matter()};
  }
  particles::ParticleBatch initial_particles(const std::string& kind,
                                             const Communicator& communicator) override {
    particles::ParticleBatch batch;
    for (std::uint64_t n = 0; n < 10 && communicator.is_root(); ++n) {
      const std::uint64_t first = kind == "stars" ? std::uint64_t{1} << 62 : 0;
      batch.position.push_back({0.0625, 0.0625, 0.0625});
      batch.velocity.push_back({0.0, 0.0, 0.0});
      batch.id.push_back(first + n);
      if (kind != "beacons") batch.mass.push_back(kind == "stars" ? k_star : k_halo);
    }
    return batch;
  }
};

TEST(Matter, adds_the_densities_of_its_kinds_in_their_order) {
  AmrOptions options = AmrOptions::from_text(
      "problem.name = \"sedov\"\nmesh.base_cells = [8, 8, 8]\nmesh.block_size = 4\n", "a test", {});
  options.problem = std::make_unique<TwoKinds>();
  AmrSimulation simulation(Communicator::world(), options);
  simulation.initialise();
  Matter& matter = simulation.matter();
  ASSERT_EQ(matter.kinds().size(), 3u);
  EXPECT_EQ(matter.kinds()[0].name(), "dark");
  EXPECT_EQ(matter.kinds()[1].name(), "stars");
  EXPECT_EQ(matter.kind("beacons"), &matter.kinds()[2]);
  EXPECT_EQ(matter.kind("sinks"), nullptr);
  JointSums joint(Communicator::world());
  std::vector<particles::ParticleTotals> totals;
  particles::Particles::add_totals(matter.kinds(), joint, totals);
  joint.reduce();
  EXPECT_EQ(totals[2].count, 10);

  const auto whole = [](double mass, double quantum) {
    return 10.0 * std::floor(mass / quantum + 0.5) * quantum;
  };
  const double volume = 1.0 / 512.0;
  const double dark = whole(k_halo, matter.kind("dark")->quantum(0)) / volume;
  const double stars = whole(k_star, matter.kind("stars")->quantum(0)) / volume;
  EXPECT_NEAR(dark, 10.0 * k_halo / volume, 1e-9 * dark);
  EXPECT_NEAR(stars, 10.0 * k_star / volume, 1e-9 * stars);  // not lost beside the halos
  const double expected = (k_gas + dark) + stars;
  ASSERT_NE(expected, (k_gas + stars) + dark);

  const mesh::OptionallyOwnedField lent = matter.density(0);
  const gravity::BlockField density = lent.field;
  double densest = 0.0;
  for (const int slot : simulation.mesh().blocks(0).own()) {
    Kokkos::View<const double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
        density.data + slot * density.stride, 64);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, block);
    for (int c = 0; c < 64; ++c) densest = std::max(densest, host(c));
  }
  EXPECT_EQ(Communicator::world().max(densest), expected);
}

}  // namespace
}  // namespace octant
