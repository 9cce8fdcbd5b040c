// Interface of particles/: points that move through the cells of a mesh, most of them with mass. An
// object holds the particles of one kind (kind.hpp).
//
// A particle belongs to the finest block that contains it. Each level stores its particles
// separately, and may step separately. A particle that leaves its level remains with it until the
// next synchronisation, and interacts with cells of the coarser level. With set_separate_levels()
// every particle is assigned to one level, its force level, which receives its cloud and applies
// its force at its own steps: particles within k_margin of the end of their level to the coarser
// level, although they drift with the finer one, and all others to their own level.
//
//   density   deposit(level) once, then add_density(level, ...): clouds in cells, in integers
//             (masses.hpp), with the same bits on any number of ranks and threads
//   motion    kick(level, ...) or carry(level, ...), drift(level, ...), and synchronise(level) when
//             that level and all finer ones are at the same time
//   mesh      migrate(owners) before Mesh::migrate; adapt_to_mesh() after Mesh::regrid and migrate
//   number    add() particles with ids, create() particles without ids, remove()
//   files     file_rows(), read_...; add in batches
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/joint_sums.hpp"
#include "comm/reproducible_sum.hpp"
#include "mesh/mesh.hpp"
#include "particles/kind.hpp"
#include "particles/neighbourhood.hpp"
#include "particles/particle_set.hpp"

namespace octant::particles {

// Particles to be added to a run, in any order, on any rank. Code units.
struct ParticleBatch {
  std::vector<std::array<double, 3>> position, velocity;
  std::vector<double> mass;       // empty if the kind has no mass
  std::vector<std::uint64_t> id;  // unique over all ranks and batches of the kind
  NamedColumns columns{};         // columns of the kind; missing ones have their initial value

  // Number of particles.
  std::size_t size() const { return position.size(); }
};

// Vector field on own blocks: component d of cell (i, j, k) of a block is at
//   slot * stride_slot + d * stride_component + (k N + j) N + i.
struct VectorField {
  const double* data = nullptr;
  std::int64_t stride_slot = 0, stride_component = 0;
};

// Field around the particles of a level, of any kind: own blocks and copies of other ranks' cells.
// The mesh must not change.
struct FieldNearby {
  CellArrays<const double> cells;
  DeviceArray<double> ghosts;  // copies of other ranks' cells
};

// Mass added to a level, with sign 1, or removed from it, with sign -1.
struct MassChange {
  double position[3], mass, sign;
  std::int32_t home;
  std::int32_t uses_coarser_level = 0;  // as ParticleColumns::uses_coarser_level
};
using MassChanges = std::vector<std::vector<MassChange>>;  // by level
// Returns the mass change by the particle with the packed columns `row`.
MassChange change_of(std::span<const Word> row, std::int32_t home, bool uses_coarser_level,
                     double sign);

// Totals over the particles of a kind on all ranks, in code units.
struct ParticleTotals {
  std::int64_t count = 0;
  double mass = 0.0, kinetic_energy = 0.0;
  std::array<double, 3> momentum{};
};

// Particles of a kind that have left the domain through open boundaries since the run began: their
// number, mass, momentum and kinetic energy when they left, and their full (not half) potential
// energy with respect to all matter that stayed.
struct ParticleOutflow {
  // Indices of the sums.
  enum { mass, momentum, kinetic = momentum + 3, potential = kinetic + 1, terms };
  std::int64_t count = 0;
  std::array<double, terms> amount{};
};

// Particles of one kind on all levels of a mesh. A particle belongs to the rank that owns its
// block. "Own particles" are those of this rank.
class Particles {
 public:
  // Creates an object without particles. The mesh must outlive it. Collective.
  Particles(Kind kind, mesh::Mesh& mesh, const CommOptions& comm_options);

  // --- number ----------------------------------------------------------------------------------
  // Adds particles and sends them to the ranks that own their blocks. Throws InputError on all
  // ranks if a particle lies outside the domain, has no positive, finite mass, a velocity that is
  // not finite, or an id outside the kind's range. Collective; a rank may add none.
  void add(const ParticleBatch& batch);

