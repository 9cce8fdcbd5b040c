#include "gravity/interpolated.hpp"

#include <cmath>

#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Rows of a plane of a patch that are computed, and rows up to a depth of 2 that are read for them.
// All rows are computed if `rows` is null.
template <int T>
struct RequiredRows {
  const PatchRows* rows;

  KOKKOS_FORCEINLINE_FUNCTION RowSet of(int k) const {
    return (rows ? rows->of(k) : ~RowSet{0}) & rows_within<T>(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION RowSet near(int k) const {
    return (rows ? rows->near(k, 2) : ~RowSet{0}) & rows_within<T>(2);
  }
};

// Replaces the masked cells of a row by interpolated values.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION void fill_masked(const CoarseBox<T>& coarse, const PatchMask<T>& mask,
                                             const PatchScratch<T, 2>& phi, int j, int k) {
  constexpr std::uint32_t pairs = ((1u << (T / 2 + 2)) - 1) << 1;  // bits of pairs -1 .. T/2
  const std::uint32_t even = pairs & ~mask.pairs(0, j, k), odd = pairs & ~mask.pairs(1, j, k);
  if ((even | odd) == 0) return;
  const InterpolatedRow<T> interpolated(coarse, j, k);
  const auto put = [](double* to, std::uint32_t masked, SimdDouble value) OCTANT_INLINE_LAMBDA {
    PackOf::store(to, select(lanes_of(masked), value, PackOf::load(to)));
  };
  for_pairs(-1, T / 2 + 2, [&](int e) OCTANT_INLINE_LAMBDA {
    put(phi.pairs(0, j, k) + e, even >> (e + 2), interpolated.even(e));
    put(phi.pairs(1, j, k) + e, odd >> (e + 2), interpolated.odd(e));
  });
}

// Returns true if a cell of a row may have a masked neighbour.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near_end(const PatchMask<T>& mask, int j, int k) {
  constexpr RowCells inside = cells_within<T>(0), beside = cells_within<T>(1);
  const RowCells across =
      mask.row(j - 1, k) & mask.row(j + 1, k) & mask.row(j, k - 1) & mask.row(j, k + 1);
  return (across & inside) != inside || (mask.row(j, k) & beside) != beside;
}

// Subtracts the sum of the neighbours from cells of one parity in a row, if their bits are set.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION void subtract_neighbours(const PatchScratch<T, 2>& given,
                                                     std::uint32_t inside, int parity, int j, int k,
                                                     double* row) {
  const Neighbours<T, 2> around(given, parity, j, k);
  for (int e = 0; e < T / 2; e += PackOf::width) {
    const SimdDouble sum = around.sum(e);
    for (int lane = 0; lane < PackOf::width && e + lane < T / 2; ++lane)
      if ((inside >> (e + lane + 2) & 1) != 0) row[e + lane] -= PackOf::lane(sum, lane);
  }
}

template <int T>
void move_boundary(const PatchLevel& level, const GridMask& mask, const double* boxes, double* f) {
  const auto masked = level.masked_patches();
  const auto strips = level.patches().strips();
  for_teams(
      "gravity: boundary values", masked.size(), teams(PatchScratch<T, 2>::bytes()),
      KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = masked(team.league_rank());
        const PatchScratch<T, 2> given(team);
        const PatchMask<T> here = mask.of<T>(patch);
        const CoarseBox<T> box{boxes + patch * CoarseBox<T>::doubles};
        for_planes<T>(team, 1, [&](int k) {
          for_rows_in(here.rows->near(k, 1) & rows_within<T>(1), [&](int j) OCTANT_INLINE_LAMBDA {
            clear_row(given, j, k);
            fill_masked(box, here, given, j, k);
          });
        });
        team.team_barrier();
        for_planes<T>(team, 0, [&](int k) {
          for_rows_in(here.rows->of(k) & rows_within<T>(0), [&](int j) OCTANT_INLINE_LAMBDA {
            if (!is_near_end(here, j, k)) return;
            double* row = row_of(strips.data(), T, f, patch, j, k);
            if (!row) return;
            for (int parity = 0; parity < 2; ++parity)
              subtract_neighbours<T>(given, here.pairs(parity, j, k), parity, j, k,
                                     row + parity * (T / 2));
          });
        });
      });
}

