// Prolongation from coarse to fine cells: ghost cells at coarse-fine boundaries, and new blocks.
#pragma once

#include "core/compiler.hpp"
#include "core/observer.hpp"
#include "core/simd.hpp"
#include "mesh/halo.hpp"
#include "mesh/launch.hpp"

namespace octant::mesh {

// Maximum number of variables of a state.
inline constexpr int k_max_variables = 32;

// State of a coarse level at one or two times: (1 - theta) * earlier + theta * later. With theta 0
// only `earlier` is read.
struct CoarseState {
  FieldPointers earlier, later;
  double theta = 0.0;
  int block_size = 0;
  double cell_size = 0.0;
  DeviceArray<const CellBox> boxes;
};

// Boxes of the fine level to be filled.
struct FineTarget {
  double* buffer[k_buffers];
  DeviceArray<const CellBox> boxes;
};

// Interface of interpolation schemes. The mesh handles conserved fields only; physics modules that
// must keep derived values admissible (such as a positive pressure) supply a Limit.
class Interpolation {
 public:
  virtual ~Interpolation() = default;
  // Interpolates the cells of all tasks. `variables` is the number of variables per cell.
  virtual void interpolate(const DeviceArray<const InterpolationTask>& tasks,
                           const CoarseState& coarse, const FineTarget& fine,
                           int variables) const = 0;
};

// Minmod slope of three equidistant values; creates no new extremum.
KOKKOS_FORCEINLINE_FUNCTION double minmod(double left, double right) {
  const double low = left < right ? left : right, high = left < right ? right : left;
  return (low > 0.0 ? low : 0.0) + (high < 0.0 ? high : 0.0);
}

// One variable of a coarse cell: value and limited slopes along the axes.
struct LinearValue {
  double value, slope[3];

  // Value in a child, with slopes scaled by `share`: 1/4, or less if the slopes are limited.
  KOKKOS_FORCEINLINE_FUNCTION double in_child(int octant, double share) const {
    const double x = share * slope[0], y = share * slope[1], z = share * slope[2];
    return ((value + (octant & 1 ? x : -x)) + (octant & 2 ? y : -y)) + (octant & 4 ? z : -z);
  }
};

// The first `count` variables of a coarse cell.
template <int count>
struct CoarseCell {
  Kokkos::Array<LinearValue, count> variables;

  KOKKOS_FORCEINLINE_FUNCTION LinearValue& operator[](int n) { return variables[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const LinearValue& operator[](int n) const { return variables[n]; }
};

// Limit that changes no interpolated state.
struct NoLimit {
  static constexpr int variables = 0;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const CoarseCell<variables>&) const { return 1.0; }
};

// Conservative linear interpolation: the eight children of a coarse cell get the coarse value plus
// or minus a quarter of the minmod slopes along each axis, so that their mean is the coarse value.
// `Limit` takes the first Limit::variables of a cell and returns the factor, 0 to 1, that scales
// the slopes of all variables. It must be a pure function, so that results are bitwise equal on all
// ranks.
template <class Limit>
class LimitedLinear final : public Interpolation {
 public:
  explicit LimitedLinear(Limit limit = {}) : limit_(limit) {}

  // Interpolates the cells of all tasks; see LimitedLinear.
  void interpolate(const DeviceArray<const InterpolationTask>& tasks, const CoarseState& coarse,
                   const FineTarget& fine, int variables) const override;

 private:
  Limit limit_;
};

namespace detail {

// Addresses of the values of one coarse cell (p = 0) and its six face neighbours (p = 1 to 6):
// variable n is at earlier[p] and later[p], each plus n * stride[p].
struct CoarseStencil {
  const double *earlier[7], *later[7];
  std::int64_t stride[7];
  double theta;

