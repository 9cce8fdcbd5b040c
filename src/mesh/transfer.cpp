#include "mesh/transfer.hpp"

#include "mesh/cell_loop.hpp"
#include "mesh/launch.hpp"

namespace octant::mesh {

namespace {

// Calls body(i, j, k) for all cells of a region, distributed over a team.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_cells(const TaskTeam& team, const Region& r,
                                           const Body& body) {
  const int ni = r.end[0] - r.begin[0], nj = r.end[1] - r.begin[1], nk = r.end[2] - r.begin[2];
  in_team(team, nj * nk, [&](int row) {
    const int j = r.begin[1] + row % nj, k = r.begin[2] + row / nj;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, ni),
                         [&](int i) { body(r.begin[0] + i, j, k); });
  });
}

// Calls body(offset in the box's buffer, offset in the message, cells) for the rows of a task. On
// CPUs, rows that are also contiguous in the box (such as those at a block's lower or upper z face)
// are joined. On a GPU, short rows are distributed over threads.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_rows(const TaskTeam& team, const PackTask& task,
                                          const CellBox& box, int variables, const Body& body) {
  const Region& r = task.region;
  int ni = r.end[0] - r.begin[0], nj = r.end[1] - r.begin[1], nk = r.end[2] - r.begin[2];
  if (k_device_is_host && ni == box.stride_j) {
    ni *= nj;
    nj = 1;
    if (ni == box.stride_k) {
      ni *= nk;
      nk = 1;
    }
  }
  in_team(team, variables * nk * nj, [&](int row) {
    const int j = r.begin[1] + row % nj, k = r.begin[2] + row / nj % nk, n = row / nj / nk;
    body(box.offset(r.begin[0], j, k) + static_cast<std::int64_t>(n) * box.stride_variable,
         task.destination + static_cast<std::int64_t>(row) * ni, ni);
  });
}

KOKKOS_FORCEINLINE_FUNCTION void copy_row(const TaskTeam& team, const double* from, double* to,
                                          int cells) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, cells), [&](int i) { to[i] = from[i]; });
}

KOKKOS_FORCEINLINE_FUNCTION Region cube(int size) {
  Region r;
  for (int d = 0; d < 3; ++d) r.end[d] = static_cast<std::int16_t>(size);
  return r;
}

// Offset of cell (i, j, k) of an octant within its block.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t octant_offset(int octant, int half, int i, int j, int k) {
  const int N = 2 * half;
  return ((k + (octant >> 2) * half) * N + j + (octant >> 1 & 1) * half) * N + i +
         (octant & 1) * half;
}

}  // namespace

void pack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
          const double* blocks, double* destination, int variables) {
  for_tasks(
      "pack", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const PackTask& task = tasks(team.league_rank());
        for_rows(team, task, boxes(task.box), variables,
                 [&](std::int64_t in_box, std::int64_t in_message, int cells) {
                   copy_row(team, blocks + in_box, destination + in_message, cells);
                 });
      });
}

void unpack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
            const double* source, double* halo, int variables) {
  for_tasks(
      "unpack", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const PackTask& task = tasks(team.league_rank());
        for_rows(team, task, boxes(task.box), variables,
                 [&](std::int64_t in_box, std::int64_t in_message, int cells) {
                   copy_row(team, source + in_message, halo + in_box, cells);
                 });
      });
}

void unpack_blocks(const DeviceArray<const PackTask>& tasks, const BlockLayout& layout,
                   const double* source, double* blocks) {
  const int N = layout.block_size, cells = N * N * N;
  for_tasks(
      "unpack blocks", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const PackTask& task = tasks(team.league_rank());
        double* block = blocks + task.box * layout.stride_slot;
        const double* from = source + task.destination;
        for_cells(team, task.region, [&](int i, int j, int k) {
          const int cell = (k * N + j) * N + i;
          for (int n = 0; n < layout.variables; ++n)
            block[static_cast<std::int64_t>(n) * layout.stride_variable + cell] =
                from[n * cells + cell];
        });
      });
}

