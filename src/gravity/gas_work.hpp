// What gravity does to the gas: kicks, and the work on the mass that moves.
#pragma once

#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "gravity/potential_work.hpp"
#include "mesh/frame.hpp"
#include "mesh/mesh.hpp"

namespace octant::gravity {

// The two halves of a step's kick.
enum class Half { first, second };

// The gas of some blocks.
struct GasFields {
  BlockField density;
  VectorField momentum;
  BlockField energy;
};

// Where a step keeps account of gravity's work: the mass that flows through the cells, per area and
// integrated over the step, and the work on it that the gas's energy still lacks. Where work is
// climbed, the mass is that through the cells' faces, a FaceFlow.
struct WorkFields {
  VectorField flow;
  BlockField owed;
};

// What becomes of the work on the mass that flows where it is not what kicks change of the kinetic
// energy.
enum class WorkOnFlow {
  gained,   // the gas gains it, as far as its heat allows: energy changes as the potential's does
  climbed,  // the gas pays for the potential that its mass climbs from cell to cell, in full
  counted,  // the gas does not, and it is counted
  ignored   // nor is it known: no memory for flows
};

class GasWork {
 public:
  // The mesh must outlive this. Throws RunError where it has no gas.
  explicit GasWork(mesh::Mesh& mesh);

  BlockField density(int level) const { return gas(level, density_); }

  // The gas of a level's own blocks takes half of a step's kick at its beginning, dt being half of
  // the step, and half at its end, with the force of its new density: momentum += dt rho g. In
  // between, sweeps add the mass that flows through every cell to mass_flow (SweepArguments), and
  // take_share() is called once, before the force changes. Over the step, total energy grows by
  // flow . (g before + g after) / 2: work on the mass that moved, as the potential sees it move,
  // also in a shock.
  void kick(int level, double dt, Half half, const VectorField& acceleration);
  void take_share(int level, const VectorField& acceleration);
  double* mass_flow(int level) { return climbs() ? nullptr : levels_[level].flow.data(); }

  // Where work is climbed, sweeps add the mass that flows through every face to face_flow
  // (SweepArguments), flux corrections change it, and climb() is called before the second half of
  // the kick: total energy changes by the work of the potential. Gas whose total energy would fall
  // short of its kinetic one by more than dual energy bears is spared what is beyond.
  void climb(int level, PotentialWork& potential);
  bool climbs() const { return work_on_flow_ == WorkOnFlow::climbed; }
  mesh::FaceFlow face_flow(int level);

  // Where work is counted, so is what sweeps take from energies (SweepArguments); null elsewhere.
  double* energy_taken(int level) {
    return work_on_flow_ == WorkOnFlow::counted ? levels_[level].owed.data() : nullptr;
  }

  // Changes the velocity of a level's gas, which keeps its heat.
  void push(int level, const VectorField& change);

  // That is so where the work is gained, as it is by default. Else energy changes by what the kicks
  // change of the kinetic energy: better for gas that falls cold, whose flow and momentum differ by
  // more than its heat.
  void set_work_on_flow(WorkOnFlow work) { work_on_flow_ = work; }

  // What the gas of all ranks was spared since the last call. Where work is counted, in a frame at
  // rest: because flows would have cost more than kicks did, less what sweeps took. Collective.
  double take_spared_work();

  // Flows are those through a mesh that rests in this frame. The mass in it is moved by the frame,
  // too, and there is work on it.
  void set_frame(const mesh::Frame& frame) { frame_ = frame; }

  // Gives back the memory of the levels beyond the finest one.
  void forget_finer(int finest);

 private:
  struct Level {
    // Between kicks: [slot][axis][k][j][i], where work is climbed that of a FaceFlow.
    DeviceArray<double> flow;
    DeviceArray<double> owed, heat;  // [slot][k][j][i]
    bool kicking = false;
  };
  BlockField gas(int level, int variable) const;
  GasFields gas(int level) const;
  WorkFields work(int level) const;
  int flows() const { return climbs() ? 6 : 3; }  // by cell
  int variable(const std::string& name) const;

  mesh::Mesh& mesh_;
  int density_, momentum_, energy_;  // indices of the gas's variables
  WorkOnFlow work_on_flow_ = WorkOnFlow::gained;
  ReproducibleSum spared_;
  mesh::Frame frame_;
  std::vector<Level> levels_;
};

}  // namespace octant::gravity
