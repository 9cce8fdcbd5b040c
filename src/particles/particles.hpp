// The face of particles/: massive points that move among the cells of a mesh.
//
// A particle belongs to the finest block that contains it; each level keeps its particles by
// itself, and may step by itself. A particle that leaves its level between two synchronisations
// stays with it until then, served by the coarser level's cells.
//
//   density   deposit(level) once, then add_density(level, ...): clouds in cells, in whole numbers
//             (masses.hpp), with the same bits on any number of ranks and threads
//   motion    kick(level, ...), drift(level, ...), and synchronise(level) when that level and all
//             finer ones are at the same time
//   mesh      adapt_to_mesh() after every change of the mesh; migrate(owners) before the mesh's own
//   files     file_rows(), read, read_ids; add in batches
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"
#include "particles/neighbourhood.hpp"
#include "particles/particle_set.hpp"

namespace octant::particles {

// Particles on their way into a run, in any order, on any rank. Code units.
struct ParticleBatch {
  std::vector<std::array<double, 3>> position, velocity;
  std::vector<double> mass;
  std::vector<std::uint64_t> id;             // unique over all ranks and batches
  std::vector<std::vector<double>> extra{};  // by extra column

  std::size_t size() const { return id.size(); }
};

// A vector field on own blocks: component d of cell (i, j, k) of a block lies at
//   slot * stride_slot + d * stride_component + (k N + j) N + i.
struct VectorField {
  const double* data = nullptr;
  std::int64_t stride_slot = 0, stride_component = 0;
};

struct ParticleTotals {
  std::int64_t count = 0;
  double mass = 0.0, kinetic_energy = 0.0;
  std::array<double, 3> momentum{};
};

class Particles {
 public:
  // Without particles. `kind` names them in messages and reports ("dark"); the mesh must outlive
  // this. Collective.
  Particles(std::string kind, mesh::Mesh& mesh, const CommOptions& comm_options,
            std::vector<std::string> extra_columns = {});

  // Brings particles to the ranks that own their blocks. Throws InputError on all ranks if one lies
  // outside of the domain, or has no positive, finite mass, or a velocity that is not finite.
  // Collective; a rank may give none.
  void add(const ParticleBatch& batch);

  // --- density ---------------------------------------------------------------------------------
  // Shares the masses of the particles of `coarsest` and all finer levels among cells. A level
  // holds the clouds of its own particles, and of finer ones as their cells, or the ends of their
  // levels, see them; so each level from `coarsest` on has all the mass that finer ones have.
  // Throws RunError if a cell's mass exceeds what 63 bits hold. Collective.
  void deposit(int coarsest);
  // Adds a level's density, of the last deposit, to own blocks.
  void add_density(int level, const mesh::BlockField& density) const;
  // The mass in each cell of own blocks, [slot][cell], in quanta of that much.
  const DeviceArray<std::int64_t>& mass(int level) const { return levels_[level].mass; }
  double quantum(int level) const { return levels_[level].quantum; }

  // --- motion ----------------------------------------------------------------------------------
  // v += dt g for a level's particles, with g interpolated by the clouds that deposit() uses.
  // `coarser` is g on the next coarser level, for particles near the end of this one; not read on
  // level 0. Collective.
  void kick(int level, const VectorField& here, const VectorField& coarser, double dt);

  // x += dt v for a level's particles, across periodic boundaries and back from reflecting ones;
  // beyond others particles are lost. Then each one finds its block on this level. Throws RunError
  // if one left the end of its level by more than 1.5 cells. Collective.
  void drift(int level, double dt);

  // Levels from `coarsest` on are at the same time: their particles change level. Collective.
  void synchronise(int coarsest);

  // By level, the time in which the fastest particle crosses a cell; infinity where none moves.
  // Multiply it by a Courant number of at most 0.7, that a particle may leave its level by two
  // steps. Collective.
  std::vector<double> crossing_times() const;

  // --- structure -------------------------------------------------------------------------------
  // After every Mesh::regrid and Mesh::migrate, one call each: particles follow the blocks.
  // Collective.
  void adapt_to_mesh();
  // Before Mesh::migrate with the same owners, to be followed by adapt_to_mesh(). Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