  // Creates particles in leaf cells of this rank's own blocks and returns their ids; `batch` has
  // none. Ids continue those of the kind in the order of level, Morton key of the cell, and index
  // in the batch within a cell, independent of the domain decomposition. Must be called once for
  // all new particles of a time. Their masses enter the next deposit(). Throws RunError on all
  // ranks as add(), and if a cell is not an own leaf. Collective; a rank may create none.
  std::vector<std::uint64_t> create(ParticleBatch batch);
  // Removes own particles by number (see below), each listed once. Their ids are not reused. Local.
  void remove(std::span<const std::int64_t> own);

  // Replaces velocities, masses and columns of own particles, by number: `batch` has their rows as
  // batch_of() returned them, with unchanged positions and ids. Masses enter the next deposit().
  // Throws RunError as add(). Local.
  void change(std::span<const std::int64_t> own, const ParticleBatch& batch);

  // Number of ids assigned so far: the next created particle gets first_id() + assigned_ids().
  std::int64_t assigned_ids() const { return assigned_ids_; }
  // Sets assigned_ids() after a restart.
  void set_assigned_ids(std::int64_t count) { assigned_ids_ = std::max(assigned_ids_, count); }

  // Sets whether every level solves for its own potential, from its own density. If so, one level
  // provides a particle's force and receives its whole cloud, and restriction to coarser levels
  // preserves its centre of mass. Otherwise (the default) only the density of leaf cells matters,
  // and refined cells contain the sums over their children. Must be called before particles are
  // added.
  void set_separate_levels(bool apart) { levels_are_separate_ = apart; }
  // Chooses the force levels (to which particles are assigned) of the particles on levels finer
  // than `coarsest`, which must be at the same time as that level. synchronise() and
  // adapt_to_mesh() do so; until the next call, particles created since then are assigned to their
  // own level. Local.
  void choose_force_levels(int coarsest);

  // --- density ---------------------------------------------------------------------------------
  // Deposits the masses of the particles of `coarsest` and all finer levels in cells. A level holds
  // the clouds of its own particles, and those of finer levels as its cells resolve them, and thus
  // all mass of finer levels. Kinds without mass are skipped. Throws RunError if a mass is not a
  // positive, finite number. Collective: one reduction for all kinds, which share a mesh.
  static void deposit(std::span<Particles> kinds, int coarsest);
  // As above without the reduction: `maxima` are the maxima over all ranks of
  // deposit_reduction_terms(kinds), which drifts do not change. Collective.
  static void deposit(std::span<Particles> kinds, int coarsest, std::span<const double> maxima);
  // Local terms of the reduction before a deposit, for each kind with mass: minus the smallest mass
  // and the largest mass of own particles, a flag for invalid masses, the number of particles, and
  // two flags per level (any particles; any assigned to the coarser level). deposit() requires
  // their maxima over all ranks. Local.
  static std::vector<double> deposit_reduction_terms(std::span<const Particles> kinds);
  // Largest masses by kind, from the maxima over all ranks of deposit_reduction_terms(kinds); 0
  // without particles or mass. Local.
  static std::vector<double> largest_masses(std::span<const Particles> kinds,
                                            std::span<const double> maxima);
  // Adds a level's density, from the last deposit, to own blocks.
  void add_density(int level, const mesh::BlockField& density) const;
  // Adds the density of all particles to the base level's own blocks, deposited with cloud-in-cell
  // kernels one base cell wide. Requires a periodic domain and all levels at the same time.
  // Collective.
  void add_base_clouds(const mesh::BlockField& density) const;
  // Mass in each cell of own blocks, [slot][cell], in units of quantum(level).
  const DeviceArray<std::int64_t>& mass(int level) const { return levels_[level].mass; }
  // Mass unit of the deposit on a level: all masses in cells are multiples of it.
  double quantum(int level) const { return levels_[level].quantum; }
  // Flags the cells of a level's own blocks that hold mass, from the last deposit, and cells within
  // `buffer` of them, as mesh::flag_dense_cells().
  void flag_cells(int level, int buffer, const DeviceArray<std::uint64_t>& masks) const;

