// The distributed mesh on any number of ranks: ghosts, refinement, migration, coupling of levels.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

double linear(const Point& x) { return 3.0 + 0.5 * x[0] - 0.25 * x[1] + 2.0 * x[2]; }
double other_linear(const Point& x) { return 1.0 - x[0] + 0.125 * x[1] + 0.5 * x[2]; }

struct Case {
  int block_size, patch;
  GhostShape ghosts;
};

// Calls visit(patch cell's centre, distance outside the domain, value pointers) for every ghost
// cell that a sweep may read.
void for_ghosts(MeshFixture& f, int level, const GhostShape& ghosts,
                const std::function<void(const Point&, double, double)>& visit) {
  const LevelHalo& halo = f.mesh.halo(level);
  const TileSet& tiles = halo.tiles;
  const FieldPointers now = f.mesh.pointers(level, LevelFields::k_now);
  const int N = tiles.block_size, M = tiles.patch, T = tiles.blocks_per_patch;
  const double dx = f.mesh.geometry().cell_size(level);
  for (int t = 0; t < tiles.count(); ++t) {
    const Tile& tile = tiles.tiles(t);
    const auto box_at = [&](int ib, int jb, int kb) {
      return tiles.table(tile.table + (kb * tiles.reach + jb) * tiles.reach + ib);
    };
    for (int b = 0; b < T * T * T; ++b) {
      const int ib = 1 + b % T, jb = 1 + b / T % T, kb = 1 + b / T / T;
      const int slot = box_at(ib, jb, kb);
      if (slot < 0 || tiles.boxes(slot).buffer != k_own) continue;
      const auto corner =
          f.mesh.geometry().origin(level, morton_decode(f.mesh.blocks(level).key(slot)));
      const int first = -ghosts.reach, last = N + ghosts.reach;
      for (int k = first; k < last; ++k)
        for (int j = first; j < last; ++j)
          for (int i = first; i < last; ++i) {
            const auto beyond = [N](int c) { return c < 0 ? -c : c >= N ? c - N + 1 : 0; };
            const bool inside = beyond(i) + beyond(j) + beyond(k) == 0;
            if (inside || !ghosts.contains(beyond(i), beyond(j), beyond(k))) continue;
            const auto step = [N](int c) { return c < 0 ? -1 : c >= N ? 1 : 0; };
            const int box_index = box_at(ib + step(i), jb + step(j), kb + step(k));
            ASSERT_GE(box_index, 0);
            const CellBox box = tiles.boxes(box_index);
            const double* cell =
                now.buffer[box.buffer] + box.offset((i + N) % N, (j + N) % N, (k + N) % N);
            visit({corner[0] + (i + 0.5) * dx, corner[1] + (j + 0.5) * dx,
                   corner[2] + (k + 0.5) * dx},
                  cell[0], cell[box.stride_variable]);
          }
    }
  }
  (void)M;
}

// As the solver for the potential does between two sweeps.
void use_working_memory(Mesh& mesh) {
  mesh.release_ghosts();
  fill(mesh.working_memory().allocate("solver", 1 << 16), std::numeric_limits<double>::quiet_NaN());
}

class MeshGhosts : public testing::TestWithParam<Case> {};

TEST_P(MeshGhosts, of_linear_fields_are_exact_across_ranks_and_levels) {
  const auto [block_size, patch, ghosts] = GetParam();
  MeshFixture f(small_box(block_size, block_size > 8 ? 2 : 3, "outflow"), ghosts, patch);
  f.refine_at_random(4, block_size > 8 ? 0.05 : 0.3);
  ASSERT_GE(f.mesh.finest_level(), 2);
  f.set(linear, other_linear);
  for (int l = 0; l <= f.mesh.finest_level(); ++l) {
    use_working_memory(f.mesh);
    f.mesh.fill_ghosts(l, LevelFields::k_now, 1.0);
    std::int64_t checked = 0;
    for_ghosts(f, l, ghosts, [&](const Point& x, double scalar, double vector) {
      // Two coarse cells from the boundary, where mirrored values bend the slopes.
      if (!f.is_inside(x, 4.0 * f.mesh.geometry().cell_size(l))) return;
      EXPECT_NEAR(scalar, linear(x), 1e-12);
      EXPECT_NEAR(vector, other_linear(x), 1e-12);
      ++checked;
    });
    if (l > 0) {
      EXPECT_GT(f.mesh.communicator().sum(checked), 0);
    }
  }
}