  // --- measures --------------------------------------------------------------------------------
  std::int64_t count() const;                       // on this rank
  std::vector<std::int64_t> global_counts() const;  // by level; collective
  std::int64_t lost() const { return lost_; }       // beyond open boundaries, on this rank
  // The same bits on any number of ranks. Collective.
  ParticleTotals totals() const;
  // The sum of mass times a scalar field (the first component of field(level)) at the particles'
  // places, interpolated as kick() does; the same bits on any number of ranks. Collective.
  double mass_weighted_sum(const std::function<VectorField(int level)>& field);
  // The sum of squared masses, by level; the same bits on any number of ranks. Collective.
  std::vector<double> sums_of_squared_masses() const;
  // The particles listed under each block of a level, by slot: what a block costs.
  std::vector<std::int32_t> counts_by_slot(int level) const;
  std::int64_t bytes() const;  // on this rank
  std::vector<ExchangeCount> exchange_counts() const;

  // --- columns, for files ----------------------------------------------------------------------
  // The row of each own particle in a file in the order of ids. A particle's place in this list is
  // its number here below, until particles move. Throws RunError if an id occurs twice. Collective.
  std::vector<std::int64_t> file_rows() const;
  // Values of some own particles by their numbers: [n][3] of positions and velocities, [n] of
  // masses and extra columns.
  std::vector<double> read_positions(std::span<const std::int64_t> own) const;
  std::vector<double> read_velocities(std::span<const std::int64_t> own) const;
  std::vector<double> read_masses(std::span<const std::int64_t> own) const;
  std::vector<double> read_extra(int column, std::span<const std::int64_t> own) const;
  std::vector<std::uint64_t> read_ids(std::span<const std::int64_t> own) const;

  const std::string& kind() const { return kind_; }
  const Communicator& communicator() const { return mesh_.communicator(); }
  const std::vector<std::string>& extra_columns() const { return extra_columns_; }
  ParticleSet& set(int level) { return levels_[level].set; }
  const ParticleSet& set(int level) const { return levels_[level].set; }

 private:
  struct Level {
    ParticleSet set;
    std::unique_ptr<Neighbourhood> neighbourhood;
    DeviceArray<std::int64_t> mass;  // in quanta, [slot][cell]
    double quantum = 1.0;
    KeyTable<std::int32_t> parents{};  // own block -> owner of its parent, at the last adaptation
    Exchanger forces, masses, sums;
  };
  // Where a particle belongs: slot -1 on another rank, or if only that rank can tell.
  struct Home {
    int level, owner, slot;
  };
  // Rows bound for other ranks: the level, then the words of the row.
  struct Travellers {
    std::vector<int> ranks;
    std::vector<Word> words;
  };

  void check(const ParticleBatch& batch) const;
  std::vector<Word> row_of(const ParticleBatch& batch, std::size_t n) const;

  CellArrays<const double> fetch(int level, const VectorField& here, const VectorField& coarser,
                                 int components, DeviceArray<double>& ghosts);
  double measured_quantum() const;
  CellArray<std::int64_t> mass_array(int level) const;

  void find_homes(int coarsest, int finest);
  void collect_movers(int level, int coarsest, int finest, Travellers& leaving);
  void deliver(Travellers leaving, int coarsest, int finest);
  Travellers settle(const Travellers& arrived, int coarsest, int finest);
  Home home_of(int level, int coarsest, int finest, const std::array<double, 3>& position,
               int slot) const;
  void check_stay(int level, const std::array<double, 3>& position, int slot);

  template <class Read>
  auto read(std::span<const std::int64_t> own, int width, const Read& read_rows) const;
  std::vector<double> read_reals(int column, int width, std::span<const std::int64_t> own) const;

  std::string kind_;
  mesh::Mesh& mesh_;
  std::vector<std::string> extra_columns_;
  std::vector<Level> levels_;
  std::int64_t lost_ = 0;
  std::string trouble_;  // what went wrong on this rank since the ranks last agreed
};

}  // namespace octant::particles