void copy_variables(const CellRange& cells, const BlockLayout& layout, int first,
                    const double* from, double* to) {
  for_cells(
      "copy variables", cells, KOKKOS_LAMBDA(const Cell& cell) {
        for (int n = first; n < layout.variables; ++n) {
          const std::int64_t at = layout.offset(cell) + std::int64_t{n} * layout.stride_variable;
          to[at] = from[at];
        }
      });
}

void fill_boundaries(const DeviceArray<const BoundaryTask>& tasks,
                     const DeviceArray<const CellBox>& boxes, double* const (&buffer)[k_buffers],
                     const SignChanges& sign_changes, const DeviceArray<const double>& inflow,
                     int variables) {
  const FieldPointers source{buffer[0], buffer[1], buffer[2], buffer[3]};
  double* const halo = buffer[k_halo];
  double* const scratch = buffer[k_scratch];
  for_tasks(
      "fill boundaries", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const BoundaryTask& task = tasks(team.league_rank());
        const CellBox to_box = boxes(task.target);
        double* to_buffer = to_box.buffer == k_halo ? halo : scratch;
        const CellBox from_box = boxes(task.inflow < 0 ? task.source : task.target);
        const Region& r = task.region;
        const std::int64_t volume = r.volume();
        for_cells(team, r, [&](int i, int j, int k) {
          double* to = to_buffer + to_box.offset(i, j, k);
          const double* from =
              source.buffer[from_box.buffer] + from_box.offset(task.offset[0] + task.sign[0] * i,
                                                               task.offset[1] + task.sign[1] * j,
                                                               task.offset[2] + task.sign[2] * k);
          for (int n = 0; n < variables; ++n) {
            double value;
            if (task.inflow >= 0) {
              value = inflow(task.inflow_cell * variables + n * volume + r.index(i, j, k));
            } else {
              value = from[static_cast<std::int64_t>(n) * from_box.stride_variable];
              const int flips = sign_changes(n) & task.flipped;
              if ((flips ^ flips >> 1 ^ flips >> 2) & 1) value = -value;
            }
            to[static_cast<std::int64_t>(n) * to_box.stride_variable] = value;
          }
        });
      });
}

namespace {

// Mean over the eight children of a coarse cell of (offset x momentum) along an axis, where
// `offset` is the distance of their centres from that of the coarse cell along each axis.
// `momentum` points to the first child; rows have `N` cells.
KOKKOS_FORCEINLINE_FUNCTION double orbital_part(const double* momentum, std::int64_t stride, int N,
                                                double offset, int axis) {
  // sum of a momentum component, with opposite signs on both sides along the other axis
  const auto moment = [&](int component, int along) {
    const double* const c = momentum + component * stride;
    double sum = 0.0;
    for (int octant = 0; octant < 8; ++octant) {
      const double value = c[((octant >> 2) * N + (octant >> 1 & 1)) * N + (octant & 1)];
      sum += octant >> along & 1 ? value : -value;
    }
    return sum;
  };
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  return 0.125 * offset * (moment(c, b) - moment(b, c));
}

}  // namespace

void restrict_children(const DeviceArray<const RestrictionTask>& tasks, const BlockLayout& layout,
                       const Spin& spin, double coarse_cell, const double* children,
                       double* parents, double* message) {
  const int N = layout.block_size, half = N / 2;
  const double offset = 0.25 * coarse_cell;
  // Cost: eight values are read per coarse cell and variable, and their mean is written.
  const KernelCost cost{72.0 * layout.variables, 8.0 * layout.variables};
  for_tasks(
      {"restrict", cost}, tasks.extent(0), {.items = std::int64_t{half} * half * half},
      KOKKOS_LAMBDA(const TaskTeam& team) {
        const RestrictionTask& task = tasks(team.league_rank());
        if (task.child < 0) return;
        const bool local = task.parent >= 0;
        const std::int64_t stride = local ? layout.stride_variable : half * half * half;
        double* to =
            local ? parents + task.parent * layout.stride_slot : message + task.destination;
        const double* from = children + task.child * layout.stride_slot;
        for (int n = 0; n < layout.variables; ++n) {
          const double* u = from + static_cast<std::int64_t>(n) * layout.stride_variable;
          double* mean = to + n * stride;
          const auto result = [&](int i, int j, int k) {
            return mean +
                   (local ? octant_offset(task.octant, half, i, j, k) : (k * half + j) * half + i);
          };
          for_cells(team, cube(half), [&](int i, int j, int k) {
            const double* c = u + ((2 * k) * N + 2 * j) * N + 2 * i;
            const double low = (c[0] + c[1]) + (c[N] + c[N + 1]);
            const double* d = c + N * N;
            const double high = (d[0] + d[1]) + (d[N] + d[N + 1]);
            *result(i, j, k) = 0.125 * (low + high);
          });
          const int component = spin.component(n);
          if (component < 0) continue;
          const double* const momentum =
              from + static_cast<std::int64_t>(spin.momentum) * layout.stride_variable;
          for_cells(team, cube(half), [&](int i, int j, int k) {
            const double* const first = momentum + ((2 * k) * N + 2 * j) * N + 2 * i;
            *result(i, j, k) += orbital_part(first, layout.stride_variable, N, offset, component);
          });
        }
      });
}