// Within a coarse step, where fine levels take shorter ones. Of the later coarse state ranks tell
// each other no more than is interpolated from.
TEST_P(MeshGhosts, between_two_times_are_interpolated_in_time) {
  const auto [block_size, patch, ghosts] = GetParam();
  MeshFixture f(small_box(block_size, block_size > 8 ? 2 : 3, "outflow"), ghosts, patch);
  f.refine_at_random(4, block_size > 8 ? 0.05 : 0.3);
  for (const double theta : {0.0, 0.25}) {
    f.set(linear, other_linear);
    for (int l = 0; l <= f.mesh.finest_level(); ++l) {
      f.mesh.fill_ghosts(l, LevelFields::k_now, 1.0);
      f.mesh.fields(l).commit(1);
    }
    f.set(other_linear, linear);
    for (int l = 0; l <= f.mesh.finest_level(); ++l) {
      std::fill_n(f.mesh.fields(l).halo(LevelFields::k_now), f.mesh.halo(l).halo_doubles, NAN);
      f.mesh.refresh_halo(l, LevelFields::k_now);
    }
    const auto scalar_then = [theta](const Point& x) {
      return (1.0 - theta) * linear(x) + theta * other_linear(x);
    };
    const auto vector_then = [theta](const Point& x) {
      return (1.0 - theta) * other_linear(x) + theta * linear(x);
    };
    for (int l = f.mesh.finest_level(); l > 0; --l) {
      f.set_level(l, scalar_then, vector_then);
      f.mesh.fill_ghosts(l, LevelFields::k_now, theta);
      for_ghosts(f, l, ghosts, [&](const Point& x, double scalar, double vector) {
        if (!f.is_inside(x, 4.0 * f.mesh.geometry().cell_size(l))) return;
        EXPECT_NEAR(scalar, scalar_then(x), 1e-12);
        EXPECT_NEAR(vector, vector_then(x), 1e-12);
      });
    }
  }
}

TEST_P(MeshGhosts, beyond_reflecting_walls_are_mirror_images) {
  const auto [block_size, patch, ghosts] = GetParam();
  MeshFixture f(small_box(block_size, 2, "reflecting"), ghosts, patch);
  f.refine_at_random(3, 0.4);
  // Fields that the mirror symmetry leaves alone are exact even where coarse cells are
  // interpolated.
  f.set([](const Point&) { return 2.0; }, [](const Point&) { return 3.0; });
  for (int l = 0; l <= f.mesh.finest_level(); ++l) {
    f.mesh.fill_ghosts(l, LevelFields::k_now, 1.0);
    for_ghosts(f, l, ghosts, [&](const Point& x, double scalar, double vector) {
      const bool outside_x = x[0] < 0.0 || x[0] > 1.5;
      EXPECT_EQ(scalar, 2.0);
      EXPECT_EQ(vector, outside_x ? -3.0 : 3.0);
    });
  }
}

TEST_P(MeshGhosts, wrap_around_periodic_axes) {
  const auto [block_size, patch, ghosts] = GetParam();
  MeshFixture f(small_box(block_size, 0, "periodic"), ghosts, patch);
  const auto wave = [](const Point& x) {
    return std::sin(2 * M_PI * (x[0] / 1.5 + 2 * x[1])) + std::cos(2 * M_PI * x[2]);
  };
  f.set(wave, wave);
  f.mesh.fill_ghosts(0, LevelFields::k_now, 1.0);
  for_ghosts(f, 0, ghosts,
             [&](const Point& x, double scalar, double) { EXPECT_NEAR(scalar, wave(x), 1e-12); });
}

INSTANTIATE_TEST_SUITE_P(Blocks, MeshGhosts,
                         testing::Values(Case{2, 8, {2}}, Case{4, 8, {2}}, Case{4, 8, {3}},
                                         Case{8, 8, {2}}, Case{8, 8, {3}}, Case{8, 16, {2}},
                                         Case{16, 16, {2}}, Case{32, 16, {2}},
                                         Case{4, 8, {3, GhostShape::Kind::cube}},
                                         Case{8, 16, {3, GhostShape::Kind::cube}}),
                         [](const auto& info) {
                           const Case& c = info.param;
                           const bool cubic = c.ghosts.kind == GhostShape::Kind::cube;
                           return "of_" + std::to_string(c.block_size) + "_in_patches_of_" +
                                  std::to_string(c.patch) + "_with_" +
                                  std::to_string(c.ghosts.reach) + (cubic ? "_cubic" : "") +
                                  "_ghosts";
                         });

// Volume of all leaf octants; their field's integral.
struct Integral {
  double volume = 0, scalar = 0;
};