  // --- motion ----------------------------------------------------------------------------------
  // Fetches `components` of a field around a level's particles, for all kinds on the same mesh.
  // `coarser` is the field on the next coarser level, for particles near the end of this one; it is
  // unused on level 0. Collective.
  FieldNearby fetch(int level, const VectorField& here, const VectorField& coarser, int components);
  // Fetches the coarser level's field for those particles of a level that are assigned to the
  // coarser level; empty on level 0. Collective.
  FieldNearby fetch_coarser(int level, const VectorField& coarser, int components);

  // Kicks a level's particles, v += dt g: those assigned to their own level, with g interpolated
  // with the clouds of deposit(), and those assigned to the coarser level. Local.
  void kick(int level, const FieldNearby& force, double dt);
  // Kicks only the particles that are assigned to the coarser level. Local.
  void kick_by_coarser_level(int level, const FieldNearby& coarser_force, double dt);

  // Sets the velocity of a level's particles to that of the gas: momentum over density of their
  // clouds. Fields are those of the gas, the density before the momentum. Collective.
  void carry(int level, const VectorField& here, const VectorField& coarser);

  // Moves a level's particles, x += dt v, across periodic boundaries and back from reflecting
  // ones; beyond others they leave the domain (see outflow()). find_blocks() must follow. Local.
  static void move(std::span<Particles> kinds, int level, double dt);
  // Assigns the particles of a level, after move(), to their blocks on this level. Throws RunError
  // if one left its level by more than 1.5 cells. The messages also tell whether `statement` holds
  // on any rank, which is returned. Collective: all kinds, which share a mesh, are routed together.
  static bool find_blocks(std::span<Particles> kinds, int level, bool statement = false);
  // Moves the particles of a level and assigns them to their blocks. Collective.
  static void drift(std::span<Particles> kinds, int level, double dt) {
    move(kinds, level, dt);
    find_blocks(kinds, level);
  }

  // Exact sums over the particles of levels >= `coarsest` on this rank: terms that are subtracted
  // again leave no rounding error.
  struct MassSums {
    ReproducibleSum weighted;              // sum of mass times a field
    std::vector<ReproducibleSum> squared;  // sums of squared masses, by level

    int coarsest = 0;
    // Fields that weight the masses, by level, as returned by fetch() and fetch_coarser().
    std::vector<FieldNearby> fields, coarser_fields{};
  };
  // Sums for the given fields, by level, with one component each, interpolated as in kick().
  // Squared masses count for the level to which a particle is assigned. Local.
  MassSums mass_sums(std::vector<FieldNearby> fields, std::vector<FieldNearby> coarser_fields,
                     int coarsest) const;

  // Moves particles to the finest level at their positions. All levels >= `coarsest` must be at the
  // same time. Updates the sums of each kind, whose fields must not have changed since; `sums` is
  // empty, or null for kinds without sums. Collective: all kinds have common reductions.
  static void synchronise(std::span<Particles> kinds, int coarsest,
                          std::span<MassSums* const> sums = {});

  // Returns by level the time in which the fastest particle of this rank crosses a cell; infinity
  // without motion. To be multiplied by a Courant number of at most 0.7, because a particle may
  // leave its level by two steps. Local.
  std::vector<double> crossing_times() const;

  // Particles that have left through open boundaries, on all ranks, up to the last
  // collect_outflow(). Checkpoints restore it with set_outflow().
  const ParticleOutflow& outflow() const { return outflow_; }
  // Sets outflow() after a restart.
  void set_outflow(const ParticleOutflow& outflow) { outflow_ = outflow; }

  // Adds the particles that have left since the last call to outflow(). Their potential energy is
  // computed from `potentials`, the potential of every level (null without gravity), minus
  // `self_potential` times their squared masses. Must be called for all kinds of a mesh that has
  // not changed since they left. Collective.
  static void collect_outflow(std::span<Particles> kinds,
                              const std::function<VectorField(int level)>& potentials,
                              double self_potential);

