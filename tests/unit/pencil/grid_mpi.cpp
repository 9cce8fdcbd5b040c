#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;

const Orientation k_orientations[] = {Orientation::x, Orientation::y, Orientation::z,
                                      Orientation::z_direct};

TEST(PencilGrid, GivesEveryCellToOneRankInEveryOrientation) {
  const Cells cells{11, 9, 13};
  for (const ProcessGrid processes : process_grids(world().size(), 9, 9)) {
    const PencilGrid grid(world(), cells, processes);
    for (const Orientation orientation : k_orientations) {
      Array owners(cells);
      for (int rank = 0; rank < processes.ranks(); ++rank) {
        const Box box = grid.box(orientation, rank);
        for (int k = box[2].begin; k < box[2].end; ++k)
          for (int j = box[1].begin; j < box[1].end; ++j)
            for (int i = box[0].begin; i < box[0].end; ++i) owners(i, j, k) += 1.0;
      }
      for (const double owner : owners.values) EXPECT_EQ(owner, 1.0);
    }
    EXPECT_EQ(grid.row().size(), processes.y);
    EXPECT_EQ(grid.column().size(), processes.z);
    EXPECT_EQ(grid.row().rank(), grid.y_index());
    EXPECT_EQ(grid.column().rank(), grid.z_index());
    EXPECT_EQ(grid.rank_of(grid.y_index(), grid.z_index()), world().rank());
  }
}

TEST(PencilGrid, NamesTheRanksThatHoldTheOtherPartsOfALine) {
  const Cells cells{11, 9, 13};
  for (const ProcessGrid processes : process_grids(world().size(), 9, 9)) {
    const PencilGrid grid(world(), cells, processes);
    for (const Orientation orientation : k_orientations) {
      const Box own = grid.box(orientation);
      for (int axis = 0; axis < 3; ++axis) {
        const Communicator* ranks = grid.ranks_along(orientation, axis);
        EXPECT_EQ(ranks == nullptr, own[axis] == (Range{0, cells[axis]}));
        if (!ranks) continue;
        EXPECT_EQ(own[axis], part(cells[axis], ranks->size(), ranks->rank()));
        // The other axes are the same on all of these ranks.
        for (const int other : {(axis + 1) % 3, (axis + 2) % 3})
          for (const int end : {own[other].begin, own[other].end}) {
            EXPECT_EQ(ranks->max(end), end) << to_string(processes) << axis;
            EXPECT_EQ(ranks->max(-end), -end) << to_string(processes) << axis;
          }
      }
    }
    EXPECT_EQ(grid.box(Orientation::z_direct)[1], grid.box(Orientation::x)[1]);
  }
}

