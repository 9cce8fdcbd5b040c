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

// Where the values of one coarse cell and of its six face neighbours lie: variable n of neighbour p is
// at offset[p] + n * stride[p] of its buffer, at both times.
struct CoarseStencil {
  const double *earlier[7], *later[7];
  std::int64_t stride[7];

  // `c` is the cell in the block beneath; its neighbours may lie in the blocks beside that.
  KOKKOS_FORCEINLINE_FUNCTION CoarseStencil(const CoarseState& coarse,
                                            const InterpolationTask& task, const int (&c)[3]) {
    place(coarse, task.source[0], c, 0);
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) {
        int d[3] = {c[0], c[1], c[2]};
        d[axis] += 2 * side - 1;
        const bool inside = d[axis] >= 0 && d[axis] < coarse.block_size;
        if (!inside) d[axis] -= (2 * side - 1) * coarse.block_size;
        place(coarse, task.source[inside ? 0 : 1 + 2 * axis + side], d, 1 + 2 * axis + side);
      }
  }

  KOKKOS_FORCEINLINE_FUNCTION double value(int p, int n, double theta) const {
    const double then = earlier[p][n * stride[p]];
    return theta == 0.0 ? then : (1.0 - theta) * then + theta * later[p][n * stride[p]];
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void place(const CoarseState& coarse, int box_index,
                                         const int (&c)[3], int p) {
    const CellBox& box = coarse.boxes(box_index);
    const std::int64_t offset = box.offset(c[0], c[1], c[2]);
    earlier[p] = coarse.earlier.buffer[box.buffer] + offset;
    later[p] = coarse.later.buffer[box.buffer] + offset;
    stride[p] = box.stride_variable;
  }
};

KOKKOS_FORCEINLINE_FUNCTION void read_cell(const CoarseStencil& stencil, double theta,
                                           int variables, CoarseCell& cell) {
  for (int n = 0; n < variables; ++n) {
    const double centre = stencil.value(0, n, theta);
    cell.value[n] = centre;
    for (int axis = 0; axis < 3; ++axis)
      cell.slope[axis][n] = minmod(centre - stencil.value(1 + 2 * axis, n, theta),
                                   stencil.value(2 + 2 * axis, n, theta) - centre);
  }
}

}  // namespace detail

template <class Limit>
void LimitedLinear<Limit>::interpolate(const DeviceArray<const InterpolationTask>& tasks,
                                       const CoarseState& coarse, const FineTarget& fine,
                                       int variables) const {
  using Policy = Kokkos::TeamPolicy<>;
  const Limit limit = limit_;
  const auto count = static_cast<int>(tasks.extent(0));
  if (count == 0) return;
  Kokkos::parallel_for(
      "interpolate", Policy(count, Kokkos::AUTO), KOKKOS_LAMBDA(const Policy::member_type& team) {
        const InterpolationTask& task = tasks(team.league_rank());
        const CellBox target = fine.boxes(task.target);
        double* to = fine.buffer[target.buffer];
        const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int cell_index) {
          const int i = cell_index % ni, j = cell_index / ni % nj, k = cell_index / (ni * nj);
          const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
          CoarseCell cell;
          detail::read_cell(detail::CoarseStencil(coarse, task, c), coarse.theta, variables, cell);
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
