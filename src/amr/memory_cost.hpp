// Memory of blocks with the particles in them, as a cost of load balancing (cuRAMSES paper, eq.
// 4-5, adapted from octs to blocks).
#pragma once

#include <cstdint>

#include "amr/amr_options.hpp"
#include "amr/matter.hpp"
#include "amr/part_times.hpp"
#include "decomp/work.hpp"
#include "mesh/mesh.hpp"

namespace octant {

// Number of gas states in memory: at the beginning and end of a step and, if needed, of a stage.
int gas_states(const AmrOptions& options);

// Number of 8-byte numbers that a run stores per cell of a block for gas and gravity: all states of
// the gas, the potential and its gradient, and the mass flows for the work of gravity.
int numbers_per_cell(const AmrOptions& options);

// Memory of the blocks of this rank.
class MemoryCost {
 public:
  MemoryCost(const mesh::Mesh& mesh, const AmrOptions& options, const Matter& matter)
      : mesh_(mesh), options_(options), matter_(matter) {}

  // Bytes of each own block with its particles. The parameters balance.weight_grid, weight_part and
  // weight_sink replace the bytes of a block, a particle, and a sink.
  ByBlock<double> by_block() const;
  // Bytes of the fields and particles of this rank, without tables, buffers and unused memory.
  double stored_bytes() const;

 private:
  int numbers() const;  // 8-byte numbers per cell, including the density of each particle kind
  double weight_of(const particles::Kind& kind, int words) const;

  const mesh::Mesh& mesh_;
  const AmrOptions& options_;
  const Matter& matter_;
};

}  // namespace octant
