// Action of gravity on the gas: kicks, and work on the mass flow between cells.
#pragma once

#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/stored_potential.hpp"
#include "mesh/frame.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// Work of the potential on the mass that flows between cells. A cell's energy decreases by the sum
// over its faces of the mass outflow times the potential at the face relative to the cell. Both
// cells at a face use the same face potential. The work on all cells is therefore minus the sum of
// mass gain times potential of each cell. With the mean of the potentials before and after a step,
// that sum is the increase of 1/2 sum(mass * potential), if the interaction of masses is symmetric.
//
// The face potential divides the difference between two cells in proportion to their internal
// energies, because half of the work may exceed the energy of a rarefied cell beside a star. At the
// domain boundary the potential is extrapolated linearly from the last two cells. At a coarse-fine
// boundary the face potential is the mean of the two coarse cells' potentials, with the slope of
// the coarse potential over the four fine faces. The work due to this slope, which the coarse cell
// does not include, is divided equally among the fine cells.
class PotentialWork {
 public:
  // All arguments must outlive this object.
  PotentialWork(const mesh::Mesh& mesh, const StoredPotential& stored, PatchLevels& levels)
      : mesh_(mesh), stored_(stored), levels_(levels) {}

  // Must be called whenever blocks were created, removed or moved.
  void connect();

  // Adds the work, as energy per volume, to `work` on own blocks of a level. `flow` is mass per
  // area; for coarse cells beside fine cells it is the flow through the fine faces. `heat` is the
  // internal energy per volume of leaf cells, and negative in other cells. Results in refined cells
  // are undefined. Collective.
  void add(int level, const mesh::FaceFlow& flow, const BlockField& heat, const BlockField& work);

 private:
  const DeviceArray<const std::uint8_t>& ends_of_domain(int level);

  const mesh::Mesh& mesh_;
  const StoredPotential& stored_;
  PatchLevels& levels_;
  // Flags of faces at the domain boundary by level and own patch, set at first use: bit 2 axis +
  // side.
  std::vector<std::optional<DeviceArray<const std::uint8_t>>> ends_;
};

// First and second half of a step's kick.
enum class Half { first, second };

// Gas variables in blocks.
struct GasFields {
  BlockField density;
  VectorField momentum;
  BlockField energy;
};

// Mass flow through cells, per area and integrated over a step, and pending work, which has not yet
// been added to the energy of the gas. With work of the potential, `flow` is that through cell
// faces (FaceFlow).
struct WorkFields {
  VectorField flow;
  BlockField pending;
};

// Update of the total energy of the gas. Kicks change the total energy by the change of the kinetic
// energy, which differs from the work on the mass that flows between cells.
struct EnergyUpdate {
  // With `forces`, that difference, computed from accelerations, changes the internal energy by at
  // most `heat_fraction`. With `potential`, the energy changes by the full work of the potential.
  Work work = Work::forces;
  // Maximum relative change of the internal energy by forces. The mass flow through a cell differs
  // from its momentum by the truncation error, which would dominate the temperature of cold gas.
  // With 0, only kicks change the energy, which is better for cold infall.
  double heat_fraction = 0.5;
  // True to accumulate the work of forces that the limit withholds; for a frame at rest only.
  bool counts_withheld = false;

  // True if the energy update uses the potential.
  bool by_potential() const { return work == Work::potential; }
  // True if withheld work is accumulated.
  bool counts() const { return by_potential() || counts_withheld; }
  // True if the mass flow is required, which takes memory.
  bool needs_flows() const { return counts() || heat_fraction > 0.0; }
};

// Kicks of the gas on all levels, and the work fields between kicks.
class GasWork {
 public:
  // The mesh must outlive this object. Throws RunError if it has no gas.
  explicit GasWork(mesh::Mesh& mesh);

  // Gas density on own blocks of a level.
  BlockField density(int level) const { return gas(level, density_); }

  // Applies a half kick to the gas of a level's own blocks at the beginning of a step or, with the
  // acceleration of the new density, at its end: momentum += dt rho g, where dt is half of the
  // step. Between the kicks, sweeps add the mass flow through every cell to mass_flow()
  // (SweepArguments), and add_first_half_of_work() must be called once before the acceleration
  // changes. Over the step, the total energy increases by flow . (g before + g after) / 2, the work
  // on the mass flow, also in shocks.
  void kick(int level, double dt, Half half, const VectorField& acceleration);
  // Adds half of the work on the step's mass flow, with the acceleration before the new solve.
  void add_first_half_of_work(int level, const VectorField& acceleration);
  // Mass flow per area through the cells of a level, [slot][axis][k][j][i], in device memory; null
  // if by_potential().
  double* mass_flow(int level) { return by_potential() ? nullptr : levels_[level].flow.data(); }

  // Adds the work of the potential to the pending work. Must be called before the second half kick,
  // after sweeps have added the mass flow through every face to face_flow() (SweepArguments) and
  // refluxing has corrected it. Total energy then changes by the work of the potential. Work that
  // would make the total energy too small for the dual-energy scheme is withheld.
  void add_potential_work(int level, PotentialWork& potential);
  // True if the energy update uses the potential.
  bool by_potential() const { return update_.by_potential(); }
  // Mass flow through the faces of a level's own blocks; empty unless by_potential().
  mesh::FaceFlow face_flow(int level);

  // Array in device memory to which sweeps add the energy that they remove (SweepArguments); null
  // unless withheld work of forces is accumulated.
  double* energy_taken(int level) {
    return !by_potential() && update_.counts_withheld ? levels_[level].pending.data() : nullptr;
  }

  // Changes the velocity of a level's gas at constant internal energy.
  void add_velocity(int level, const VectorField& change);

  // Sets the update of the total energy for all later steps.
  void set_energy_update(const EnergyUpdate& update) { update_ = update; }

  // Returns the work of gravity since the last call that has not been added to the energy of the
  // gas of this rank. For Work::forces it is the part of the work on mass fluxes that exceeds that
  // of kicks and is withheld, minus the energy removed by sweeps. Local.
  ReproducibleSum take_withheld_work();

  // Sets the frame in which the mesh is at rest. Mass flows are relative to the mesh. The motion of
  // the frame adds work on the mass.
  void set_frame(const mesh::Frame& frame) { frame_ = frame; }

  // Releases the memory of levels beyond the finest one.
  void release_finer(int finest);

 private:
  struct Level {
    // Mass flow between the kicks: [slot][axis][k][j][i], or in the layout of FaceFlow.
    DeviceArray<double> flow;
    DeviceArray<double> pending, heat;  // [slot][k][j][i]
    bool kicking = false;
  };
  BlockField gas(int level, int variable) const;
  GasFields gas(int level) const;
  WorkFields work(int level) const;
  int flows() const { return by_potential() ? 6 : 3; }  // flow components per cell
  int variable(const std::string& name) const;

  mesh::Mesh& mesh_;
  int density_, momentum_, energy_;  // indices of variables; momentum_: x component
  EnergyUpdate update_;
  ReproducibleSum withheld_work_;
  mesh::Frame frame_;
  std::vector<Level> levels_;
};

}  // namespace octant::gravity