  // `c` is the cell in the central coarse block; neighbours of `c` may lie in adjacent blocks.
  KOKKOS_FORCEINLINE_FUNCTION CoarseStencil(const CoarseState& coarse,
                                            const InterpolationTask& task, const int (&c)[3])
      : theta(coarse.theta) {
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

  // Value of variable n in neighbour p, interpolated in time.
  KOKKOS_FORCEINLINE_FUNCTION double value(int p, int n) const {
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

// Value and minmod slopes of variable n in the coarse cell.
KOKKOS_FORCEINLINE_FUNCTION LinearValue read_variable(const CoarseStencil& stencil, int n) {
  LinearValue of{stencil.value(0, n), {}};
  for (int axis = 0; axis < 3; ++axis)
    of.slope[axis] = minmod(of.value - stencil.value(1 + 2 * axis, n),
                            stencil.value(2 + 2 * axis, n) - of.value);
  return of;
}

// Reads the first `variables` variables. Few are read, so that they fit into a GPU thread's
// registers.
template <int variables>
KOKKOS_FORCEINLINE_FUNCTION CoarseCell<variables> read_cell(const CoarseStencil& stencil) {
  CoarseCell<variables> cell;
  OCTANT_UNROLL(8)
  for (int n = 0; n < variables; ++n) cell[n] = read_variable(stencil, n);
  return cell;
}

// The eight children of a coarse cell in memory.
struct Children {
  double* first;
  std::int64_t stride_j, stride_k, stride_variable;

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(int octant, int n) const {
    return first[(octant & 1) + (octant >> 1 & 1) * stride_j + (octant >> 2) * stride_k +
                 n * stride_variable];
  }
  // Writes a variable, with slopes scaled by `share`.
  KOKKOS_FORCEINLINE_FUNCTION void write(int n, const LinearValue& of, double share) const {
    for (int octant = 0; octant < 8; ++octant) (*this)(octant, n) = of.in_child(octant, share);
  }
};

// Calls body(stencil, children) for the coarse cells of the tasks.
template <class Body>
void for_coarse_cells(const DeviceArray<const InterpolationTask>& tasks, const CoarseState& coarse,
                      const FineTarget& fine, const Body& body) {
  for_tasks(
      "interpolate", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const InterpolationTask& task = tasks(team.league_rank());
        const CellBox target = fine.boxes(task.target);
        double* const to = fine.buffer[target.buffer];
        const int ni = task.cells[0], nj = task.cells[1], nk = task.cells[2];
        in_team(team, ni * nj * nk, [&](int index) {
          const int i = index % ni, j = index / ni % nj, k = index / (ni * nj);
          const int c[3] = {task.first[0] + i, task.first[1] + j, task.first[2] + k};
          const std::int64_t corner =
              target.offset(task.fine[0] + 2 * i, task.fine[1] + 2 * j, task.fine[2] + 2 * k);
          body(CoarseStencil(coarse, task, c),
               Children{to + corner, target.stride_j, target.stride_k, target.stride_variable});
        });
      });
}

}  // namespace detail

// Interpolates the cells of all tasks.
template <class Limit>
void LimitedLinear<Limit>::interpolate(const DeviceArray<const InterpolationTask>& tasks,
                                       const CoarseState& coarse, const FineTarget& fine,
                                       int variables) const {
  const Limit limit = limit_;
  detail::for_coarse_cells(
      tasks, coarse, fine,
      KOKKOS_LAMBDA(const detail::CoarseStencil& stencil, const detail::Children& children) {
        const auto limiting = detail::read_cell<Limit::variables>(stencil);
        const double share = 0.25 * limit(limiting);
        OCTANT_UNROLL(8)
        for (int n = 0; n < Limit::variables; ++n) children.write(n, limiting[n], share);
        for (int n = Limit::variables; n < variables; ++n)
          children.write(n, detail::read_variable(stencil, n), share);
      });
}

// Records the work of interpolations for profiling, before they run; `tasks` is read on the host.
// `blends` is true for interpolation between two times. Per variable, one value is read (two if
// blended) and eight are written. A slope takes 3 operations and its scaling 1, a child 3, and a
// blend 3, for the cell and each of its six neighbours. The cost of limits is not counted.
template <class Tasks>
void record_interpolation(const Tasks& tasks, int variables, bool blends) {
  if (!kernel_work_callback) return;
  std::int64_t cells = 0;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    const auto& [ni, nj, nk] = tasks[n].cells;
    cells += std::int64_t{ni} * nj * nk;
  }
  record_kernel_work("interpolate", cells,
                     {variables * (blends ? 80.0 : 72.0), variables * (blends ? 57.0 : 36.0)});
}

}  // namespace octant::mesh
