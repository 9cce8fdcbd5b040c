// The face of particles/: points that move among the cells of a mesh, most of them with mass. An
// object holds those of one kind (kind.hpp).
//
// A particle belongs to the finest block that contains it; each level keeps its particles by
// itself, and may step by itself. A particle that leaves its level between two synchronisations
// stays with it until then, served by the coarser level's cells. With serve_levels_apart() the
// coarser level serves all particles within k_margin of the end of theirs: it takes their clouds
// and exerts their force, at its own steps, while they drift with the finer level.
//
//   density   deposit(level) once, then add_density(level, ...): clouds in cells, in whole numbers
//             (masses.hpp), with the same bits on any number of ranks and threads
//   motion    kick(level, ...) or carry(level, ...), drift(level, ...), and synchronise(level) when
//             that level and all finer ones are at the same time
//   mesh      adapt_to_mesh() after every change of the mesh; migrate(owners) before the mesh's own
//   number    add() what has ids, create() what gets them, remove()
//   files     file_rows(), read_...; add in batches
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "mesh/mesh.hpp"
#include "particles/joined_sets.hpp"
#include "particles/kind.hpp"
#include "particles/neighbourhood.hpp"
#include "particles/particle_set.hpp"

namespace octant::particles {

// Particles on their way into a run, in any order, on any rank. Code units.
struct ParticleBatch {
  std::vector<std::array<double, 3>> position, velocity;
  std::vector<double> mass;       // none if the kind has no mass
  std::vector<std::uint64_t> id;  // unique over all ranks and batches, of those of the kind
  NamedColumns columns{};         // of the kind; where one is missing it has its initial value

  std::size_t size() const { return position.size(); }
};

// A vector field on own blocks: component d of cell (i, j, k) of a block lies at
//   slot * stride_slot + d * stride_component + (k N + j) N + i.
struct VectorField {
  const double* data = nullptr;
  std::int64_t stride_slot = 0, stride_component = 0;
};

// A field where the particles of a level, of any kind, read it: in own blocks, and in copies of
// other ranks' cells. The mesh must stay as it is.
struct FieldNearby {
  CellArrays<const double> cells;
  DeviceArray<double> ghosts;  // which those refer to
};

// A mass that comes to a level, or leaves it where the sign is -1.
struct MassChange {
  double position[3], mass, sign;
  std::int32_t home;
  std::int32_t on_coarser = 0;  // as ParticleColumns::on_coarser
};
using MassChanges = std::vector<std::vector<MassChange>>;  // by level
MassChange change_of(std::span<const Word> row, std::int32_t home, bool on_coarser, double sign);

struct ParticleTotals {
  std::int64_t count = 0;
  double mass = 0.0, kinetic_energy = 0.0;
  std::array<double, 3> momentum{};
};

// The particles of a kind that have left the domain through open boundaries since the run began:
// their number, mass, momentum and kinetic energy when they left, and their potential energy with
// all that stayed, the whole of it and not half.
struct ParticleOutflow {
  enum { mass, momentum, kinetic = momentum + 3, potential = kinetic + 1, terms };
  std::int64_t count = 0;
  std::array<double, terms> amount{};
};

class Particles {
 public:
  // Without particles. The mesh must outlive this. Collective.
  Particles(Kind kind, mesh::Mesh& mesh, const CommOptions& comm_options);

  // --- number ----------------------------------------------------------------------------------
  // Brings particles to the ranks that own their blocks. Throws InputError on all ranks if one lies
  // outside of the domain, or has no positive, finite mass, a velocity that is not finite, or an
  // id that is none of the kind's. Collective; a rank may give none.
  void add(const ParticleBatch& batch);

  // Adds particles that come into being in leaf cells of this rank's own blocks, and returns their
  // ids; `batch` has none. They continue the ids of the kind in the order of level, Morton key of
  // the cell, and, in a cell, of the batch: who owns which block does not matter. Call it once for
  // all births of a time. Their masses are in the next deposit(). Throws RunError on all ranks as
  // add(), and if a cell is not an own leaf. Collective; a rank may give none.
  std::vector<std::uint64_t> create(ParticleBatch batch);
  // Removes some own particles, by their numbers (see below), each once. Their ids are not used
  // again. Local.
  void remove(std::span<const std::int64_t> own);

