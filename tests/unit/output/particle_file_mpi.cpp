// Particles through a file, to another number of ranks.
#include "output/particle_file.hpp"

#include <gtest/gtest.h>

#include "../io/scratch.hpp"
#include "mesh/interpolation.hpp"

namespace octant {
namespace {

struct Box {
  mesh::Mesh mesh;
  particles::Particles stars;

  explicit Box(const Communicator& communicator)
      : mesh(mesh::Geometry({.base_cells = {16, 16, 16}, .block_size = 4}), communicator,
             CommOptions{}, {.variables = {{"scalar"}}, .ghosts = {2}},
             std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()),
        stars({.name = "stars",
               .description = "stars",
               .columns = {{"birth_time", "time", "when the star was born", -1.0},
                           {"explosions", "1", "of the star", std::int64_t{7}}}},
              mesh, CommOptions{}) {}
};

// One star in each of this rank's blocks.
void give_birth(Box& box, double time) {
  particles::ParticleBatch batch;
  for (const int slot : box.mesh.blocks(0).own()) {
    auto x = box.mesh.geometry().origin(0, morton_decode(box.mesh.blocks(0).key(slot)));
    for (double& coordinate : x) coordinate += 0.01 + 0.1 * time;
    batch.position.push_back(x);
    batch.velocity.push_back({x[1], x[2], x[0]});
    batch.mass.push_back(1.0 + x[0]);
  }
  batch.columns["birth_time"] = std::vector<double>(batch.size(), time);
  box.stars.create(std::move(batch));
}

std::vector<std::int64_t> numbers_of(const particles::Particles& stars, bool all) {
  auto own = stars.in_order_of_id();
  const auto times = std::get<0>(stars.read_column("birth_time", own));
  std::vector<std::int64_t> young;
  for (std::size_t n = 0; n < own.size(); ++n)
    if (all || times[n] > 0.3) young.push_back(own[n]);
  return young;
}

TEST(ParticleFile, keeps_columns_and_the_ids_that_were_used) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  Box box(world);
  for (const double time : {0.125, 0.25, 0.375}) give_birth(box, time);
  box.stars.remove(numbers_of(box.stars, false));  // the last ones
  {
    Hdf5Writer file(world, scratch.path("stars.h5"));
    write_particles(file, world, contents_of(box.stars), Precision::float64);
    file.commit();
  }
  // Every rank reads all of it for itself.
  const Communicator alone = world.split(world.rank());
  Box copy(alone), born(alone);
  const Hdf5Reader file(alone, scratch.path("stars.h5"));
  require_particles(file, {&copy.stars, 1});
  read_particles(file, copy.stars);
  for (const double time : {0.125, 0.25, 0.375}) give_birth(born, time);
  born.stars.remove(numbers_of(born.stars, false));
  EXPECT_EQ(copy.stars.count(), 2 * 64);
  EXPECT_EQ(copy.stars.assigned_ids(), 3 * 64);
  const auto own = numbers_of(copy.stars, true), expected = numbers_of(born.stars, true);
  EXPECT_EQ(copy.stars.read_ids(own), born.stars.read_ids(expected));
  EXPECT_EQ(copy.stars.read_positions(own), born.stars.read_positions(expected));
  EXPECT_EQ(copy.stars.read_velocities(own), born.stars.read_velocities(expected));
  EXPECT_EQ(copy.stars.read_masses(own), born.stars.read_masses(expected));
  for (const char* column : {"birth_time", "explosions"})
    EXPECT_EQ(copy.stars.read_column(column, own), born.stars.read_column(column, expected));
  EXPECT_EQ(describe_particles(file), "stars: 128 particles\n");
}

}  // namespace
}  // namespace octant
