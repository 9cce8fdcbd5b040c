// Fields of own blocks, and kernels on them: what gravity does outside its patches.
#pragma once

#include "comm/reproducible_sum.hpp"
#include "core/pack.hpp"
#include "mesh/cell_range.hpp"

namespace octant::gravity {

using mesh::BlockField;
using mesh::CellRange;
using mesh::DeviceArray;

// Three fields, one after the other: component d lies d * stride_component further.
struct VectorField {
  BlockField x;
  std::int64_t stride_component = 0;

  KOKKOS_FORCEINLINE_FUNCTION double* at(const mesh::Cell& cell) const { return x.at(cell); }
};

// a * x + b * y + c, cell by cell.
struct Combination {
  double a = 1.0;
  BlockField x;
  double b = 0.0;
  BlockField y{};  // not read if b = 0
  double c = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double at(std::int64_t slot, std::int64_t cell) const {
    const double first = a * x.data[slot * x.stride + cell];
    return (b == 0.0 ? first : first + b * y.data[slot * y.stride + cell]) + c;
  }
  // Of a pack of cells.
  KOKKOS_FORCEINLINE_FUNCTION Pack pack_at(std::int64_t slot, std::int64_t cell) const {
    using PackOf = PackTraits<Pack>;
    Pack value = Pack(a) * PackOf::load(x.data + slot * x.stride + cell);
    if (b != 0.0) value = value + Pack(b) * PackOf::load(y.data + slot * y.stride + cell);
    return value + Pack(c);
  }
};

void copy_blocks(const CellRange& cells, const BlockField& from, const BlockField& to);
void clear_blocks(const CellRange& cells, const BlockField& field);

// x becomes the combination and, if `shift`, y what x was.
void predict_blocks(const CellRange& cells, const Combination& prediction, bool shift);

// Largest |gx| + |gy| + |gz|; 0 without cells.
double strongest_of(const CellRange& cells, const VectorField& acceleration);

// Adds a field, times `scale`, on this rank.
void add_sum(const CellRange& cells, const BlockField& field, double scale, ReproducibleSum& sum);

// Adds (density - mean) * potential, times `scale`, over leaf cells. A density without data is 0.
void add_binding(const CellRange& cells, const BlockField& density, double mean,
                 const BlockField& potential, double scale, ReproducibleSum& sum);

}  // namespace octant::gravity