TEST(PencilGrid, RefusesWhatDoesNotFit) {
  const int ranks = world().size();
  const auto refusal = [&](ProcessGrid processes, const Cells& cells,
                           Orientation fields = Orientation::x) -> std::string {
    try {
      check_process_grid(processes, ranks, cells, fields);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({1, ranks + 1}, {64, 64, 64}).find("number of ranks"), std::string::npos);
  EXPECT_NE(refusal({0, ranks}, {64, 64, 64}).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal({ranks, 1}, {64, ranks - 1, 64}).find("along y"), std::string::npos);
  EXPECT_NE(refusal({1, ranks}, {64, 64, ranks - 1}).find("along z"), std::string::npos);
  EXPECT_EQ(refusal({1, ranks}, {1, 1, ranks}), "");
  EXPECT_EQ(refusal({1, ranks}, {ranks, 1, ranks}, Orientation::z_direct), "");
  EXPECT_NE(
      refusal({1, ranks}, {ranks - 1, 1, ranks}, Orientation::z_direct).find("dns.pencil_axis"),
      std::string::npos);
}

double value_at(int i, int j, int k) { return i + 100.0 * j + 10000.0 * k; }

std::vector<double> filled(const Layout& layout) {
  const auto [nx, ny, nz] = layout.box.shape();
  std::vector<double> array(static_cast<std::size_t>(layout.box.cells()));
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        array[layout.at(i, j, k)] =
            value_at(layout.box[0].begin + i, layout.box[1].begin + j, layout.box[2].begin + k);
  return array;
}

TEST(Transpose, MovesEveryCellBetweenAnyOrientationsAndOrdersOfAxes) {
  const Cells cells{10, 7, 9};
  const std::array<int, 3> orders[] = {{0, 1, 2}, {2, 0, 1}, {1, 0, 2}};
  for (const ProcessGrid processes : process_grids(world().size(), 7, 9)) {
    const PencilGrid grid(world(), cells, processes);
    for (const TransposeBackend backend : k_transpose_backends)
      for (const auto& [from, to] : {std::pair{Orientation::x, Orientation::y},
                                     {Orientation::y, Orientation::z},
                                     {Orientation::x, Orientation::z},
                                     {Orientation::z, Orientation::x},
                                     {Orientation::x, Orientation::z_direct},
                                     {Orientation::z_direct, Orientation::y}})
        for (const auto& order : orders) {
          auto transpose = Transpose::between(grid, from, to, backend, {0, 1, 2}, order);
          const auto source = filled(Layout::ordered(grid.box(from)));
          const auto target = filled(Layout::ordered(grid.box(to), order));
          std::vector<double> there(target.size(), -1.0), back(source.size(), -1.0);
          transpose.forward(source.data(), there.data());
          EXPECT_EQ(there, target) << to_string(processes) << " " << name_of(backend);
          transpose.backward(there.data(), back.data());
          EXPECT_EQ(back, source) << to_string(processes) << " " << name_of(backend);
          EXPECT_EQ(transpose.traffic().calls, 2);
        }
  }
}

TEST(Transpose, SendsOnlyWhatOtherRanksNeed) {
  const Cells cells{12, 12, 12};
  const int ranks = world().size();
  const PencilGrid grid(world(), cells, {ranks, 1});
  auto transpose = Transpose::between(grid, Orientation::x, Orientation::y, TransposeBackend::p2p);
  const Box box = grid.box(Orientation::x), target = grid.box(Orientation::y);
  const std::int64_t kept = std::int64_t{target[0].count()} * box[1].count() * cells[2];
  std::vector<double> from(box.cells()), to(target.cells());
  transpose.forward(from.data(), to.data());
  EXPECT_EQ(transpose.traffic().bytes, 8 * (box.cells() - kept));
  EXPECT_EQ(transpose.traffic().messages, ranks - 1);
}

TEST(Transpose, ReachesDirectZPencilsWithinAColumn) {
  const Cells cells{12, 12, 12};
  const int ranks = world().size();
  for (const ProcessGrid processes : process_grids(ranks, 12, 12)) {
    const PencilGrid grid(world(), cells, processes);
    auto transpose =
        Transpose::between(grid, Orientation::x, Orientation::z_direct, TransposeBackend::p2p);
    const Box box = grid.box(Orientation::x), target = grid.box(Orientation::z_direct);
    std::vector<double> from(box.cells()), to(target.cells());
    transpose.forward(from.data(), to.data());
    EXPECT_EQ(transpose.traffic().messages, processes.z - 1);
    const std::int64_t kept = std::int64_t{target[0].count()} * box[1].count() * box[2].count();
    EXPECT_EQ(transpose.traffic().bytes, 8 * (box.cells() - kept));
  }
}

TEST(Halo, BringsTheNeighboursCellsAndCorners) {
  const Cells cells{5, 7, 9};
  for (const ProcessGrid processes : process_grids(world().size(), 7, 9))
    for (const auto& [periodic, shared] :
         {std::pair{true, false}, {false, false}, {true, true}, {false, true}}) {
      const PencilGrid grid(world(), cells, processes);
      Halo halo(grid, periodic, periodic, {.messages = {}, .shared_memory = shared});
      const Box box = grid.box(Orientation::x);
      Field first(box), second(box);
      for (int k = -1; k <= first.nz(); ++k)
        for (int j = -1; j <= first.ny(); ++j)
          for (int i = -1; i <= first.nx(); ++i) first(i, j, k) = second(i, j, k) = -7.0;
      for (int k = 0; k < first.nz(); ++k)
        for (int j = 0; j < first.ny(); ++j)
          for (int i = periodic ? -1 : 0; i < first.nx() + periodic; ++i) {
            const int x = (i + cells[0]) % cells[0];
            first(i, j, k) = value_at(x, box[1].begin + j, box[2].begin + k);
            second(i, j, k) = -first(i, j, k);
          }
      Field* const fields[] = {&first, &second};
      Field* const one[] = {&first};
      const auto fill = [&](std::span<Field* const> some) {
        halo.fill_y(some);
        halo.fill_z(some);
      };
      fill(one);  // the next exchanges are larger ones
      fill(fields);
      fill(fields);
      const auto inside = [&](int n, int axis) { return n >= 0 && n < cells[axis]; };
      const auto wrapped = [&](int n, int axis) { return (n + cells[axis]) % cells[axis]; };
      for (int k = -1; k <= first.nz(); ++k)
        for (int j = -1; j <= first.ny(); ++j)
          for (int i = -1; i <= first.nx(); ++i) {
            const int y = box[1].begin + j, z = box[2].begin + k;
            const bool known = periodic || (inside(i, 0) && inside(y, 1) && inside(z, 2));
            const double expected =
                known ? value_at(wrapped(i, 0), wrapped(y, 1), wrapped(z, 2)) : -7.0;
            EXPECT_EQ(first(i, j, k), expected) << to_string(processes) << periodic;
            EXPECT_EQ(second(i, j, k), known ? -expected : -7.0);
          }
    }
}

}  // namespace
}  // namespace octant::pencil
