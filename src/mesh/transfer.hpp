// Kernels for stored cells: packing, boundary conditions, restriction and refluxing.
#pragma once

#include <algorithm>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/device.hpp"
#include "mesh/fields.hpp"
#include "mesh/halo.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// Copies the regions of `tasks` in own blocks to `destination`.
void pack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
          const double* blocks, double* destination, int variables);

// Copies packed regions to boxes of the halo.
void unpack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
            const double* source, double* halo, int variables);

// Copies whole blocks, packed by pack(), into own slots.
void unpack_blocks(const DeviceArray<const PackTask>& tasks, const BlockLayout& layout,
                   const double* source, double* blocks);

// Copies the variables of own blocks from `first` on to the same blocks of another state.
void copy_variables(const CellRange& cells, const BlockLayout& layout, int first,
                    const double* from, double* to);

// Axes of each variable, as bits, along which a reflection changes its sign: the own axis of a
// component of a vector, both other axes of the spin (an axial vector), none of a scalar.
using SignChanges = DeviceArray<const std::int32_t>;

// Fills boxes beyond boundaries. Sources may be own blocks or boxes that are already filled;
// `inflow` holds the values of the level's inflow boxes.
void fill_boundaries(const DeviceArray<const BoundaryTask>& tasks,
                     const DeviceArray<const CellBox>& boxes, double* const (&buffer)[k_buffers],
                     const SignChanges& sign_changes, const DeviceArray<const double>& inflow,
                     int variables);

// Angular momentum of each cell about its own centre, per volume: `first` is the index of the first
// of its three components, -1 if cells do not store it; `momentum` that of the first component of
// the momentum. The angular momentum of a cell about a point is (centre - point) x momentum + spin.
// Transfers between levels preserve its sum.
struct Spin {
  std::int16_t first = -1, momentum = -1;

  // Component 0, 1 or 2 of the spin in variable n; -1 for other variables.
  KOKKOS_FORCEINLINE_FUNCTION int component(int n) const {
    return first >= 0 && n >= first && n < first + 3 ? n - first : -1;
  }
};

// Task of restriction, which averages 2^3 cells of a child. The destination is an octant of an own
// parent block, or a message buffer, [variable][k][j][i] with half the block size along each axis.
// A task without a child (-1) does nothing.
struct RestrictionTask {
  std::int32_t child;   // slot of the child, or -1
  std::int32_t parent;  // slot of the parent, or -1 for the message buffer
  std::int32_t octant;
  std::int64_t destination;  // offset in the message buffer
};
// Restricts the children of all tasks. `message` is the buffer for octants of remote parents. The
// spin of a coarse cell includes the angular momentum of its children's momenta about its centre;
// `coarse_cell` is its size.
void restrict_children(const DeviceArray<const RestrictionTask>& tasks, const BlockLayout& layout,
                       const Spin& spin, double coarse_cell, const double* children,
                       double* parents, double* message);

// Copy of a received octant into its parent.
struct OctantTask {
  std::int32_t parent, octant;
  std::int64_t source;  // offset in the message buffer
};
// Copies the received octants of all tasks.
void unpack_octants(const DeviceArray<const OctantTask>& tasks, const BlockLayout& layout,
                    const double* message, double* parents);

// Refluxing task: one side of a coarse-fine boundary, whose coarse cells are corrected by
// u += sign * factor * (fine - coarse) of the fluxes integrated over time.
struct CorrectionTask {
  std::int32_t slot;
  std::int8_t axis;
  std::int8_t sign;   // +1: the cells lie above the faces, -1: below
  std::int16_t cell;  // index of the cells along the axis, in their block
  // indices of the first cell along the transverse axes, in ascending order of the axes
  std::int16_t a_begin, b_begin;
  std::int32_t fine, coarse;  // indices of the fine and the coarse register
  std::int32_t is_received;   // 1 if the fine register comes from another rank

  // Index in the block of cell (a, b) of the side, 0 <= a, b < block_size / 2.
  KOKKOS_FORCEINLINE_FUNCTION int cell_in_block(int a, int b, int block_size) const {
    const auto stride = [&](int along) {
      return along == 0 ? 1 : along == 1 ? block_size : block_size * block_size;
    };
    return cell * stride(axis) + (a_begin + a) * stride(axis == 0 ? 1 : 0) +
           (b_begin + b) * stride(axis == 2 ? 1 : 2);
  }
};

// Range of tasks of one block, applied in order; may be empty.
struct CorrectedBlock {
  std::int32_t begin, end;
  std::int32_t has_remote_fluxes;  // 1 if some of the fluxes come from another rank
};
// All refluxing tasks of a level, by block; in device memory.
struct Corrections {
  DeviceArray<const CorrectedBlock> blocks;
  DeviceArray<const CorrectionTask> tasks;

  // Number of corrected blocks.
  int count() const { return static_cast<int>(blocks.extent(0)); }
};

// Flux registers of both levels and those received from other ranks.
struct Fluxes {
  const double *fine, *received, *coarse;
};
// Refluxes the blocks with has_remote_fluxes == `remote`. The flow of variable 0 is also corrected
// if `flow` is not null. A corrected momentum flux acts at the face, half a cell from the centre of
// the cell, and therefore also changes its spin.
void correct_fluxes(const Corrections& corrections, bool remote, const BlockLayout& layout,
                    const Spin& spin, const Fluxes& fluxes, double factor, double* blocks,
                    const FaceFlow& flow);

// Send buffers for messages of one kind: one buffer, or more while earlier sends are in progress.
class SendBuffers {
 public:
  explicit SendBuffers(std::int64_t doubles = 0) : doubles_(doubles) {}

  // Returns a buffer without sends in progress. All calls must pass the same exchanger.
  double* free_buffer(Exchanger& exchanger) {
    for (const DeviceArray<double>& buffer : buffers_)
      if (exchanger.drained(buffer.data())) return buffer.data();
    buffers_.push_back(uninitialised<double>("send buffer", doubles_));
    return buffers_.back().data();
  }

 private:
  std::int64_t doubles_;
  std::vector<DeviceArray<double>> buffers_;
};

}  // namespace octant::mesh