  // --- structure -------------------------------------------------------------------------------
  // Moves particles with the blocks. Must be called once after every Mesh::regrid and
  // Mesh::migrate, for all kinds on the mesh, which share tables. Collective.
  static void adapt_to_mesh(std::span<Particles> kinds);
  // Must be called before Mesh::migrate with the same owners; adapt_to_mesh() follows. Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // --- measurements ----------------------------------------------------------------------------
  std::int64_t count() const;  // number of particles on this rank
  // number of particles on all ranks, by level; collective
  std::vector<std::int64_t> global_counts() const;
  // Passes number, mass, momentum and kinetic energy of own particles to `joint`, whose reduction
  // sets `totals` by kind, with the same bits on any number of ranks. Local.
  static void add_totals(std::span<const Particles> kinds, JointSums& joint,
                         std::vector<ParticleTotals>& totals);
  // Number of particles in each block of a level, by slot, for load balance.
  std::vector<std::int32_t> counts_by_slot(int level) const;
  std::int64_t bytes() const;  // memory on this rank in bytes
  // Messages and bytes of particle exchanges, by backend. Local.
  std::vector<ExchangeCount> exchange_counts() const;

  // --- columns, for files ----------------------------------------------------------------------
  // Returns the row of each of this rank's particles in a file sorted by id. The functions below
  // identify a particle by its index in this list (its number), which is valid until particles
  // move. Throws RunError if an id occurs twice. Collective.
  std::vector<std::int64_t> file_rows() const;
  // Numbers of all own particles in the order of their ids.
  std::vector<std::int64_t> in_order_of_id() const;
  // Positions of own particles by number, [n][3].
  std::vector<double> read_positions(std::span<const std::int64_t> own) const;
  // Velocities of own particles by number, [n][3].
  std::vector<double> read_velocities(std::span<const std::int64_t> own) const;
  // Masses of own particles by number.
  std::vector<double> read_masses(std::span<const std::int64_t> own) const;
  // Values of one of the kind's columns for own particles, by number.
  ColumnValues read_column(const std::string& of_name, std::span<const std::int64_t> own) const;
  // Ids of own particles by number.
  std::vector<std::uint64_t> read_ids(std::span<const std::int64_t> own) const;
  // Block of this rank by level and slot.
  struct BlockSlot {
    std::int32_t level, slot;
  };
  // Finest blocks that contain own particles, by number; valid after synchronise(0).
  std::vector<BlockSlot> read_blocks(std::span<const std::int64_t> own) const;
  // Number of words of a row; see ParticleSet::words().
  int row_words() const { return levels_[0].set.row_words(); }
  // Whole rows of own particles, by number, as exchanged between ranks.
  std::vector<Word> rows(std::span<const std::int64_t> own) const;
  // Converts the result of rows() to a batch.
  ParticleBatch batch_of(std::span<const Word> rows) const;

  // Name, columns and properties of the kind.
  const Kind& kind() const { return kind_; }
  // Name of the kind.
  const std::string& name() const { return kind_.name; }
  // Mesh that contains the particles.
  const mesh::Mesh& mesh() const { return mesh_; }
  // Communicator of all ranks.
  const Communicator& communicator() const { return mesh_.communicator(); }
  // Particles of a level on this rank.
  ParticleSet& set(int level) { return levels_[level].set; }
  // Particles of a level on this rank, for reading.
  const ParticleSet& set(int level) const { return levels_[level].set; }

 private:
  struct Level {
    ParticleSet set;
    std::shared_ptr<const Neighbourhood> neighbourhood;
    DeviceArray<std::int64_t> mass;  // in quanta, [slot][cell]; only of kinds with mass
    double quantum = 1.0;
    bool has_mass = false;  // true if a cell of any rank had mass in the last deposit
    // true if any particle of this rank is assigned to the coarser level
    bool any_uses_coarser_level = false;
    KeyTable<std::int32_t> parents{};  // own block -> owner of its parent, at the last adaptation
    Exchanger fields, coarser_fields, masses, sums;
  };
  // Result of the search of this rank for the block that contains a particle.
  struct BlockSearch {
    enum Result {
      found,          // block `slot` of `level`, on this rank
      on_other_rank,  // rank `owner` has the block, or continues the search, at `level`
      outside_level   // outside the blocks of `level`, the coarsest one searched, on this rank
    };
    Result result;
    int level, owner;
    int slot = k_no_block;
  };
  // Rows to be appended to the particles of a level.
  struct NewRows {
    std::vector<Word> words;
    std::vector<std::int32_t> homes;
    std::vector<std::uint8_t> uses_coarser_level;

