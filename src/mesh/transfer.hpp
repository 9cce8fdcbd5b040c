// Kernels that move or combine stored cells: packing, boundaries, restriction, flux correction.
#pragma once

#include <algorithm>

#include "mesh/face_flow.hpp"
#include "mesh/halo.hpp"

namespace octant::mesh {

// Copies the regions of `tasks`, which lie in own blocks, to `destination`.
void pack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
          const double* blocks, double* destination, int variables);

// And back into boxes of the halo.
void unpack(const DeviceArray<const PackTask>& tasks, const DeviceArray<const CellBox>& boxes,
            const double* source, double* halo, int variables);

// Copies whole blocks, packed as above, into own slots.
void unpack_blocks(const DeviceArray<const PackTask>& tasks, const BlockLayout& layout,
                   const double* source, double* blocks);

// For every axis, the variable that is that component of a vector; a list per axis.
using VectorAxes = DeviceArray<const std::int32_t>;  // by variable: -1 or the axis

// Fills boxes beyond boundaries. Sources may be own blocks or boxes that are already filled;
// `inflow` are the values of the level's inflow boxes.
void fill_boundaries(const DeviceArray<const BoundaryTask>& tasks,
                     const DeviceArray<const CellBox>& boxes, double* const (&buffer)[k_buffers],
                     const VectorAxes& vector_axes, const DeviceArray<const double>& inflow,
                     int variables);

// Averages a child over 2^3 cells. The destination is an octant of an own parent block, or a
// message buffer, [variable][k][j][i] with half the block size along each axis. A task without a
// child (-1) does nothing.
struct RestrictionTask {
  std::int32_t child;   // slot
  std::int32_t parent;  // slot, or -1: to the message buffer
  std::int32_t octant;
  std::int64_t destination;  // offset in the message buffer
};
void restrict_children(const DeviceArray<const RestrictionTask>& tasks, const BlockLayout& layout,
                       const double* children, double* parents, double* message);

// Copies a received octant into its parent.
struct OctantTask {
  std::int32_t parent, octant;
  std::int64_t source;  // offset in the message buffer
};
void unpack_octants(const DeviceArray<const OctantTask>& tasks, const BlockLayout& layout,
                    const double* message, double* parents);

// One side of a level jump, whose coarse cells are corrected: u += factor * (fine - coarse), where
// both are fluxes integrated over time.
struct CorrectionTask {
  std::int32_t slot;
  std::int8_t axis;
  std::int8_t sign;               // +1: the cells lie above the faces, -1: below
  std::int16_t cell;              // their index along the axis
  std::int16_t a_begin, b_begin;  // along the transverse axes, ascending
  std::int32_t fine, coarse;      // numbers of the two registers
  std::int32_t is_received;       // the fine one comes from another rank

  // Where the cell (a, b) of the side lies in its block, 0 <= a, b < block_size / 2.
  KOKKOS_FORCEINLINE_FUNCTION int cell_in_block(int a, int b, int block_size) const {
    const auto stride = [&](int along) {
      return along == 0 ? 1 : along == 1 ? block_size : block_size * block_size;
    };
    return cell * stride(axis) + (a_begin + a) * stride(axis == 0 ? 1 : 0) +
           (b_begin + b) * stride(axis == 2 ? 1 : 2);
  }
};

// The tasks of one block, applied in their order. Some entries of a table have none.
struct CorrectedBlock {
  std::int32_t begin, end;
  std::int32_t is_late;  // some of their fluxes come from another rank
};
struct Corrections {
  DeviceArray<const CorrectedBlock> blocks;
  DeviceArray<const CorrectionTask> tasks;

  int count() const { return static_cast<int>(blocks.extent(0)); }
};

// Corrects the blocks that are late, or those that are not. `received` are other ranks' registers.
// What flowed of variable 0 is corrected, too, where it is asked for.
struct Fluxes {
  const double *fine, *received, *coarse;
};
void correct_fluxes(const Corrections& corrections, bool late, const BlockLayout& layout,
                    const Fluxes& fluxes, double factor, double* blocks, const FaceFlow& flow);

}  // namespace octant::mesh