  // Gives some own particles, by their numbers, other velocities, masses and columns: their rows as
  // batch_of() gave them, with positions and ids as they are. Masses are in the next deposit().
  // Local. Throws RunError as add().
  void change(std::span<const std::int64_t> own, const ParticleBatch& batch);

  // How many ids are used up: the next particle that comes into being gets first_id() + this.
  std::int64_t used_ids() const { return used_ids_; }
  void set_used_ids(std::int64_t count) { used_ids_ = std::max(used_ids_, count); }

  // Whether every level solves for a potential of its own, from its own density: then a particle's
  // force comes from the level that its cloud is in, as a whole, and coarser levels see its centre
  // of mass where it is. Otherwise, which is the default, the density of leaf cells is what counts,
  // and refined cells hold the sums over their children. To be set before there are particles.
  void serve_levels_apart(bool apart) { levels_apart_ = apart; }
  // Chooses the levels that serve the particles of levels finer than `coarsest`, which must be at
  // the same time as that one. synchronise() and adapt_to_mesh() do so; particles that came into
  // being since then are served by their own level until the next call. Local.
  void choose_serving_levels(int coarsest);

  // --- density ---------------------------------------------------------------------------------
  // Shares the masses of the particles of `coarsest` and all finer levels among cells. A level
  // holds the clouds of its own particles, and of finer ones as their cells, or the ends of their
  // levels, see them; so each level from `coarsest` on has all the mass that finer ones have.
  // Throws RunError if a mass is not a positive, finite number. Collective.
  void deposit(int coarsest);
  // Adds a level's density, of the last deposit, to own blocks.
  void add_density(int level, const mesh::BlockField& density) const;
  // Adds the density of all particles to the base level's own blocks, each as a cloud of the size
  // of a base cell, whatever its level. The domain must be periodic, and all levels at the same
  // time. Collective.
  void add_base_clouds(const mesh::BlockField& density) const;
  // The mass in each cell of own blocks, [slot][cell], in quanta of that much.
  const DeviceArray<std::int64_t>& mass(int level) const { return levels_[level].mass; }
  double quantum(int level) const { return levels_[level].quantum; }
  // Flags the cells of a level's own blocks that hold mass, of the last deposit, and those within
  // `buffer` of them, as mesh::flag_dense_cells().
  void flag_cells(int level, int buffer, const DeviceArray<std::uint64_t>& masks) const;

  // --- motion ----------------------------------------------------------------------------------
  // Brings `components` of a field to where a level's particles are, for all kinds that follow the
  // same mesh. `coarser` is the field on the next coarser level, for particles near the end of this
  // one; not read on level 0. Collective.
  FieldNearby fetch(int level, const VectorField& here, const VectorField& coarser, int components);
  // The same of the coarser level's field, for a level's particles that that one serves; nothing on
  // level 0.
  FieldNearby fetch_coarser(int level, const VectorField& coarser, int components);

  // v += dt g for a level's particles that it serves, with g interpolated by the clouds that
  // deposit() uses; and for those that the coarser level serves. Local.
  void kick(int level, const FieldNearby& force, double dt);
  void kick_on_coarser(int level, const FieldNearby& coarser_force, double dt);

  // Gives a level's particles the velocity of the gas around them: momentum over density of their
  // clouds. Fields are those of the gas, the density before the momentum. Collective.
  void carry(int level, const VectorField& here, const VectorField& coarser);

  // x += dt v for a level's particles, across periodic boundaries and back from reflecting ones;
  // beyond others particles leave the domain (see outflow()). Then each one finds its block on this
  // level. Throws RunError if one left the end of its level by more than 1.5 cells. Collective.
  void drift(int level, double dt);