template <int T>
void interpolate_patches(const PatchLevel& level, const double* boxes, double* phi) {
  const auto strips = level.patches().strips();
  // Cost: interpolation along y and z to T/2 + 2 coarse cells of a row, then along x.
  constexpr double coarse = 0.5 * T + 2.0, fine = T;
  for_teams(
      {"gravity: interpolate",
       {8.0 + 8.0 * coarse * coarse * coarse / (fine * fine * fine), 9.0 * coarse / fine + 3.0}},
      level.patches().own(), patch_teams<T>(64), KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = team.league_rank();
        const CoarseBox<T> box{boxes + patch * CoarseBox<T>::doubles};
        for_rows<T>(team, 0, [&](int j, int k) {
          double* row = row_of(strips.data(), T, phi, patch, j, k);
          if (!row) return;
          const InterpolatedRow<T> interpolated(box, j, k);
          for_pairs(0, T / 2, [&](int e) OCTANT_INLINE_LAMBDA {
            store_within<T / 2>(row, e, interpolated.even(e));
            store_within<T / 2>(row + T / 2, e, interpolated.odd(e));
          });
        });
      });
}

// Differences phi(i + 1) - phi(i - 1) and phi(i + 2) - phi(i - 2) of cells of one parity in a row.
template <int T>
struct Differences {
  const double *below, *above, *far_below, *far_above;

  KOKKOS_FORCEINLINE_FUNCTION Differences(const PatchScratch<T, 2>& phi, int axis, int parity,
                                          int j, int k) {
    if (axis == 0) {
      below = phi.pairs(1 - parity, j, k) - 1 + parity;
      above = below + 1;
      far_below = phi.pairs(parity, j, k) - 1;
      far_above = far_below + 2;
    } else {
      const int y = axis == 1 ? 1 : 0, z = 1 - y;
      below = phi.pairs(parity, j - y, k - z);
      above = phi.pairs(parity, j + y, k + z);
      far_below = phi.pairs(parity, j - 2 * y, k - 2 * z);
      far_above = phi.pairs(parity, j + 2 * y, k + 2 * z);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION SimdDouble near(int e) const {
    return PackOf::load(above + e) - PackOf::load(below + e);
  }
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble far(int e) const {
    return PackOf::load(far_above + e) - PackOf::load(far_below + e);
  }
};

// Extrapolates phi by two cells beyond the domain along an axis, with a cubic polynomial.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION void extrapolate(const Team& team, const PatchTable& table, int axis,
                                             const PatchScratch<T, 2>& phi) {
  const int next = axis == 0 ? 1 : axis == 1 ? 3 : 9;
  for (int side = 0; side < 2; ++side) {
    if (table[13 + (side == 0 ? -next : next)] >= 0) continue;
    in_team(team, T, [&](int b) {
      for (int a = 0; a < T; ++a) {
        const auto inwards = [&](int n) -> double& {
          const int c = side == 0 ? n : T - 1 - n;
          const int i = axis == 0 ? c : a, j = axis == 0 ? a : axis == 1 ? c : b;
          return phi.pairs(i & 1, j, axis == 2 ? c : b)[i >> 1];
        };
        for (int n = -1; n >= -2; --n)
          inwards(n) =
              4.0 * (inwards(n + 1) + inwards(n + 3)) - 6.0 * inwards(n + 2) - inwards(n + 4);
      }
    });
  }
}

// Loads the potential of an own patch and two cells around it. Beyond the boundary of the level the
// potential is interpolated from the boxes, or extrapolated without boxes.
template <int T>
struct PatchPotential {
  DeviceArray<const PatchTable> tables;
  DeviceArray<const StripTable> strips;
  DeviceArray<const std::uint8_t> masked;
  const double *phi, *boxes;
  GridMask mask;

  PatchPotential(const PatchLevel& level, const Surroundings& around, const double* phi)
      : tables(level.tables()),
        strips(level.patches().strips()),
        masked(level.masked()),
        phi(phi),
        boxes(around.boxes ? around.boxes->data() : nullptr),
        mask(around.mask) {}
  static constexpr std::size_t bytes() { return PatchScratch<T, 2>::bytes(); }

