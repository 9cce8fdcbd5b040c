// Fields of own blocks, and kernels of gravity that work on blocks instead of patches.
#pragma once

#include "comm/reproducible_sum.hpp"
#include "core/simd.hpp"
#include "mesh/cell_range.hpp"

namespace octant::gravity {

using mesh::BlockField;
using mesh::CellRange;
using mesh::DeviceArray;

// Vector field of three consecutive components, stride_component apart.
struct VectorField {
  BlockField x;
  std::int64_t stride_component = 0;

  // Address of the x component in a cell.
  KOKKOS_FORCEINLINE_FUNCTION double* at(const mesh::Cell& cell) const { return x.at(cell); }
};

// Linear combination a * x + b * y + c, cell by cell.
struct Combination {
  double a = 1.0;
  BlockField x;
  double b = 0.0;
  BlockField y{};  // not read if b = 0
  double c = 0.0;

  // Value in a cell.
  KOKKOS_FORCEINLINE_FUNCTION double at(std::int64_t slot, std::int64_t cell) const {
    const double first = a * x.data[slot * x.stride + cell];
    return (b == 0.0 ? first : first + b * y.data[slot * y.stride + cell]) + c;
  }
  // Values in a SIMD pack of cells.
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble pack_at(std::int64_t slot, std::int64_t cell) const {
    using PackOf = SimdTraits<SimdDouble>;
    SimdDouble value = SimdDouble(a) * PackOf::load(x.data + slot * x.stride + cell);
    if (b != 0.0) value = value + SimdDouble(b) * PackOf::load(y.data + slot * y.stride + cell);
    return value + SimdDouble(c);
  }
};

// Copies a field in the blocks of `cells`.
void copy_blocks(const CellRange& cells, const BlockField& from, const BlockField& to);
// Sets a field in the blocks of `cells` to 0.
void clear_blocks(const CellRange& cells, const BlockField& field);

// Sets prediction.x to the combination. With `shift`, prediction.y becomes the old x.
void predict_blocks(const CellRange& cells, const Combination& prediction, bool shift);

// Returns this rank's largest |gx| + |gy| + |gz| in the cells; 0 without cells.
double strongest_of(const CellRange& cells, const VectorField& acceleration);

// Adds the sum of a field over the cells, times `scale`, to this rank's part of `sum`.
void add_sum(const CellRange& cells, const BlockField& field, double scale, ReproducibleSum& sum);

// Adds the sum of (density - mean) * potential over leaf cells, times `scale`, to this rank's part
// of `sum`. A density without data is 0.
void add_binding(const CellRange& cells, const BlockField& density, double mean,
                 const BlockField& potential, double scale, ReproducibleSum& sum);

}  // namespace octant::gravity
