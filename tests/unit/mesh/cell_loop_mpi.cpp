// Loops over own cells, with both schedules and on any number of ranks.
#include "mesh/add_totals.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

template <class Schedule>
class CellLoop : public testing::Test {};
using Schedules = testing::Types<ThreadPerBlock, TeamPerBlock>;
TYPED_TEST_SUITE(CellLoop, Schedules);

constexpr int k_block_sizes[] = {2, 4, 8};

MeshFixture refined_mesh(int block_size) {
  MeshFixture f(small_box(block_size, 2, "periodic"), {std::min(block_size, 2)}, 8);
  f.refine_at_random(3, 0.3);
  return f;
}

// Numbers of all magnitudes, so that sums show their order.
double rugged(const Point& x) {
  const double s = std::sin(91.0 * x[0]) * std::cos(57.0 * x[1]) + std::sin(33.0 * x[2]);
  return s * std::exp(15.0 * std::sin(7.0 * x[0] + 3.0 * x[1] + 2.0 * x[2]));
}

BlockField scalar_of(MeshFixture& f, int level) {
  return {f.mesh.fields(level).blocks(LevelFields::k_now), f.mesh.layout().stride_slot};
}

// What loops call: structs, as nvcc takes no KOKKOS_LAMBDA in the body of a test.
struct One {
  KOKKOS_FUNCTION double operator()(const Cell&) const { return 1.0; }
};
struct Any {
  KOKKOS_FUNCTION bool operator()(const Cell&) const { return true; }
};
struct Value {
  BlockField field;
  KOKKOS_FUNCTION double operator()(const Cell& cell) const { return *field.at(cell); }
};
struct Above {
  BlockField field;
  double limit;
  KOKKOS_FUNCTION bool operator()(const Cell& cell) const { return *field.at(cell) > limit; }
};
struct OwnBit {
  KOKKOS_FUNCTION std::uint64_t operator()(const Cell& cell) const {
    return std::uint64_t{1} << cell.index;
  }
};
struct CountVisit {
  BlockField visits;
  KOKKOS_FUNCTION void operator()(const Cell& cell) const { *visits.at(cell) += 1.0; }
};
struct WriteCentre {
  CellRange cells;
  BlockField field;
  KOKKOS_FUNCTION void operator()(const Cell& cell) const {
    const DevicePosition x = cells.centre(cell);
    *field.at(cell) = x[0] + 10.0 * x[1] + 100.0 * x[2];
  }
};

template <class Schedule>
void count_visits(const CellRange& cells, const BlockField& visits) {
  for_cells<Schedule>("count visits", cells, CountVisit{visits});
}

bool is_leaf(const Mesh& mesh, int level, int slot, int c) {
  const int N = mesh.layout().block_size, half = N / 2;
  const int octant = (c % N >= half) + 2 * (c / N % N >= half) + 4 * (c / N / N >= half);
  return !(mesh.blocks(level).refined(slot) >> octant & 1);
}

TYPED_TEST(CellLoop, visits_every_own_cell_once_and_no_other) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const std::int64_t cells = std::int64_t{N} * N * N;
      const DeviceArray<double> visits("visits", f.mesh.blocks(level).slots() * cells);
      count_visits<TypeParam>(f.mesh.cells(level), {visits.data(), cells});
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, visits);
      for (int slot = 0; slot < f.mesh.blocks(level).slots(); ++slot)
        for (std::int64_t c = 0; c < cells; ++c)
          ASSERT_EQ(host(slot * cells + c), f.mesh.blocks(level).key(slot) == k_no_key ? 0.0 : 1.0);
    }
  }
}

TYPED_TEST(CellLoop, visits_every_leaf_cell_once_and_no_other) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    f.set([](const Point&) { return 0.0; }, [](const Point&) { return 0.0; });
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const BlockField visits = scalar_of(f, level);
      count_visits<TypeParam>(f.mesh.leaf_cells(level), visits);
      for (const int slot : f.mesh.blocks(level).own())
        for (int c = 0; c < N * N * N; ++c)
          ASSERT_EQ(*visits.at({0, slot, c}), is_leaf(f.mesh, level, slot, c) ? 1.0 : 0.0);
    }
  }
}