    void add(std::span<const Word> row, std::int32_t home, bool is_on_coarser_level = false);
  };
  using NewRowsByLevel = std::vector<NewRows>;
  // Rows to be sent to other ranks. In a message, the first word is the level, with
  // k_uses_coarser_level if the particle is assigned to the coarser level; the words of the row
  // follow.
  struct OutgoingRows {
    static constexpr Word k_uses_coarser_level = Word{1} << 32;
    std::vector<int> ranks;
    std::vector<Word> words;

    void add(int rank, int level, std::span<const Word> row, bool is_on_coarser_level = false);
  };

  // Particles of a kind that change their blocks, and what find_homes() reports of them.
  struct MovingKind {
    Particles* kind;
    MassSums* sums;        // null if they are not wanted
    OutgoingRows leaving;  // to other ranks
    MassChanges changes;   // noted only if sums are wanted

    MassChanges* noted() { return sums ? &changes : nullptr; }
  };

  void check(const ParticleBatch& batch) const;
  std::vector<Word> row_of(const ParticleBatch& batch, std::size_t n) const;
  std::optional<BlockSlot> own_leaf(const std::array<double, 3>& position) const;

  // Global data that a deposit needs: the quantum of mass, and by level whether there are particles
  // and whether some of them are assigned to the coarser level.
  struct DepositSetup {
    double quantum;
    std::vector<bool> has_particles, uses_coarser_level;
  };
  // Terms of this kind in deposit_reduction_terms(). Local.
  std::vector<double> own_deposit_reduction_terms() const;
  std::span<const double> take_deposit_maxima(std::span<const double>& maxima) const;
  DepositSetup deposit_setup(std::span<const double> maxima) const;
  // Particles of all levels, in few sets.
  std::vector<JoinedSets> joined_levels() const;
  CellArray<std::int64_t> mass_array(int level) const;
  void deposit_masses(int coarsest, const DepositSetup& setup);
  void deposit_level(int level, double quantum, bool uses_coarser_level, bool into_coarser);
  void deposit_coarse(int level, double quantum, bool clouds);

  void make_tables(const Particles& first);
  void find_parents();
  static bool find_homes(std::span<Particles> kinds, int coarsest, int finest,
                         std::span<MassSums* const> sums = {}, bool statement = false);
  void collect_movers(int level, int coarsest, int finest, OutgoingRows& leaving,
                      MassChanges* changes);
  static bool redistribute(std::span<MovingKind> kinds, int coarsest, int finest,
                           bool statement = false);
  OutgoingRows insert_or_forward(const OutgoingRows& arrived, int coarsest, int finest,
                                 MassChanges* changes);
  void append(const NewRowsByLevel& rows, MassChanges* changes);
  void choose_force_levels(int coarsest, MassChanges* changes);
  void add_changes(const MassChanges& changes, MassSums& sums) const;
  void record_outflow(int level, std::span<const Word> row, std::int32_t home,
                      bool uses_coarser_level);
  BlockSearch find_block(int level, int coarsest, int finest,
                         const std::array<double, 3>& position) const;
  void check_stay(int level, const std::array<double, 3>& position, int slot);

  using VisitRows = std::function<void(int level, const std::vector<std::int32_t>& rows,
                                       const std::vector<std::size_t>& numbers)>;
  void for_levels(std::span<const std::int64_t> own, const VisitRows& visit) const;
  template <class Read>
  auto read(std::span<const std::int64_t> own, int width, const Read& read_rows) const;
  std::vector<double> read_reals(int column, int width, std::span<const std::int64_t> own) const;

  Kind kind_;
  mesh::Mesh& mesh_;
  std::vector<Level> levels_;
  std::int64_t assigned_ids_ = 0;
  bool levels_are_separate_ = false;
  ParticleOutflow outflow_;
  // Particles on this rank that left since the last collect_outflow(): their number, sums of all
  // terms but the potential, and the particles of each level.
  struct {
    std::int64_t count = 0;
    std::array<ReproducibleSum, ParticleOutflow::potential> sums;
    MassChanges particles;
  } leaving_;
  std::string error_;  // first error on this rank since the last check of all ranks
};

}  // namespace octant::particles