void unpack_octants(const DeviceArray<const OctantTask>& tasks, const BlockLayout& layout,
                    const double* message, double* parents) {
  const int half = layout.block_size / 2;
  for_tasks(
      "unpack octants", tasks.extent(0), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const OctantTask& task = tasks(team.league_rank());
        for (int n = 0; n < layout.variables; ++n) {
          double* to = parents + task.parent * layout.stride_slot +
                       static_cast<std::int64_t>(n) * layout.stride_variable;
          const double* from = message + task.source + n * half * half * half;
          for_cells(team, cube(half), [&](int i, int j, int k) {
            to[octant_offset(task.octant, half, i, j, k)] = from[(k * half + j) * half + i];
          });
        }
      });
}

namespace {

// Component of the torque per volume about the centre of a cell that a momentum flux F through a
// face across `axis` exerts: -e_axis x F / 2, for both faces of the cell.
template <class Flux>
KOKKOS_FORCEINLINE_FUNCTION double torque_at_face(int momentum, int axis, int component,
                                                  const Flux& flux) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  return component == b   ? 0.5 * flux(momentum + c)
         : component == c ? -0.5 * flux(momentum + b)
                          : 0.0;
}

}  // namespace

void correct_fluxes(const Corrections& corrections, bool remote, const BlockLayout& layout,
                    const Spin& spin, const Fluxes& fluxes, double factor, double* blocks,
                    const FaceFlow& flow) {
  const int N = layout.block_size, half = N / 2;
  const std::int64_t face_values = layout.variables * half * half;
  for_tasks(
      "correct fluxes", corrections.count(), {}, KOKKOS_LAMBDA(const TaskTeam& team) {
        const CorrectedBlock block = corrections.blocks(team.league_rank());
        if ((block.has_remote_fluxes != 0) != remote) return;
        for (int t = block.begin; t < block.end; ++t) {
          const CorrectionTask& task = corrections.tasks(t);
          double* const state = blocks + task.slot * layout.stride_slot;
          const double* const fine =
              (task.is_received ? fluxes.received : fluxes.fine) + task.fine * face_values;
          const double* const coarse = fluxes.coarse + task.coarse * face_values;
          const double weight = task.sign * factor;
          in_team(team, layout.variables * half * half, [&](int index) {
            const int a = index % half, b = index / half % half, n = index / (half * half);
            double& u = state[static_cast<std::int64_t>(n) * layout.stride_variable +
                              task.cell_in_block(a, b, N)];
            u += weight * (fine[index] - coarse[index]);
            if (const int component = spin.component(n); component >= 0)
              u += torque_at_face(spin.momentum, task.axis, component, [&](int momentum) {
                const int value = index + (momentum - n) * half * half;
                return fine[value] - coarse[value];
              });
            if (flow && n == 0)
              flow.through_face(task.slot, task.axis,
                                task.sign > 0 ? 0 : 1)[task.cell_in_block(a, b, N)] +=
                  fine[index] - coarse[index];
          });
          team.team_barrier();
        }
      });
}

}  // namespace octant::mesh