  KOKKOS_FORCEINLINE_FUNCTION RequiredRows<T> wanted(std::int64_t patch) const {
    return {masked(patch) && boxes ? mask.rows.data() + patch : nullptr};
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const Team& team, std::int64_t patch,
                                        const PatchScratch<T, 2>& potential) const {
    const PatchTable& table = tables(patch);
    const RequiredRows<T> rows = wanted(patch);
    for_planes<T>(team, 2, [&](int k) {
      for_rows_in(rows.near(k), [&](int j) OCTANT_INLINE_LAMBDA {
        gather_row(RowOffsets<T>(table, strips.data(), j, k), phi, j, k, potential);
      });
    });
    if (masked(patch) && !boxes) {
      team.team_barrier();
      for (int axis = 0; axis < 3; ++axis) extrapolate<T>(team, table, axis, potential);
    } else if (masked(patch)) {
      team.team_barrier();
      const CoarseBox<T> box{boxes + patch * CoarseBox<T>::doubles};
      const PatchMask<T> here = mask.of<T>(patch);
      for_planes<T>(team, 2, [&](int k) {
        for_rows_in(rows.near(k),
                    [&](int j) OCTANT_INLINE_LAMBDA { fill_masked(box, here, potential, j, k); });
      });
    }
    team.team_barrier();
  }
};

template <int T>
void accelerate(const PatchLevel& level, const Surroundings& around, const double* phi, int order,
                double cell_size, const VectorTarget& target) {
  const PatchPotential<T> values(level, around, phi);
  const SimdDouble near(order == 4 ? -8.0 / (12.0 * cell_size) : -1.0 / (2.0 * cell_size));
  const SimdDouble far(order == 4 ? 1.0 / (12.0 * cell_size) : 0.0);
  // Cost: reads phi, writes three components, each from two differences.
  for_teams(
      {"gravity: acceleration", {32.0, 15.0}}, level.patches().own(),
      patch_teams<T>(values.bytes()), KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = team.league_rank();
        const PatchScratch<T, 2> potential(team);
        values.load(team, patch, potential);
        const RequiredRows<T> wanted = values.wanted(patch);
        for_planes<T>(team, 0, [&](int k) {
          for_rows_in(wanted.of(k), [&](int j) OCTANT_INLINE_LAMBDA {
            double rows[3][2 * rounded_up(T / 2)];
            for (int axis = 0; axis < 3; ++axis) {
              const Differences<T> even(potential, axis, 0, j, k), odd(potential, axis, 1, j, k);
              for_pairs(0, T / 2, [&](int e) OCTANT_INLINE_LAMBDA {
                store_pairs(rows[axis] + 2 * e, near * even.near(e) + far * even.far(e),
                            near * odd.near(e) + far * odd.far(e));
              });
            }
            target.set_row(patch, j, k, rows);
          });
        });
      });
}

// Energy that forces along one axis do not represent, from the potential of five cells in a row.
struct UnresolvedEnergy {
  SimdDouble second, third, fourth;  // factors of squared differences of this order

  UnresolvedEnergy(int order, double field)
      : second(order == 4 ? 0.0 : field / 6.0),
        third(0.5 * (order == 4 ? field / 30.0 : field / 180.0)),
        fourth(order == 4 ? field / 630.0 : field / 1512.0) {}

  KOKKOS_FORCEINLINE_FUNCTION SimdDouble of(SimdDouble far_below, SimdDouble below, SimdDouble here,
                                            SimdDouble above, SimdDouble far_above) const {
    const SimdDouble a = (here - below) - (below - far_below), b = (above - here) - (here - below),
                     c = (far_above - above) - (above - here);  // second differences
    const SimdDouble d = a - SimdDouble(2.0) * b + c;
    return second * b * b + third * ((b - a) * (b - a) + (c - b) * (c - b)) + fourth * d * d;
  }

  // Sets the energy of the cells of one parity in a row.
  template <int T>
  KOKKOS_FORCEINLINE_FUNCTION void set_row(const PatchScratch<T, 2>& potential, int parity, int j,
                                           int k, double* row) const {
    const double* here = potential.pairs(parity, j, k);
    for_pairs(0, T / 2, [&](int e) OCTANT_INLINE_LAMBDA {
      SimdDouble energy(0.0);
      for (int axis = 0; axis < 3; ++axis) {
        const Differences<T> d(potential, axis, parity, j, k);
        energy = energy + of(PackOf::load(d.far_below + e), PackOf::load(d.below + e),
                             PackOf::load(here + e), PackOf::load(d.above + e),
                             PackOf::load(d.far_above + e));
      }
      store_within<T / 2>(row, e, energy);
    });
  }
};

template <int T>
void find_unresolved_energy(const PatchLevel& level, const Surroundings& around, const double* phi,
                            int order, double cell_size, double constant, double* result) {
  const PatchPotential<T> values(level, around, phi);
  const UnresolvedEnergy unresolved(order, 1.0 / (8.0 * M_PI * constant * cell_size * cell_size));
  // Cost: reads phi, writes the energy. An axis takes seven differences and 16 operations.
  for_teams(
      {"gravity: unresolved energy", {16.0, 69.0}}, level.patches().own(),
      patch_teams<T>(values.bytes()), KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = team.league_rank();
        const PatchScratch<T, 2> potential(team);
        values.load(team, patch, potential);
        const RequiredRows<T> wanted = values.wanted(patch);
        for_planes<T>(team, 0, [&](int k) {
          for_rows_in(wanted.of(k), [&](int j) OCTANT_INLINE_LAMBDA {
            double* row = row_of(values.strips.data(), T, result, patch, j, k);
            if (!row) return;
            for (int parity = 0; parity < 2; ++parity)
              unresolved.set_row<T>(potential, parity, j, k, row + parity * (T / 2));
          });
        });
      });
}

