// The face of mesh/: a distributed octree of blocks, each octant refined on its own, with its
// fields.
//
// Life of a mesh: construct it (base blocks only, uninitialised fields), set the fields of its
// blocks, `regrid` and set again until nothing changes; then, in a time step,
// `start_ghosts`/`finish_ghosts` around sweeps over `tiles`, `LevelFields::commit`, and
// `synchronise` with the coarser level; `regrid` and `migrate` between coarse steps. Collective
// functions say so.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "core/lattice.hpp"
#include "mesh/domain_faces.hpp"
#include "mesh/field_pool.hpp"
#include "mesh/interpolation.hpp"
#include "mesh/level_jump.hpp"
#include "mesh/send_buffers.hpp"

namespace octant::mesh {

// What physics asks of a mesh.
struct FieldSetup {
  std::vector<Variable> variables;
  GhostShape ghosts = {};  // what a sweep reads beyond a block
  int patch = 0;           // side of the tiles that sweeps work on: 8 or 16; 0: what is faster
  int spares = 1;          // states beside the present one
};

// By level and slot, which octants of a block should be refined (bit = octant).
using OctantMasks = std::vector<std::vector<std::uint8_t>>;
// By level and slot, the octants that flagged cells touch: see flag masks in hydro/refinement.hpp.
using FlagMasks = std::vector<std::vector<std::uint64_t>>;

// What enters through inflow boundaries: given the centres of a box of cells beyond boundary
// 2 * axis + side, a function that sets all their variables (conserved), [variable][k][j][i], for a
// time. Both are pure, and every rank asks. The function is kept as long as the mesh stays as it
// is.
struct Inflow {
  using States = std::function<void(double time, double* values)>;
  std::function<States(int boundary, const Lattice& centres)> states;
  bool moves = false;  // whether it changes with time
};

class Mesh {
 public:
  // Base blocks in equal shares. Throws InputError where block size and ghosts do not fit.
  // Collective.
  Mesh(const Geometry& geometry, const Communicator& communicator, const CommOptions& comm_options,
       FieldSetup setup, std::unique_ptr<Interpolation> interpolation);

  // --- structure -------------------------------------------------------------------------------
  const Geometry& geometry() const { return tree_->geometry(); }
  const Communicator& communicator() const { return tree_->communicator(); }
  const Tree& tree() const { return *tree_; }
  const TreeLevel& blocks(int level) const { return tree_->level(level); }
  // By octant, the owner of an own block's child, or -1 where there is none. Not of the finest
  // level that may be.
  const std::array<std::int32_t, 8>& child_owners(int level, int slot) const {
    return jumps_[level + 1]->child_owners(slot);
  }
  // The cells of own blocks, in the order of TreeLevel::own(), for loops (cell_loop.hpp). Holds
  // until the structure changes.
  const CellRange& cells(int level) const { return cells_[level]; }
  CellRange leaf_cells(int level) const { return cells(level).leaves(); }
  // Those of the own blocks with these slots, in their order: a new list on the device.
  CellRange cells(int level, std::span<const int> slots) const;
  int finest_level() const { return finest_level_; }  // the finest level that exists on any rank
  const std::vector<Variable>& variables() const { return setup_.variables; }
  const BlockLayout& layout() const { return layout_; }

  // --- data of one level -----------------------------------------------------------------------
  LevelFields& fields(int level) { return fields_[level]; }
  const LevelFields& fields(int level) const { return fields_[level]; }
  const LevelHalo& halo(int level) const { return halos_[level]; }
  FieldPointers pointers(int level, int state) const;
  double* registers(int level) { return registers_[level].data(); }
  // The faces of own leaf cells at the domain's boundaries, whose fluxes the registers hold, too.
  const std::vector<DomainFace>& domain_faces(int level) const {
    return domain_faces_[level].faces();
  }
  // In cells of the block: which fluxes of an own block count in the registers.
  std::vector<FluxRequest> flux_requests(int level, int slot) const;

  // What enters where a boundary is an inflow; until set_inflow_time() at time 0.
  void set_inflow(Inflow inflow) { inflow_ = std::move(inflow); }
  // The time of the states of a level whose ghosts are filled from now on.
  void set_inflow_time(int level, double time);

  // --- ghost data ------------------------------------------------------------------------------
  // Ghost cells of a level's state. `theta` is its time between the coarser level's old (0) and
  // present (1) states. Between the two calls interior tiles may be swept. Scratch is shared: the
  // ghosts of one level at a time are valid. Collective.
  void start_ghosts(int level, int state, double theta);
  void finish_ghosts(int level, int state);
  void fill_ghosts(int level, int state, double theta);

  // Only what finer levels interpolate from: other ranks' cells and boundaries. They are sent; the
  // finer level's next ghosts wait for what arrives, after they have sent their own. Collective.
  void refresh_halo(int level, int state);