  // What the particles on this rank of levels from `coarsest` on add up to, exactly: terms that are
  // taken away again leave no trace.
  struct MassSums {
    ReproducibleSum weighted;              // mass times a field
    std::vector<ReproducibleSum> squared;  // squares of masses, by level

    int coarsest = 0;
    // By level: what masses are multiplied by, as fetch() and fetch_coarser() give it.
    std::vector<FieldNearby> fields, coarser_fields{};
  };
  // The fields, by level, one component of each, are interpolated as kick() does. Squares count for
  // the level that serves a particle. Local.
  MassSums mass_sums(std::vector<FieldNearby> fields, std::vector<FieldNearby> coarser_fields,
                     int coarsest) const;

  // Levels from `coarsest` on are at the same time: their particles change level. Sums over them,
  // of a field that has not changed since, become those of afterwards. Collective.
  void synchronise(int coarsest, MassSums* sums = nullptr);

  // By level, the time in which the fastest particle crosses a cell; infinity where none moves.
  // Multiply it by a Courant number of at most 0.7, that a particle may leave its level by two
  // steps. Collective.
  std::vector<double> crossing_times() const;

  // The particles that have left through open boundaries, on all ranks, up to the last
  // collect_outflow(); checkpoints restore it by set_outflow().
  const ParticleOutflow& outflow() const { return outflow_; }
  void set_outflow(const ParticleOutflow& outflow) { outflow_ = outflow; }

  // Adds the particles that have left since the last call to outflow(), with their potential
  // energy in `potentials`, the potential of every level, or none without gravity, less
  // `own_potential` times their squared masses. For all kinds of a mesh that has not changed since
  // they left. Collective.
  static void collect_outflow(std::span<Particles> kinds,
                              const std::function<VectorField(int level)>& potentials,
                              double own_potential);

  // --- structure -------------------------------------------------------------------------------
  // After every Mesh::regrid and Mesh::migrate, one call each: particles follow the blocks. What
  // another kind that did so already knows of them is shared. Collective.
  void adapt_to_mesh(const Particles* adapted = nullptr);
  // Before Mesh::migrate with the same owners, to be followed by adapt_to_mesh(). Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // --- measures --------------------------------------------------------------------------------
  std::int64_t count() const;                       // on this rank
  std::vector<std::int64_t> global_counts() const;  // by level; collective
  // The same bits on any number of ranks. Collective.
  ParticleTotals totals() const;
  // The particles listed under each block of a level, by slot: what a block costs.
  std::vector<std::int32_t> counts_by_slot(int level) const;
  std::int64_t bytes() const;  // on this rank
  std::vector<ExchangeCount> exchange_counts() const;

  // --- columns, for files ----------------------------------------------------------------------
  // The row of each own particle in a file in the order of ids. A particle's place in this list is
  // its number here below, until particles move. Throws RunError if an id occurs twice. Collective.
  std::vector<std::int64_t> file_rows() const;
  // The numbers of all own particles in the order of their ids.
  std::vector<std::int64_t> in_order_of_id() const;
  // Values of some own particles by their numbers: [n][3] of positions and velocities, [n] of
  // masses and of the kind's columns.
  std::vector<double> read_positions(std::span<const std::int64_t> own) const;
  std::vector<double> read_velocities(std::span<const std::int64_t> own) const;
  std::vector<double> read_masses(std::span<const std::int64_t> own) const;
  ColumnValues read_column(const std::string& of_name, std::span<const std::int64_t> own) const;
  std::vector<std::uint64_t> read_ids(std::span<const std::int64_t> own) const;
  // The finest blocks that hold some own particles after synchronise(0), by level and slot.
  struct BlockPlace {
    std::int32_t level, slot;
  };
  std::vector<BlockPlace> read_blocks(std::span<const std::int64_t> own) const;
  // Whole rows of some own particles, as they travel between ranks (ParticleSet::words), and what
  // rows say that came from elsewhere.
  int row_words() const { return levels_[0].set.row_words(); }
  std::vector<Word> rows(std::span<const std::int64_t> own) const;
  ParticleBatch batch_of(std::span<const Word> rows) const;

