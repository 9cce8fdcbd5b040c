// What gravity does to the gas: kicks, and the work on the mass that moves.
#pragma once

#include <string>
#include <vector>

#include "gravity/block_kernels.hpp"
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
// integrated over the step, and the work on it that the gas's energy still lacks.
struct WorkFields {
  VectorField flow;
  BlockField owed;
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
  double* mass_flow(int level) { return levels_[level].flow.data(); }

  // Changes the velocity of a level's gas, which keeps its heat.
  void push(int level, const VectorField& change);

  // Whether that is so (the default), or energy changes by what the kicks change of the kinetic
  // energy: better for gas that falls cold, whose flow and momentum differ by more than its heat.
  void set_on_flow(bool on) { on_flow_ = on; }

  // Flows are those through a mesh that rests in this frame. The mass in it is moved by the frame,
  // too, and there is work on it.
  void set_frame(const mesh::Frame& frame) { frame_ = frame; }

  // Gives back the memory of the levels beyond the finest one.
  void forget_finer(int finest);

 private:
  struct Level {
    DeviceArray<double> flow, owed;  // [slot][axis][k][j][i] and [slot][k][j][i], between kicks
    bool kicking = false;
  };
  BlockField gas(int level, int variable) const;
  GasFields gas(int level) const;
  WorkFields work(int level) const;
  int variable(const std::string& name) const;

  mesh::Mesh& mesh_;
  int density_, momentum_, energy_;  // indices of the gas's variables
  bool on_flow_ = true;
  mesh::Frame frame_;
  std::vector<Level> levels_;
};

}  // namespace octant::gravity