  // Ghosts that are interpolated lie in working memory, and are forgotten for others to have it.
  void forget_ghosts() { scratch_ = {}; }
  FieldPool& working_memory() { return pool_; }

  // --- coupling of levels ----------------------------------------------------------------------
  // Forgets the fluxes between a level and the coarser one: at the start of the coarser one's step.
  void clear_registers(int fine_level);
  // Which cells of the coarser level synchronise() corrects, of this rank.
  Corrections corrections(int fine_level) const { return jumps_[fine_level]->corrections(); }
  // The coarse fluxes that it replaces, in registers that CorrectionTask::coarse counts.
  struct CoarseFluxes {
    const double* values;
    std::int64_t registers;
  };
  CoarseFluxes coarse_fluxes(int fine_level) const {
    const LevelJump& jump = *jumps_[fine_level];
    return {registers_[fine_level - 1].data() + jump.coarse_begin(), jump.coarse_registers()};
  }
  // Corrects the coarser level by the registers and puts the mean of the fine cells into it. What
  // flowed of variable 0 on the coarser level is corrected by them, too.
  void synchronise(int fine_level, const FaceFlow& coarse_flow = {});
  // The mean of fine cells into all coarser levels down to `coarsest`. Both collective.
  void restrict_all(int coarsest = 0);

  // --- change of structure, between coarse steps -----------------------------------------------
  // Refines and derefines so that flagged octants are covered, neighbours across faces, edges and
  // corners differ by one level at most, and every fine ghost can be interpolated. New blocks are
  // interpolated, old ones vanish into their parents. True if anything changed. Collective.
  bool regrid(const FlagMasks& flags);

  // Moves blocks to new owners: by level, one rank per own block in the order of TreeLevel::own().
  // Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // Replaces all own blocks (restart), uninitialised. InputError if they are no octree. Collective.
  struct BlockList {
    std::vector<Key> keys;
    std::vector<std::uint8_t> refined;
  };
  void replace_blocks(const std::vector<BlockList>& levels);

  // Bytes of fields, registers and tables on this rank.
  std::int64_t bytes() const;
  std::vector<ExchangeCount> exchange_counts() const;

 private:
  void rebuild();
  void build_tables();
  void update_jumps();
  void append_flux_requests(int level, int slot, std::vector<FluxRequest>& requests) const;
  FluxRequests changed_flux_requests(int level) const;
  void update_cells(int level);
  void start_messages(int level, int state, const HaloMessages& messages, SendBuffers& buffers,
                      Exchanger& exchanger, double* received);
  double* scratch() const;
  void take_scratch();
  void finish_refresh(int level);
  void start_ghosts(int level, int state, double theta,
                    const DeviceArray<const InterpolationTask>& interpolations);
  void interpolate_ghosts(int level, double theta,
                          const DeviceArray<const InterpolationTask>& tasks);
  DeviceArray<const InterpolationTask> interpolations_around(int level,
                                                             const std::vector<int>& slots) const;
  Inflow::States inflow_states(int level, const InflowBox& box) const;
  void evaluate_inflow(int level);
  void fill_level_boundaries(int level, int state, const DeviceArray<const BoundaryTask>& tasks);
  void add_children(int level, const std::vector<std::uint8_t>& wanted);
  void remove_children(const OctantMasks& wanted);

  FieldSetup setup_;
  BlockLayout layout_;
  std::unique_ptr<Tree> tree_;  // where it stays: halos refer to it
  std::unique_ptr<Interpolation> interpolation_;
  int finest_level_ = 0;

  std::vector<DeviceTable<OwnBlock>> own_blocks_,
      former_blocks_;  // of cells_; the former to copy from
  std::vector<CellRange> cells_;
  std::vector<LevelFields> fields_;
  Halos halos_;
  std::vector<std::unique_ptr<LevelJump>> jumps_;  // [fine level], none at 0
  std::vector<DeviceArray<double>> registers_;
  std::vector<DomainFaces> domain_faces_;
  FieldPool pool_;
  std::int64_t scratch_doubles_ = 0;
  DeviceArray<double> scratch_;  // none until ghosts are filled
  std::vector<SendBuffers> send_buffers_, refresh_buffers_;
  struct Refresh {
    int state = -1;  // whose halo is under way by itself, if any
    DeviceArray<double> received;
  };
  std::vector<Refresh> refreshes_;  // by level

  std::vector<Exchanger> ghost_exchangers_, refresh_exchangers_, octant_exchangers_,
      face_exchangers_;
  Exchanger migration_;
  VectorAxes vector_axes_;
  Inflow inflow_;
  struct InflowValues {
    double time = 0.0;
    bool known = false;  // at that time, for the present structure
    DeviceArray<double> values;
    std::vector<Inflow::States> states;  // of the level's inflow boxes, or none yet
  };
  std::vector<InflowValues> inflow_values_;  // by level
};

}  // namespace octant::mesh
