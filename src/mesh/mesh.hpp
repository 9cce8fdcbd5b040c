// Interface of the mesh: a distributed octree of blocks, refined octant by octant, with its fields.
//
// Use of a mesh: construct it (base blocks only, uninitialised fields); set the fields of all
// blocks and call `regrid`, repeatedly until nothing changes; in a time step call
// `start_ghosts`/`finish_ghosts` around sweeps over `tiles`, `LevelFields::commit`, and
// `synchronise` with the coarser level; call `regrid` and `migrate` between coarse steps.
// Collective functions are marked.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "core/lattice.hpp"
#include "mesh/coarse_fine_boundary.hpp"
#include "mesh/domain_faces.hpp"
#include "mesh/field_info.hpp"
#include "mesh/field_pool.hpp"
#include "mesh/interpolation.hpp"
#include "mesh/transfer.hpp"

namespace octant::mesh {

// Requirements of the physics on a mesh.
struct FieldSetup {
  std::vector<FieldInfo> variables;  // conserved variables, stored in cells
  int others = 0;                    // number of last variables not advanced by sweeps of the gas
  GhostShape ghosts = {};            // cells that a sweep reads beyond a block
  int patch = 0;                     // side of tiles: 8 or 16; 0: selected by estimated speed
  int spares = 1;                    // states besides the present one
  Spin spin = {};                    // variables of the intra-cell angular momentum
};

// Octants of each block that should be refined, by level and slot (bit = octant).
using OctantMasks = std::vector<std::vector<std::uint8_t>>;
// Octants near flagged cells, by level and slot: see the flag masks in hydro/refinement.hpp.
using FlagMasks = std::vector<std::vector<std::uint64_t>>;

// Inflow boundary condition: for the centres of a box of cells beyond boundary 2 * axis + side,
// `states` returns a function that sets all conserved variables of the cells, [variable][k][j][i],
// at a given time. Both functions must be pure and are called on every rank. The returned function
// is kept until the mesh changes.
struct Inflow {
  using States = std::function<void(double time, double* values)>;
  std::function<States(int boundary, const Lattice& centres)> states;
  bool moves = false;  // true if the inflow depends on time
};

// Blocks of this rank on all levels, their conserved variables, and the communication with other
// ranks. Fields are in device memory, [slot][variable][k][j][i].
class Mesh {
 public:
  // Distributes the base blocks equally. Throws InputError if blocks are too small for the ghosts.
  // Collective.
  Mesh(const Geometry& geometry, const Communicator& communicator, const CommOptions& comm_options,
       FieldSetup setup, std::unique_ptr<Interpolation> interpolation);

  // --- structure -------------------------------------------------------------------------------
  // Domain, block size and levels.
  const Geometry& geometry() const { return tree_->geometry(); }
  // Communicator of all ranks that share the mesh.
  const Communicator& communicator() const { return tree_->communicator(); }
  // Octree of own blocks and their neighbours.
  const Tree& tree() const { return *tree_; }
  // Own blocks of a level with their slots, and the blocks of other ranks around them.
  const TreeLevel& blocks(int level) const { return tree_->level(level); }
  // Owners of the children of an own block, by octant; -1 if there is no child. Not available on
  // max_level().
  const std::array<std::int32_t, 8>& child_owners(int level, int slot) const {
    return level_boundaries_[level + 1]->child_owners(slot);
  }
  // Cells of own blocks, in the order of TreeLevel::own(), for loops (cell_loop.hpp). Valid until
  // the structure changes.
  const CellRange& cells(int level) const { return cells_[level]; }
  // Leaf cells of own blocks: those that finer blocks do not cover.
  CellRange leaf_cells(int level) const { return cells(level).leaves(); }
  // Sets the counters of processor cycles, by slot, for ranges that cells() returns later; null
  // stops counting.
  void count_cycles(int level, std::uint64_t* by_slot) { cells_[level].cycles = by_slot; }
  // Returns the cells of the own blocks in `slots`, in that order. Allocates a list on the device.
  CellRange cells(int level, std::span<const int> slots) const;
  int finest_level() const { return finest_level_; }  // finest level with blocks on any rank
  // Names, units and centring of the stored variables, in their order.
  const std::vector<FieldInfo>& variables() const { return setup_.variables; }
  // Strides of the arrays of all levels.
  const BlockLayout& layout() const { return layout_; }

  // --- data of one level -----------------------------------------------------------------------
  // States of a level; state 0 is the present one.
  LevelFields& fields(int level) { return fields_[level]; }
  // States of a level, for reading.
  const LevelFields& fields(int level) const { return fields_[level]; }
  // Ghost cells of a level that this rank reads: received, boundary and interpolated cells.
  const LevelHalo& halo(int level) const { return halos_[level]; }
  // Device pointers to a state of a level and its halo, for kernels.
  FieldPointers pointers(int level, int state) const;
  // Flux registers of a level at coarse-fine boundaries, in device memory.
  double* registers(int level) { return registers_[level].data(); }
  // Faces of own leaf cells on the domain's boundaries. Their fluxes are also added to registers.
  const std::vector<DomainFace>& domain_faces(int level) const {
    return domain_faces_[level].faces();
  }
  // Flux requests of an own block, in cells of the block.
  std::vector<FluxRegisterFaces> flux_requests(int level, int slot) const;

  // Sets the inflow boundary condition. The time is 0 until set_inflow_time().
  void set_inflow(Inflow inflow) { inflow_ = std::move(inflow); }
  // Sets the time of a level's states for inflow values in the next filling of ghosts.
  void set_inflow_time(int level, double time);