Integral integrate_leaves(MeshFixture& f) {
  std::vector<double> volume, scalar;
  const int N = f.mesh.layout().block_size, half = N / 2;
  for (int l = 0; l <= f.mesh.finest_level(); ++l) {
    const double v = f.mesh.geometry().cell_volume(l);
    for (const int slot : f.mesh.blocks(l).own())
      for (int c = 0; c < N * N * N; ++c) {
        const int octant = (c % N >= half) + 2 * (c / N % N >= half) + 4 * (c / N / N >= half);
        if (f.mesh.blocks(l).refined(slot) >> octant & 1) continue;
        volume.push_back(v);
        scalar.push_back(v * f.mesh.fields(l).blocks(0)[slot * f.mesh.layout().stride_slot + c]);
      }
  }
  return {reproducible_sum(f.mesh.communicator(), volume),
          reproducible_sum(f.mesh.communicator(), scalar)};
}

TEST(Mesh, leaves_cover_the_domain_once_after_any_regrid) {
  MeshFixture f(small_box(4, 3, "periodic"), {2}, 8);
  for (int round = 0; round < 8; ++round) {
    f.mesh.regrid(f.random_flags(round, round % 3 == 2 ? 0.05 : 0.4));
    f.set(linear, linear);
    EXPECT_NEAR(integrate_leaves(f).volume, 1.5, 1e-12);
  }
}

TEST(Mesh, refinement_and_derefinement_conserve) {
  MeshFixture f(small_box(4, 3, "periodic"), {2}, 8);
  const auto bumpy = [](const Point& x) {
    return 2.0 + std::sin(40 * x[0] * x[1]) * std::cos(30 * x[2]);
  };
  f.set(bumpy, bumpy);
  const double before = integrate_leaves(f).scalar;
  for (int round = 0; round < 8; ++round) {
    f.mesh.regrid(f.random_flags(round, round % 3 == 2 ? 0.05 : 0.4));
    f.mesh.restrict_all();
    EXPECT_NEAR(integrate_leaves(f).scalar, before, 1e-13 * before * 20);
  }
}

TEST(Mesh, migration_moves_every_block_with_its_cells) {
  MeshFixture f(small_box(8, 2, "outflow"), {2}, 8);
  f.refine_at_random(3, 0.3);
  f.set(linear, other_linear);
  const auto counts = f.mesh.tree().global_counts();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<int>> owners(f.mesh.geometry().max_level() + 1);
    for (int l = 0; l <= f.mesh.geometry().max_level(); ++l)
      for (const int slot : f.mesh.blocks(l).own())
        owners[l].push_back(static_cast<int>(
            RandomStream(round, static_cast<std::uint64_t>(f.mesh.blocks(l).key(slot)), l)
                .uniform(0) *
            f.mesh.communicator().size()));
    f.mesh.migrate(owners);
    EXPECT_EQ(f.mesh.tree().global_counts(), counts);
    for (int l = 0; l <= f.mesh.finest_level(); ++l)
      f.for_own_cells(l, [&](const Point& x, double* cell) {
        EXPECT_EQ(cell[0], linear(x));
        EXPECT_EQ(cell[f.mesh.layout().stride_variable], other_linear(x));
      });
  }
}

// More than a rank sends at a time.
TEST(Mesh, many_blocks_migrate_in_turns) {
  MeshOptions options = small_box(16, 0, "periodic");
  options.base_cells = {128, 128, 128};
  options.upper = {2.0, 2.0, 2.0};
  MeshFixture f(options, {2}, 16);
  f.set(linear, other_linear);
  const int ranks = f.mesh.communicator().size();
  for (int round = 1; round < 4; ++round) {
    std::vector<std::vector<int>> owners(1);
    for (const int slot : f.mesh.blocks(0).own())
      owners[0].push_back(static_cast<int>(f.mesh.blocks(0).key(slot) * round % 7) % ranks);
    f.mesh.migrate(owners);
    EXPECT_EQ(f.mesh.tree().global_counts()[0], 512);
    f.for_own_cells(0, [&](const Point& x, double* cell) {
      EXPECT_EQ(cell[0], linear(x));
      EXPECT_EQ(cell[f.mesh.layout().stride_variable], other_linear(x));
    });
  }
}

TEST(Mesh, more_ranks_than_blocks_is_legal) {
  MeshOptions options = small_box(8, 1, "periodic");
  options.base_cells = {8, 8, 8};
  options.upper = {1.0, 1.0, 1.0};
  MeshFixture f(options, {2}, 8);
  f.set(linear, linear);
  f.mesh.fill_ghosts(0, LevelFields::k_now, 1.0);
  f.refine_at_random(2, 0.5);
  EXPECT_GT(f.mesh.tree().global_counts()[1], 0);
}

}  // namespace
}  // namespace octant::mesh::test