TYPED_TEST(CellLoop, batches_make_up_the_whole) {
  MeshFixture f = refined_mesh(4);
  f.set([](const Point&) { return 0.0; }, [](const Point&) { return 0.0; });
  for (int level = 0; level <= f.mesh.finest_level(); ++level) {
    const CellRange all = f.mesh.cells(level);
    const BlockField visits = scalar_of(f, level);
    for (int begin = 0; begin < all.count(); begin += 5)
      count_visits<TypeParam>(all.batch(begin, std::min(5, all.count() - begin)), visits);
    f.for_own_cells(level, [](const Point&, double* cell) { ASSERT_EQ(*cell, 1.0); });
  }
}

TYPED_TEST(CellLoop, knows_the_centres_of_cells) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const CellRange cells = f.mesh.cells(level);
      for_cells<TypeParam>("write centres", cells, WriteCentre{cells, scalar_of(f, level)});
      f.for_own_cells(level, [](const Point& x, double* cell) {
        ASSERT_EQ(*cell, x[0] + 10.0 * x[1] + 100.0 * x[2]);
      });
    }
  }
}

void expect_lists_of_own_blocks(const Mesh& mesh) {
  for (int level = 0; level <= mesh.geometry().max_level(); ++level) {
    const auto own = mesh.blocks(level).own();
    const auto listed =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, mesh.cells(level).blocks);
    ASSERT_EQ(listed.size(), own.size());
    for (std::size_t n = 0; n < own.size(); ++n) {
      EXPECT_EQ(listed(n).slot, own[n]);
      EXPECT_EQ(listed(n).refined, mesh.blocks(level).refined(own[n]));
    }
  }
}

TEST(CellRange, follows_every_change_of_the_mesh) {
  MeshFixture f(small_box(4, 2, "periodic"), {2}, 8);
  expect_lists_of_own_blocks(f.mesh);
  for (int round = 0; round < 4; ++round) {
    f.mesh.regrid(f.random_flags(round, round % 2 == 0 ? 0.4 : 0.1));
    expect_lists_of_own_blocks(f.mesh);
    std::vector<std::vector<int>> owners;
    for (int level = 0; level <= f.mesh.geometry().max_level(); ++level) {
      owners.emplace_back();
      for (const int slot : f.mesh.blocks(level).own())
        owners.back().push_back(
            static_cast<int>((static_cast<std::uint64_t>(f.mesh.blocks(level).key(slot)) + round) %
                             f.mesh.communicator().size()));
    }
    f.mesh.migrate(owners);
    expect_lists_of_own_blocks(f.mesh);
  }
}

TYPED_TEST(CellLoop, of_an_empty_level_finds_nothing) {
  MeshFixture f(small_box(4, 2, "periodic"), {2}, 8);
  const CellRange none = f.mesh.leaf_cells(2);
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(largest<TypeParam>("none", none, One{}), std::numeric_limits<double>::lowest());
  EXPECT_EQ(smallest<TypeParam>("none", none, One{}), std::numeric_limits<double>::max());
  EXPECT_TRUE(find_cells<TypeParam>("none", none, Any{}).empty());
}

// Sums in as many parts as Sums says, and the largest value.
template <int sum_parts>
struct Sums {
  static constexpr int count = 3, sums = 2, parts = sum_parts;
  BlockField field;

  template <class V>
  KOKKOS_FUNCTION void operator()(const Cell& cell, V* terms) const {
    const V x = SimdTraits<V>::load(field.at(cell));
    terms[0] = x;
    terms[1] = x * x;
    terms[2] = x;
  }
};
struct SumInOrder : Sums<1> {
  KOKKOS_FUNCTION void operator()(const Cell& cell, double* terms) const {
    Sums<1>::operator()<double>(cell, terms);
  }
};

