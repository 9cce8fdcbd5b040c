// Interpolation from coarse to fine cells: ghost cells at level jumps, and the cells of new blocks.
#pragma once

#include "mesh/halo.hpp"

namespace octant::mesh {

// Most variables that an interpolated state may have.
inline constexpr int k_max_variables = 32;

// A coarse level at one or two times: the state is (1 - theta) * earlier + theta * later. With
// theta 0 only `earlier` is read.
struct CoarseState {
  FieldPointers earlier, later;
  double theta = 0.0;
  int block_size = 0;
  DeviceArray<const CellBox> boxes;
};

struct FineTarget {
  double* buffer[k_buffers];
  DeviceArray<const CellBox> boxes;
};

// How values are interpolated. The mesh knows conserved fields only; physics that must keep derived
// values admissible (a positive pressure, say) supplies a Limit.
class Interpolation {
 public:
  virtual ~Interpolation() = default;
  virtual void interpolate(const DeviceArray<const InterpolationTask>& tasks,
                           const CoarseState& coarse, const FineTarget& fine,
                           int variables) const = 0;
};

// Leaves every interpolated state as it is.
struct NoLimit {
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double*, const double*, const double*,
                                                const double*, int) const {
    return 1.0;
  }
};

// The slope of three equidistant values that creates no new extremum (minmod).
KOKKOS_FORCEINLINE_FUNCTION double minmod(double left, double right) {
  const double low = left < right ? left : right, high = left < right ? right : left;
  return (low > 0.0 ? low : 0.0) + (high < 0.0 ? high : 0.0);
}

// One coarse cell: its value and limited slopes of all variables, scaled by the limit.
struct CoarseCell {
  double value[k_max_variables], slope[3][k_max_variables];
};

// Conservative linear interpolation: the eight children of a coarse cell get its value plus or
// minus a quarter of its minmod slopes along each axis, so that their mean is the coarse value.
// `Limit(value, slope_x, slope_y, slope_z, variables)` returns the factor, 0 to 1, by which all
// slopes of the cell are scaled; it must be a pure function, so that every rank interpolates the
// same bits.
template <class Limit>
class LimitedLinear final : public Interpolation {
 public:
  explicit LimitedLinear(Limit limit = {}) : limit_(limit) {}

  void interpolate(const DeviceArray<const InterpolationTask>& tasks, const CoarseState& coarse,
                   const FineTarget& fine, int variables) const override;

 private:
  Limit limit_;
};

namespace detail {

// Reads the coarse state around the cells of one task.
struct CoarseReader {
  const CoarseState& coarse;
  const InterpolationTask& task;

  // Value of variable n at cell c of the block in place `place` (0 the block itself, then its
  // faces).
  KOKKOS_FORCEINLINE_FUNCTION double at(int place, const int (&c)[3], int n) const {
    const CellBox& box = coarse.boxes(task.source[place]);
    const std::int64_t offset =
        box.offset(c[0], c[1], c[2]) + static_cast<std::int64_t>(n) * box.stride_variable;
    const double earlier = coarse.earlier.buffer[box.buffer][offset];
    if (coarse.theta == 0.0) return earlier;
    return (1.0 - coarse.theta) * earlier + coarse.theta * coarse.later.buffer[box.buffer][offset];
  }

  KOKKOS_FORCEINLINE_FUNCTION double neighbour(const int (&c)[3], int axis, int step,
                                               int block_size, int n) const {
    int d[3] = {c[0], c[1], c[2]};
    d[axis] += step;
    int place = 0;
    if (d[axis] < 0) place = 1 + 2 * axis, d[axis] += block_size;
    if (d[axis] >= block_size) place = 2 + 2 * axis, d[axis] -= block_size;
    return at(place, d, n);
  }

  KOKKOS_FORCEINLINE_FUNCTION void read(const int (&c)[3], int block_size, int variables,
                                        CoarseCell& cell) const {
    for (int n = 0; n < variables; ++n) {
      const double centre = at(0, c, n);
      cell.value[n] = centre;
      for (int axis = 0; axis < 3; ++axis)
        cell.slope[axis][n] = minmod(centre - neighbour(c, axis, -1, block_size, n),
                                     neighbour(c, axis, +1, block_size, n) - centre);
    }
  }
};

}  // namespace detail

template <class Limit>
void LimitedLinear<Limit>::interpolate(const DeviceArray<const InterpolationTask>& tasks,
                                       const CoarseState& coarse, const FineTarget& fine,
                                       int variables) const {
  using Policy = Kokkos::TeamPolicy<>;
  const Limit limit = limit_;
  const auto count = static_cast<int>(tasks.extent(0));
  if (count == 0) return;
  const int block_size = coarse.block_size;
  Kokkos::parallel_for(
      "interpolate", Policy(count, Kokkos::AUTO), KOKKOS_LAMBDA(const Policy::member_type& team) {
        const InterpolationTask& task = tasks(team.league_rank());
        const detail::CoarseReader reader{coarse, task};
        const CellBox target = fine.boxes(task.target);
        double* to = fine.buffer[target.buffer];
        const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int cell_index) {
          const int i = cell_index % ni, j = cell_index / ni % nj, k = cell_index / (ni * nj);
          const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
          CoarseCell cell;
          reader.read(c, block_size, variables, cell);
          const double scale =
              0.25 * limit(cell.value, cell.slope[0], cell.slope[1], cell.slope[2], variables);
          const std::int64_t corner =
              target.offset(task.fine[0] + 2 * i, task.fine[1] + 2 * j, task.fine[2] + 2 * k);
          for (int n = 0; n < variables; ++n) {
            const double x = scale * cell.slope[0][n], y = scale * cell.slope[1][n],
                         z = scale * cell.slope[2][n];
            double* child = to + corner + static_cast<std::int64_t>(n) * target.stride_variable;
            for (int o = 0; o < 8; ++o)
              child[(o & 1) + (o >> 1 & 1) * target.stride_j +
                    static_cast<std::int64_t>(o >> 2) * target.stride_k] =
                  ((cell.value[n] + (o & 1 ? x : -x)) + (o & 2 ? y : -y)) + (o & 4 ? z : -z);
          }
        });
      });
}

}  // namespace octant::mesh
