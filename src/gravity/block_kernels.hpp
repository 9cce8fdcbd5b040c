// Kernels on fields of own blocks: what gravity does outside its patches.
#pragma once

#include "gravity/piece_transfer.hpp"

namespace octant::gravity {

using mesh::CellRange;

// Three fields, one after the other: component d lies d * stride_component further.
struct VectorField {
  BlockField x;
  std::int64_t stride_component = 0;

  KOKKOS_FORCEINLINE_FUNCTION double* at(const mesh::Cell& cell) const { return x.at(cell); }
};

void copy_blocks(const CellRange& cells, const BlockField& from, const BlockField& to);
void clear_blocks(const CellRange& cells, const BlockField& field);

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
void kick_blocks(const CellRange& cells, double dt, const VectorField& acceleration,
                 const GasFields& gas);

// The kick at the beginning of a step. momentum += dt rho g, and the energy grows by what kinetic
// energy grows, which `work` takes note of; it begins anew.
void begin_work(const CellRange& cells, double dt, const VectorField& acceleration,
                const WorkFields& work, const GasFields& gas);

// Half of the work on the mass that flowed: owed += flow . g / 2.
void add_half_of_work(const CellRange& cells, const VectorField& acceleration,
                      const WorkFields& work);

// The kick at the end. momentum += dt rho g, and the energy takes what is owed to it.
void finish_work(const CellRange& cells, double dt, const VectorField& acceleration,
                 const WorkFields& work, const GasFields& gas);

// Largest |gx| + |gy| + |gz|; 0 without cells.
double strongest_of(const CellRange& cells, const VectorField& acceleration);

// By block, the sum of (density - mean) * potential over leaf cells. A density without data is 0.
std::vector<double> binding_of(const CellRange& cells, const BlockField& density, double mean,
                               const BlockField& potential);

}  // namespace octant::gravity