// What block_totals promises, by one thread.
std::array<double, 3> reference_totals(const Mesh& mesh, int level, int slot,
                                       const BlockField& field, bool leaves_only, int parts) {
  const int N = mesh.layout().block_size;
  if (N / 2 < parts) parts = 1;
  std::vector<std::array<double, 2>> sums(parts, {0.0, 0.0});
  double most = 0.0;
  for (int c = 0; c < N * N * N; ++c) {
    const double x = *field.at({0, slot, c});
    const bool leaf = is_leaf(mesh, level, slot, c);
    if (leaf) sums[c % parts] = {sums[c % parts][0] + x, sums[c % parts][1] + x * x};
    if (leaf || !leaves_only) most = std::max(most, x);
  }
  std::array<double, 3> totals{0.0, 0.0, most};
  for (const auto& [sum, squares] : sums) totals = {totals[0] + sum, totals[1] + squares, most};
  return totals;
}

TYPED_TEST(CellLoop, sums_of_blocks_have_one_order_whatever_the_schedule) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    f.set(rugged, rugged);
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const BlockField field = scalar_of(f, level);
      const auto own = f.mesh.blocks(level).own();
      for (const CellRange& cells : {f.mesh.cells(level), f.mesh.leaf_cells(level)}) {
        const auto packed = block_totals<TypeParam>("in parts", cells, Sums<k_sum_parts>{field});
        const auto in_order = block_totals<TypeParam>("in order", cells, SumInOrder{{field}});
        const auto lanes_in_order = block_totals<TypeParam>("in order", cells, Sums<1>{field});
        ASSERT_EQ(packed.size(), own.size());
        for (std::size_t n = 0; n < own.size(); ++n) {
          const auto expected = [&](int parts) {
            return reference_totals(f.mesh, level, own[n], field, cells.leaves_only, parts);
          };
          EXPECT_EQ(packed[n], expected(k_sum_parts));
          EXPECT_EQ(in_order[n], expected(1));
          EXPECT_EQ(lanes_in_order[n], expected(1));
        }
      }
    }
  }
}

TYPED_TEST(CellLoop, totals_are_added_exactly_on_the_host_and_on_the_device) {
  MeshFixture f = refined_mesh(8);
  f.set(rugged, rugged);
  ReproducibleSum here[2], there[2], expected[2];
  double most_here = 0.0, most_there = 0.0, most = 0.0;
  const std::array<double, 2> scales{0.1, -3.0};
  for (int level = 0; level <= f.mesh.finest_level(); ++level) {
    const CellRange cells = f.mesh.cells(level);
    const Sums<k_sum_parts> terms{scalar_of(f, level)};
    const auto [of_host] = loops::add_on_host<TypeParam>("sums", cells, terms, scales, here);
    const auto [of_device] = loops::add_on_device<TypeParam>("sums", cells, terms, scales, there);
    most_here = std::max(most_here, of_host);
    most_there = std::max(most_there, of_device);
    for (const auto& totals : block_totals<TypeParam>("sums", cells, terms)) {
      for (int n = 0; n < 2; ++n) expected[n] += scales[n] * totals[n];
      most = std::max(most, totals[2]);
    }
  }
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(here[n].to_double(), expected[n].to_double());
    EXPECT_EQ(there[n].to_double(), expected[n].to_double());
  }
  EXPECT_EQ(most_here, most);
  EXPECT_EQ(most_there, most);
}

// The same blocks as a mesh has, in other slots.
void reverse_slots(const Mesh& like, Mesh& mesh) {
  std::vector<Mesh::BlockList> levels;
  for (int level = 0; level <= like.finest_level(); ++level) {
    const TreeLevel& blocks = like.blocks(level);
    levels.emplace_back();
    for (std::size_t n = blocks.own().size(); n-- > 0;) {
      levels.back().keys.push_back(blocks.key(blocks.own()[n]));
      levels.back().refined.push_back(blocks.refined(blocks.own()[n]));
    }
  }
  mesh.replace_blocks(levels);
}