  const Kind& kind() const { return kind_; }
  const std::string& name() const { return kind_.name; }
  const mesh::Mesh& mesh() const { return mesh_; }
  const Communicator& communicator() const { return mesh_.communicator(); }
  ParticleSet& set(int level) { return levels_[level].set; }
  const ParticleSet& set(int level) const { return levels_[level].set; }

 private:
  struct Level {
    ParticleSet set;
    std::shared_ptr<const Neighbourhood> neighbourhood;
    DeviceArray<std::int64_t> mass;  // in quanta, [slot][cell]; only of kinds with mass
    double quantum = 1.0;
    bool has_mass = false;             // in some cell of some rank, by the last deposit
    bool any_on_coarser = false;       // on this rank: whether the coarser level serves some
    KeyTable<std::int32_t> parents{};  // own block -> owner of its parent, at the last adaptation
    Exchanger fields, coarser_fields, masses, sums;
  };
  // Where a particle belongs: slot -1 on another rank, or if only that rank can tell.
  struct Home {
    int level, owner, slot;
  };
  // Rows bound for other ranks: the level, with k_on_coarser if the coarser one serves the
  // particle, then the words of the row.
  static constexpr Word k_on_coarser = Word{1} << 32;
  struct Travellers {
    std::vector<int> ranks;
    std::vector<Word> words;
  };

  void check(const ParticleBatch& batch) const;
  std::vector<Word> row_of(const ParticleBatch& batch, std::size_t n) const;
  Home own_leaf(const std::array<double, 3>& position) const;

  // What ranks agree upon before a deposit.
  struct Measure {
    double quantum;
    std::vector<bool> has_particles;  // by level
    std::vector<bool> on_coarser;     // by level: whether the coarser one serves some of its own
  };
  Measure measure_masses() const;
  // The particles of all levels, in few parts.
  std::vector<JoinedSets> joined_levels() const;
  CellArray<std::int64_t> mass_array(int level) const;
  void deposit_level(int level, double quantum, bool on_coarser, bool into_coarser);
  void deposit_coarse(int level, double quantum, bool clouds);

  void find_homes(int coarsest, int finest, MassSums* sums = nullptr);
  void collect_movers(int level, int coarsest, int finest, Travellers& leaving,
                      MassChanges* changes);
  void deliver(Travellers leaving, int coarsest, int finest, MassChanges* changes = nullptr);
  Travellers settle(const Travellers& arrived, int coarsest, int finest, MassChanges* changes);
  void take_in(int level, std::span<const Word> words, const std::vector<std::int32_t>& homes,
               const std::vector<std::uint8_t>& on_coarser, MassChanges* changes);
  void choose_serving_levels(int coarsest, MassChanges* changes);
  void add_changes(const MassChanges& changes, MassSums& sums) const;
  void note_departure(int level, std::span<const Word> row, std::int32_t home, bool on_coarser);
  Home home_of(int level, int coarsest, int finest, const std::array<double, 3>& position,
               int slot) const;
  void check_stay(int level, const std::array<double, 3>& position, int slot);

  using VisitRows = std::function<void(int level, const std::vector<std::int32_t>& rows,
                                       const std::vector<std::size_t>& places)>;
  void for_levels(std::span<const std::int64_t> own, const VisitRows& visit) const;
  template <class Read>
  auto read(std::span<const std::int64_t> own, int width, const Read& read_rows) const;
  std::vector<double> read_reals(int column, int width, std::span<const std::int64_t> own) const;

  Kind kind_;
  mesh::Mesh& mesh_;
  std::vector<Level> levels_;
  std::int64_t used_ids_ = 0;
  bool levels_apart_ = false;
  ParticleOutflow outflow_;
  // On this rank, since the last collect_outflow(): the number of those that left, sums of all
  // terms but their potential, and the particles of each level.
  struct {
    std::int64_t count = 0;
    std::array<ReproducibleSum, ParticleOutflow::potential> sums;
    MassChanges particles;
  } leaving_;
  std::string trouble_;  // what went wrong on this rank since the ranks last agreed
};

}  // namespace octant::particles
