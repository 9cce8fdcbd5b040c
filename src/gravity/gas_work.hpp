// Action of gravity on the gas: kicks, and the work on mass flows between cells.
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
// cells at a face use the same face potential, so that the sum over all cells is that of each
// cell's gain of mass times its potential. For the mean of the potentials before and after a step
// this is the increase of 1/2 sum(mass * potential), if the interaction of two masses is symmetric.
//
// The face potential divides the difference between two cells in proportion to their internal
// energies, because half of the work may exceed the energy of a rarefied cell beside a star. At the
// domain boundary the potential is extrapolated linearly from the last two cells. At a coarse-fine
// boundary it is the mean of the two coarse cells' potentials, with the slope of the coarse
// potential over the four fine faces. The fine faces share equally the work that this slope adds,
// which the coarse cell does not include.
class PotentialWork {
 public:
  // All arguments must outlive this object.
  PotentialWork(const mesh::Mesh& mesh, const StoredPotential& stored, PatchLevels& levels)
      : mesh_(mesh), stored_(stored), levels_(levels) {}

  // Must be called whenever blocks were created, removed or moved.
  void connect();

  // Adds this work, as energy per volume, to `work` on a level's own blocks. `flow` is mass per
  // area; for coarse cells beside fine ones it is the flow through the fine faces. `heat` is
  // positive in leaf cells and negative in others. Results in refined cells are undefined.
  // Collective.
  void add(int level, const mesh::FaceFlow& flow, const BlockField& heat, const BlockField& work);

 private:
  const DeviceArray<const std::uint8_t>& ends_of_domain(int level);

  const mesh::Mesh& mesh_;
  const StoredPotential& stored_;
  PatchLevels& levels_;
  // Domain-end flags by level and own patch, created at first use: bit 2 axis + side.
  std::vector<std::optional<DeviceArray<const std::uint8_t>>> ends_;
};

// First and second half of a step's kick.
enum class Half { first, second };

// Gas variables of some blocks.
struct GasFields {
  BlockField density;
  VectorField momentum;
  BlockField energy;
};

// Account of gravity's work during a step: the mass flow through the cells, per area and integrated
// over the step, and the pending work that the gas's energy has not yet received. With work of the
// potential, `flow` is the mass flow through the cells' faces (FaceFlow).
struct WorkFields {
  VectorField flow;
  BlockField pending;
};

// Update of the gas's total energy. Kicks change it by the change of kinetic energy; the work on
// the mass that flows between cells differs from that.
struct EnergyUpdate {
  // forces: the difference, by accelerations, is added to internal energy up to `heat_fraction`;
  // potential: the energy changes by the full potential difference of the moved mass.
  Work work = Work::forces;
  // Largest relative change of the internal energy by forces. The flow through a cell and its
  // momentum differ by the error of the scheme, which would dominate the temperature of cold gas.
  // With 0, energy changes by kicks alone: better for gas that falls cold.
  double heat_fraction = 0.5;
  // Accumulates the work of forces that the limit withholds; for a frame at rest only.
  bool counts_withheld = false;

  // True if the energy update uses the potential.
  bool by_potential() const { return work == Work::potential; }
  // True if withheld work is accumulated.
  bool counts() const { return by_potential() || counts_withheld; }
  // True if the mass flow is needed, which takes memory.
  bool needs_flows() const { return counts() || heat_fraction > 0.0; }
};

// Kicks of the gas on all levels, and the work fields between them.
class GasWork {
 public:
  // The mesh must outlive this object. Throws RunError if it has no gas.
  explicit GasWork(mesh::Mesh& mesh);

  // Gas density on own blocks of a level.
  BlockField density(int level) const { return gas(level, density_); }

  // Applies half of a step's kick to the gas of a level's own blocks, at the step's beginning and
  // end (with the force of the new density): momentum += dt rho g, where dt is half of the step. In
  // between, sweeps add the mass flow through every cell to mass_flow() (SweepArguments), and
  // add_first_half_of_work() must be called once before the force changes. Over the step, total
  // energy increases by flow . (g before + g after) / 2: the work on the mass flow, also in a
  // shock.
  void kick(int level, double dt, Half half, const VectorField& acceleration);
  // Adds half of the work on the step's mass flow, with the acceleration before the new solve.
  void add_first_half_of_work(int level, const VectorField& acceleration);
  // Mass flow per area through the cells of a level, [slot][axis][k][j][i], in device memory; null
  // if by_potential().
  double* mass_flow(int level) { return by_potential() ? nullptr : levels_[level].flow.data(); }

  // Adds work of the potential: sweeps add the mass flow through every face to face_flow
  // (SweepArguments), refluxing corrects it, and add_potential_work() is called before the second
  // half kick. Total energy then changes by the work of the potential. Work that would reduce the
  // total energy too far below the kinetic energy for the dual-energy scheme is withheld.
  void add_potential_work(int level, PotentialWork& potential);
  // True if the energy update uses the potential.
  bool by_potential() const { return update_.by_potential(); }
  // Mass flow through the faces of a level's own blocks; empty unless by_potential().
  mesh::FaceFlow face_flow(int level);

  // Array to which sweeps add the energy that they remove (SweepArguments), in device memory, if
  // withheld work of forces is accumulated; otherwise null.
  double* energy_taken(int level) {
    return !by_potential() && update_.counts_withheld ? levels_[level].pending.data() : nullptr;
  }

  // Changes the velocity of a level's gas at constant internal energy.
  void add_velocity(int level, const VectorField& change);

  // Sets how the total energy changes, for all later steps.
  void set_energy_update(const EnergyUpdate& update) { update_ = update; }

  // Returns the work withheld from the gas of all ranks since the last call, if it is accumulated.
  // With work by forces this is the excess of the work on mass flows over that of kicks, minus the
  // energy removed by sweeps. Collective.
  double take_withheld_work();

  // Sets the frame in which the mesh rests. Mass flows are relative to the mesh; the frame moves
  // the mass, too, which adds work.
  void set_frame(const mesh::Frame& frame) { frame_ = frame; }

  // Releases the memory of levels beyond the finest one.
  void release_finer(int finest);

 private:
  struct Level {
    // Mass flow between the kicks: [slot][axis][k][j][i], or that of a FaceFlow.
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
  int density_, momentum_, energy_;  // indices of the gas's variables
  EnergyUpdate update_;
  ReproducibleSum withheld_work_;
  mesh::Frame frame_;
  std::vector<Level> levels_;
};

}  // namespace octant::gravity