TYPED_TEST(CellLoop, results_do_not_depend_on_slots) {
  MeshFixture f = refined_mesh(8), g(small_box(8, 2, "periodic"), {2}, 8);
  reverse_slots(f.mesh, g.mesh);
  f.set(rugged, rugged);
  g.set(rugged, rugged);
  for (int level = 0; level <= f.mesh.finest_level(); ++level) {
    const auto measure = [level](MeshFixture& of) {
      return block_totals<TypeParam>("sums", of.mesh.cells(level),
                                     Sums<k_sum_parts>{scalar_of(of, level)});
    };
    EXPECT_EQ(measure(f), measure(g));
    const auto great_cells = [level](MeshFixture& of) {
      const BlockField field = scalar_of(of, level);
      std::vector<std::array<int, 2>> found;
      for (const Cell& cell :
           find_cells<TypeParam>("great cells", of.mesh.leaf_cells(level), Above{field, 1e3}))
        found.push_back({cell.block_index, cell.index});
      return found;
    };
    EXPECT_EQ(great_cells(f), great_cells(g));
  }
}

TYPED_TEST(CellLoop, finds_the_extremes_of_leaf_cells) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    f.set(rugged, rugged);
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const BlockField field = scalar_of(f, level);
      double least = std::numeric_limits<double>::max(), most = -least;
      for (const int slot : f.mesh.blocks(level).own())
        for (int c = 0; c < N * N * N; ++c)
          if (is_leaf(f.mesh, level, slot, c)) {
            least = std::min(least, *field.at({0, slot, c}));
            most = std::max(most, *field.at({0, slot, c}));
          }
      const Value value{field};
      EXPECT_EQ(largest<TypeParam>("most", f.mesh.leaf_cells(level), value), most);
      EXPECT_EQ(smallest<TypeParam>("least", f.mesh.leaf_cells(level), value), least);
    }
  }
}

TYPED_TEST(CellLoop, finds_cells_in_the_order_of_keys) {
  for (const int N : k_block_sizes) {
    MeshFixture f = refined_mesh(N);
    f.set(rugged, rugged);
    for (int level = 0; level <= f.mesh.finest_level(); ++level) {
      const BlockField field = scalar_of(f, level);
      const auto found =
          find_cells<TypeParam>("positive cells", f.mesh.leaf_cells(level), Above{field, 0.0});
      std::size_t n = 0;
      for (const int slot : f.mesh.blocks(level).own())
        for (int c = 0; c < N * N * N; ++c) {
          if (!is_leaf(f.mesh, level, slot, c) || !(*field.at({0, slot, c}) > 0.0)) continue;
          ASSERT_LT(n, found.size());
          EXPECT_EQ(found[n].slot, slot);
          EXPECT_EQ(found[n].index, c);
          ++n;
        }
      EXPECT_EQ(n, found.size());
    }
  }
}

TYPED_TEST(CellLoop, joins_the_masks_of_a_blocks_cells) {
  MeshFixture f = refined_mesh(4);
  for (int level = 0; level <= f.mesh.finest_level(); ++level) {
    const DeviceArray<std::uint64_t> masks("masks", f.mesh.blocks(level).slots());
    Kokkos::deep_copy(masks, std::uint64_t{1} << 63);
    join_masks<TypeParam>("cells visited", f.mesh.leaf_cells(level), masks, OwnBit{});
    for (const int slot : f.mesh.blocks(level).own()) {
      std::uint64_t expected = std::uint64_t{1} << 63;
      for (int c = 0; c < 64; ++c)
        if (is_leaf(f.mesh, level, slot, c)) expected |= std::uint64_t{1} << c;
      EXPECT_EQ(masks(slot), expected);
    }
  }
}

}  // namespace
}  // namespace octant::mesh::test