// Sums the squares of second differences, and of phi, over the cells of every own patch.
template <int T>
void sum_squares(const PatchLevel& level, const Surroundings& around, const double* phi,
                 double* variations, double* potentials) {
  const PatchPotential<T> values(level, around, phi);
  // Cost: reads phi. An axis takes 6 operations, phi itself 2.
  for_teams(
      {"gravity: norms of the potential", {8.0, 20.0}}, level.patches().own(),
      patch_teams<T>(values.bytes() + 2 * T * sizeof(double) + 64),
      KOKKOS_LAMBDA(const Team& team) {
        const std::int64_t patch = team.league_rank();
        const PatchScratch<T, 2> potential(team);
        auto* sums = static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(2 * T * sizeof(double), 64));
        values.load(team, patch, potential);
        const RequiredRows<T> wanted = values.wanted(patch);
        for_planes<T>(team, 0, [&](int k) {
          double variation = 0.0, square = 0.0;
          for_rows_in(wanted.of(k), [&](int j) OCTANT_INLINE_LAMBDA {
            for (int parity = 0; parity < 2; ++parity) {
              const std::uint32_t inside =
                  wanted.rows ? values.mask.template of<T>(patch).pairs(parity, j, k)
                              : ~std::uint32_t{0};
              const Neighbours<T, 2> at(potential, parity, j, k);
              const double* here = potential.pairs(parity, j, k);
              for (int e = 0; e < T / 2; ++e) {
                if ((inside >> (e + 2) & 1) == 0) continue;
                const double twice = 2.0 * here[e], x = (at.left[e] + at.right[e]) - twice,
                             y = (at.below_y[e] + at.above_y[e]) - twice,
                             z = (at.below_z[e] + at.above_z[e]) - twice;
                variation += (x * x + y * y) + z * z;
                square += here[e] * here[e];
              }
            }
          });
          sums[2 * k] = variation;
          sums[2 * k + 1] = square;
        });
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          double variation = 0.0, square = 0.0;
          for (int k = 0; k < T; ++k) {
            variation += sums[2 * k];
            square += sums[2 * k + 1];
          }
          variations[patch] = variation;
          potentials[patch] = square;
        });
      });
}

}  // namespace

FieldNorms field_norms(const PatchLevel& level, const Surroundings& around, const double* phi) {
  const auto variations = mesh::uninitialised<double>("variations", level.patches().own());
  const auto potentials = mesh::uninitialised<double>("potentials", level.patches().own());
  with_side(level.patches(), [&](auto T) {
    sum_squares<T.value>(level, around, phi, variations.data(), potentials.data());
  });
  ReproducibleSum sums[] = {own_sum(variations), own_sum(potentials)};
  reproducible_sum(level.patches().communicator(), sums);
  return {std::sqrt(sums[0].to_double()), std::sqrt(sums[1].to_double())};
}

void move_boundary_into(const PatchLevel& level, const GridMask& mask, const CoarseBoxes& boxes,
                        double* f) {
  if (level.masked_patches().size() == 0) return;
  with_side(level.patches(), [&](auto T) { move_boundary<T.value>(level, mask, boxes.data(), f); });
}

void interpolate_potential(const PatchLevel& level, const CoarseBoxes& boxes, double* phi) {
  with_side(level.patches(),
            [&](auto T) { interpolate_patches<T.value>(level, boxes.data(), phi); });
}

void acceleration(PatchLevel& level, const Surroundings& around, const double* phi, int order,
                  double cell_size, const VectorField& blocks) {
  level.transfer().vector_to_blocks(blocks, [&](const VectorTarget& target) {
    with_side(level.patches(),
              [&](auto T) { accelerate<T.value>(level, around, phi, order, cell_size, target); });
  });
}

void unresolved_energy(const PatchLevel& level, const Surroundings& around, const double* phi,
                       int order, double cell_size, double constant, double* result) {
  with_side(level.patches(), [&](auto T) {
    find_unresolved_energy<T.value>(level, around, phi, order, cell_size, constant, result);
  });
}

}  // namespace octant::gravity
