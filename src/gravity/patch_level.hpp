// A level as patches in device memory: what its solver, its force and its transforms have in common
// between two changes of the mesh.
#pragma once

#include <array>
#include <string>

#include "gravity/halo_exchange.hpp"
#include "gravity/piece_transfer.hpp"
#include "mesh/field_pool.hpp"

namespace octant::gravity {

using mesh::FieldPool;

// Adds a constant to all values.
void shift(const DeviceArray<double>& field, double constant);

// Norms of the potential of a level; see field_norms() in interpolated.hpp.
struct FieldNorms {
  double variation = 0.0, potential = 0.0;
};

class PatchLevel {
 public:
  // Working fields come from the pool, which must outlive this. Collective.
  PatchLevel(const mesh::Tree& tree, int level, const CommOptions& options, FieldPool& pool);

  const LevelPatches& patches() const { return patches_; }
  const DeviceArray<const PatchTable>& tables() const { return tables_; }
  // By own slot; and the own slots of masked patches.
  const DeviceArray<const std::uint8_t>& masked() const { return masked_; }
  const DeviceArray<const std::int32_t>& masked_patches() const { return masked_patches_; }
  HaloExchange& halo() { return halo_; }  // to a depth of 2
  PieceTransfer& transfer() { return transfer_; }

  // A field, in which place_of_row() says where a row lies; or one of a coarser grid, with patches
  // of `side`^3 cells.
  DeviceArray<double> make_field(const std::string& label) const {
    return make_field(label, patches_.side());
  }
  DeviceArray<double> make_field(const std::string& label, int side) const {
    return pool_.allocate(label, patches_.values(side));
  }
  // Some with the values of blocks, and 0 where there are no blocks, from one exchange; or a single
  // one. Collective.
  struct Wanted {
    std::string label;
    Combination values;
  };
  template <std::size_t N>
  std::array<DeviceArray<double>, N> make_fields(const Wanted (&wanted)[N]) {
    std::array<DeviceArray<double>, N> fields;
    std::array<PatchValues, N> values;
    for (std::size_t n = 0; n < N; ++n) {
      fields[n] = make_field(wanted[n].label);
      values[n] = {wanted[n].values, fields[n].data()};
    }
    transfer_.to_patches(values);
    return fields;
  }
  DeviceArray<double> make_field(const std::string& label, const Combination& values) {
    return make_fields({{label, values}}).front();
  }

  // The square root of the sum of squares, and the sum, over all patches; of terms by own patch,
  // their sum. The same bits on any number of ranks. Collective.
  double norm(const DeviceArray<double>& field) const;
  double sum(const DeviceArray<double>& field) const;
  double total(const DeviceArray<double>& terms) const;

 private:
  FieldPool& pool_;
  LevelPatches patches_;
  DeviceArray<const PatchTable> tables_;
  DeviceArray<const std::uint8_t> masked_;
  DeviceArray<const std::int32_t> masked_patches_;
  HaloExchange halo_;
  PieceTransfer transfer_;
};

}  // namespace octant::gravity
