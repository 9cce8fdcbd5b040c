// Kernels on fields of own blocks: what gravity does outside its patches.
#pragma once

#include "gravity/piece_transfer.hpp"

namespace octant::gravity {

// Which blocks, and what their cells look like.
struct BlockRange {
  DeviceArray<const std::int32_t> slots;
  int block_size = 0;

  int count() const { return static_cast<int>(slots.extent(0)); }
  std::int64_t cells() const { return std::int64_t{block_size} * block_size * block_size; }
};

// Three fields, one after the other: component d lies d * stride_component further.
struct VectorField {
  BlockField x;
  std::int64_t stride_component = 0;
};

void copy_blocks(const BlockRange& blocks, const BlockField& from, const BlockField& to);
void clear_blocks(const BlockRange& blocks, const BlockField& field);

// The gas of some blocks.
struct GasFields {
  BlockField density;
  VectorField momentum;
  BlockField energy;
};

// Where a step keeps account of gravity's work: the mass that flows through the cells, per area and
// integrated over the step, and the work on it that the gas's energy still lacks.
struct WorkFields {
  VectorField flow;
  BlockField owed;
};

// momentum += dt rho g, and the energy grows by what the kinetic energy grows.
void kick_blocks(const BlockRange& blocks, double dt, const VectorField& acceleration,
                 const GasFields& gas);

// The kick at the beginning of a step. momentum += dt rho g, and the energy grows by what kinetic
// energy grows, which `work` takes note of; it begins anew.
void begin_work(const BlockRange& blocks, double dt, const VectorField& acceleration,
                const WorkFields& work, const GasFields& gas);

// Half of the work on the mass that flowed: owed += flow . g / 2.
void add_half_of_work(const BlockRange& blocks, const VectorField& acceleration,
                      const WorkFields& work);

// The kick at the end. momentum += dt rho g, and the energy takes what is owed to it.
void finish_work(const BlockRange& blocks, double dt, const VectorField& acceleration,
                 const WorkFields& work, const GasFields& gas);

// Largest |gx| + |gy| + |gz|; 0 without blocks.
double strongest_of(const BlockRange& blocks, const VectorField& acceleration);

// By block, the sum of (density - mean) * potential over cells outside refined octants; `refined`
// holds one mask per block. A density without data is 0.
std::vector<double> binding_of(const BlockRange& blocks, const std::vector<std::uint8_t>& refined,
                               const BlockField& density, double mean, const BlockField& potential);

}  // namespace octant::gravity
