// Interpolation from coarse to fine cells: ghost cells at level jumps, and the cells of new blocks.
#pragma once

#include "core/pack.hpp"
#include "core/teams.hpp"
#include "core/unroll.hpp"
#include "mesh/halo.hpp"
#include "mesh/task_teams.hpp"

namespace octant::mesh {

// Most variables that a state may have.
inline constexpr int k_max_variables = 32;

// A coarse level at one or two times: the state is (1 - theta) * earlier + theta * later. With
// theta 0 only `earlier` is read.
struct CoarseState {
  FieldPointers earlier, later;
  double theta = 0.0;
  int block_size = 0;
  double cell_size = 0.0;
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

// The slope of three equidistant values that creates no new extremum (minmod).
KOKKOS_FORCEINLINE_FUNCTION double minmod(double left, double right) {
  const double low = left < right ? left : right, high = left < right ? right : left;
  return (low > 0.0 ? low : 0.0) + (high < 0.0 ? high : 0.0);
}

// One variable of a coarse cell: its value, and its limited slopes along the axes.
struct LinearValue {
  double value, slope[3];

  // In a child, with this share of the slopes: a quarter, or less where they are limited.
  KOKKOS_FORCEINLINE_FUNCTION double in_child(int octant, double share) const {
    const double x = share * slope[0], y = share * slope[1], z = share * slope[2];
    return ((value + (octant & 1 ? x : -x)) + (octant & 2 ? y : -y)) + (octant & 4 ? z : -z);
  }
};

// The first variables of one.
template <int count>
struct CoarseCell {
  Kokkos::Array<LinearValue, count> variables;

  KOKKOS_FORCEINLINE_FUNCTION LinearValue& operator[](int n) { return variables[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const LinearValue& operator[](int n) const { return variables[n]; }
};

// Leaves every interpolated state as it is.
struct NoLimit {
  static constexpr int variables = 0;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const CoarseCell<variables>&) const { return 1.0; }
};

// Conservative linear interpolation: the eight children of a coarse cell get its value plus or
// minus a quarter of its minmod slopes along each axis, so that their mean is the coarse value.
// `Limit` is told the first Limit::variables of a cell, and returns the factor, 0 to 1, by which
// the slopes of all are scaled; it must be a pure function, so that every rank interpolates the
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

// Where the values of one coarse cell and of its six face neighbours lie: variable n of neighbour p
// is at offset[p] + n * stride[p] of its buffer, at both times.
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

KOKKOS_FORCEINLINE_FUNCTION LinearValue read_variable(const CoarseStencil& stencil, int n,
                                                      double theta) {
  LinearValue of{stencil.value(0, n, theta), {}};
  for (int axis = 0; axis < 3; ++axis)
    of.slope[axis] = minmod(of.value - stencil.value(1 + 2 * axis, n, theta),
                            stencil.value(2 + 2 * axis, n, theta) - of.value);
  return of;
}

// Few enough for a thread's registers on a GPU.
template <int variables>
KOKKOS_FORCEINLINE_FUNCTION CoarseCell<variables> read_cell(const CoarseStencil& stencil,
                                                            double theta) {
  CoarseCell<variables> cell;
  OCTANT_UNROLL(8)
  for (int n = 0; n < variables; ++n) cell[n] = read_variable(stencil, n, theta);
  return cell;
}

}  // namespace detail

template <class Limit>
void LimitedLinear<Limit>::interpolate(const DeviceArray<const InterpolationTask>& tasks,
                                       const CoarseState& coarse, const FineTarget& fine,
                                       int variables) const {
  const Limit limit = limit_;
  const auto count = static_cast<int>(tasks.extent(0));
  if (count == 0) return;
  Kokkos::parallel_for(
      "interpolate", TaskTeams(count, team_threads()), KOKKOS_LAMBDA(const TaskTeam& team) {
        const InterpolationTask& task = tasks(team.league_rank());
        const CellBox target = fine.boxes(task.target);
        double* to = fine.buffer[target.buffer];
        const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ni * nj * nk), [&](int cell_index) {
          const int i = cell_index % ni, j = cell_index / ni % nj, k = cell_index / (ni * nj);
          const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
          const detail::CoarseStencil stencil(coarse, task, c);
          const auto limiting = detail::read_cell<Limit::variables>(stencil, coarse.theta);
          const double share = 0.25 * limit(limiting);
          const std::int64_t corner =
              target.offset(task.fine[0] + 2 * i, task.fine[1] + 2 * j, task.fine[2] + 2 * k);
          const auto write = [&](int n, const LinearValue& of) OCTANT_INLINE_LAMBDA {
            double* child = to + corner + static_cast<std::int64_t>(n) * target.stride_variable;
            for (int o = 0; o < 8; ++o)
              child[(o & 1) + (o >> 1 & 1) * target.stride_j +
                    static_cast<std::int64_t>(o >> 2) * target.stride_k] = of.in_child(o, share);
          };
          OCTANT_UNROLL(8)
          for (int n = 0; n < Limit::variables; ++n) write(n, limiting[n]);
          for (int n = Limit::variables; n < variables; ++n)
            write(n, detail::read_variable(stencil, n, coarse.theta));
        });
      });
}

}  // namespace octant::mesh
