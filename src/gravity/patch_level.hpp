// Levels as patches in device memory: data common to solvers, forces and transforms.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "gravity/coarse_boxes.hpp"
#include "gravity/patch_exchange.hpp"
#include "mesh/field_pool.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

using mesh::FieldPool;

// Adds a constant to all values of a field.
void shift(const DeviceArray<double>& field, double constant);

// Norms of the potential of a level; see field_norms() in interpolated.hpp.
struct FieldNorms {
  double variation = 0.0, potential = 0.0;
};

// One level as patches: tables, halo exchange, and exchange with blocks of the mesh.
class PatchLevel {
 public:
  // Fields are allocated from the pool, which must outlive this object. Collective.
  PatchLevel(const mesh::Tree& tree, int level, const CommOptions& options, FieldPool& pool);

  // Patches of the level.
  const LevelPatches& patches() const { return patches_; }
  // Surrounding patches of each own slot, in device memory.
  const DeviceArray<const PatchTable>& tables() const { return tables_; }
  // LevelPatches::masked() in device memory.
  const DeviceArray<const std::uint8_t>& masked() const { return masked_; }
  // Own slots of masked patches, in device memory.
  const DeviceArray<const std::int32_t>& masked_patches() const { return masked_patches_; }
  HaloExchange& halo() { return halo_; }  // halo exchange to a depth of 2
  // Exchange between blocks and patches.
  PieceTransfer& transfer() { return transfer_; }

  // Allocates a field of the finest grid. offset_of_row() returns the index of a row.
  DeviceArray<double> make_field(const std::string& label) const {
    return make_field(label, patches_.side());
  }
  // Allocates a field of a coarser grid, with patches of `side`^3 cells.
  DeviceArray<double> make_field(const std::string& label, int side) const {
    return pool_.allocate(label, patches_.values(side));
  }
  // Field to allocate, with values from blocks, and 0 in cells without a block.
  struct Wanted {
    std::string label;
    Combination values;
  };
  // Allocates several fields with values from blocks, in one exchange. Collective.
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
  // Allocates a field with values from blocks. Collective.
  DeviceArray<double> make_field(const std::string& label, const Combination& values) {
    return make_fields({{label, values}}).front();
  }

  // Returns the sum of squares over the cells of each own patch. Local.
  DeviceArray<double> squares(const DeviceArray<double>& field) const;
  // Returns the root of the sum of squares over all cells. Same bits on any number of ranks.
  // Collective.
  double norm(const DeviceArray<double>& field) const;
  // Returns the sum over all cells. Same bits on any number of ranks. Collective.
  double sum(const DeviceArray<double>& field) const;
  // Returns the sum of one term per own patch. Same bits on any number of ranks. Collective.
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

// Returns the sum of one term per own patch of this rank. Local.
ReproducibleSum own_sum(const DeviceArray<double>& terms);

// Levels of a mesh, each created at first use. All functions are collective.
class PatchLevels {
 public:
  // Mesh and pool must outlive this object.
  PatchLevels(const mesh::Mesh& mesh, const CommOptions& options, FieldPool& pool)
      : mesh_(mesh), options_(options), pool_(pool) {}

  // Must be called whenever blocks were created, removed or moved.
  void connect() { levels_.clear(); }

  // Returns a level; the reference is valid until connect() is called.
  PatchLevel& at(int level);
  // Returns the boxes of coarse cells around a level's patches; valid until connect() is called.
  CoarseBoxes& boxes(int level);

 private:
  struct Level {
    std::unique_ptr<PatchLevel> patches;
    std::unique_ptr<CoarseBoxes> boxes;
  };

  const mesh::Mesh& mesh_;
  CommOptions options_;
  FieldPool& pool_;
  std::map<int, Level> levels_;
};

}  // namespace octant::gravity