  // --- ghost data ------------------------------------------------------------------------------
  // Starts to fill the ghost cells of a level's state. `theta` is its time between the coarser
  // level's old (0) and present (1) states. Interior tiles may be swept between start and finish.
  // Scratch is shared: only the ghosts of one level at a time are valid. Collective.
  void start_ghosts(int level, int state, double theta);
  // Completes start_ghosts(). Collective.
  void finish_ghosts(int level, int state);
  // Fills the ghost cells: start_ghosts() and finish_ghosts(). Collective.
  void fill_ghosts(int level, int state, double theta);

  // Updates only the remote cells and boundary cells from which the finer level is interpolated.
  // The exchange completes in the next start_ghosts() of the finer level. Collective.
  void refresh_halo(int level, int state);

  // Releases the memory of interpolated ghosts for other uses.
  void release_ghosts() { scratch_ = {}; }
  // Pool of device memory for fields that are needed during a step only.
  FieldPool& working_memory() { return pool_; }

  // --- coupling of levels ----------------------------------------------------------------------
  // Sets the flux registers between a level and the coarser one to zero, before a coarse step.
  void clear_registers(int fine_level);
  // Own cells of the coarser level that synchronise() corrects.
  Corrections corrections(int fine_level) const {
    return level_boundaries_[fine_level]->corrections();
  }
  // Coarse fluxes that synchronise() replaces, in registers indexed by CorrectionTask::coarse;
  // device memory.
  struct CoarseFluxes {
    const double* values;
    std::int64_t registers;
  };
  // Returns the coarse fluxes at the boundary between a level and the coarser one.
  CoarseFluxes coarse_fluxes(int fine_level) const {
    const CoarseFineBoundary& jump = *level_boundaries_[fine_level];
    return {registers_[fine_level - 1].data() + jump.coarse_begin(), jump.coarse_registers()};
  }
  // Refluxes the coarser level and restricts the fine cells to it. `coarse_flow`, the flow of
  // variable 0 on the coarser level, is corrected as well. Collective.
  void synchronise(int fine_level, const FaceFlow& coarse_flow = {});
  // Restricts fine cells to all coarser levels down to `coarsest`. Collective.
  void restrict_all(int coarsest = 0);

  // --- change of structure, between coarse steps -----------------------------------------------
  // Refines and derefines so that flagged octants are refined, neighbours across faces, edges and
  // corners differ by at most one level, and every fine ghost cell can be interpolated. Cells of
  // new blocks are interpolated; removed blocks are already restricted to their parents. Returns
  // true if the mesh changed. Collective.
  bool regrid(const FlagMasks& flags);

  // Migrates blocks to new owners: by level, one rank per own block in the order of
  // TreeLevel::own(). Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // Keys and refined octants of own blocks of one level.
  struct BlockList {
    std::vector<Key> keys;
    std::vector<std::uint8_t> refined;
  };
  // Replaces all own blocks by those in `levels`, for a restart; fields are uninitialised. Throws
  // InputError for an invalid octree. Collective.
  void replace_blocks(const std::vector<BlockList>& levels);

  // Registers a function that is called after every change of the structure, for objects that
  // follow the mesh, such as face-centred fields.
  void on_change(std::function<void()> follow) { followers_.push_back(std::move(follow)); }

  // Memory of fields, registers and tables on this rank, in bytes.
  std::int64_t bytes() const;
  // Messages and bytes of the mesh by exchange backend, since the start of the run. Local.
  std::vector<ExchangeCount> exchange_counts() const;

 private:
  void rebuild();
  void build_tables();
  void update_boundaries();
  void append_flux_requests(int level, int slot, std::vector<FluxRegisterFaces>& requests) const;
  FluxRequests changed_flux_registers(int level) const;
  void update_cells(int level);
  void start_messages(int level, int state, const HaloMessages& messages, SendBuffers& buffers,
                      Exchanger& exchanger, double* received);
  double* scratch() const;
  void allocate_scratch();
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
  std::unique_ptr<Tree> tree_;  // octree, at a fixed address, because halos refer to it
  std::unique_ptr<Interpolation> interpolation_;
  int finest_level_ = 0;

  std::vector<DeviceTable<OwnBlock>> own_blocks_,
      // own blocks before a change of the structure, whose entries are reused
      former_blocks_;
  std::vector<CellRange> cells_;
  std::vector<LevelFields> fields_;
  Halos halos_;
  std::vector<std::unique_ptr<CoarseFineBoundary>>
      level_boundaries_;  // boundaries by fine level; none at 0
  std::vector<DeviceArray<double>> registers_;
  std::vector<DomainFaces> domain_faces_;
  FieldPool pool_;
  std::int64_t scratch_doubles_ = 0;
  DeviceArray<double> scratch_;  // empty until ghosts are filled
  std::vector<SendBuffers> send_buffers_, refresh_buffers_;
  struct Refresh {
    int state = -1;  // state whose halo exchange is in progress, or -1
    DeviceArray<double> received;
  };
  std::vector<Refresh> refreshes_;  // by level

  std::vector<Exchanger> ghost_exchangers_, refresh_exchangers_, octant_exchangers_,
      face_exchangers_;
  Exchanger migration_;
  SignChanges sign_changes_;
  Inflow inflow_;
  struct InflowValues {
    double time = 0.0;
    bool known = false;  // true if the values are valid for `time` and the present structure
    DeviceArray<double> values;
    std::vector<Inflow::States> states;  // states by inflow box; empty until evaluated
  };
  std::vector<InflowValues> inflow_values_;  // by level
  std::vector<std::function<void()>> followers_;
};

}  // namespace octant::mesh
