// Radiation within the step of a level: substeps of transport, and exchange with the gas.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "amr/gas_solver.hpp"
#include "amr/level_loop.hpp"
#include "amr/process_step.hpp"
#include "amr/step_context.hpp"
#include "radiation/closure.hpp"
#include "radiation/moment_transport.hpp"

namespace octant {

// Sums over the domain: energy of the grey radiation, its momentum F / (c times reduced c), and the
// numbers of photons by group.
struct RadiationTotals {
  double energy = 0.0;
  std::array<double, 3> momentum{};
  std::vector<double> photons;
  std::int64_t outside_table = 0;  // leaf cells outside the table of opacities
};

// Radiation of all levels. All functions are collective unless they are const.
class RadiationStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::radiation;

  RadiationStep(StepContext& context, GasSolver& gas, ProcessStep& processes);

  // --- tasks
  // Advances all radiation of a level, after its gas, by the step of the level. After each substep
  // of the transport, processes absorb and emit photons.
  void advance(const LevelStep& step);

  // --- between steps
  // Throws InputError, on all ranks, if an initial energy is negative or an initial flux exceeds c
  // times its energy anywhere, or if cells are outside the table of opacities.
  void check_initial_state() const;
  // Longest step of a level: radiation.max_substeps substeps. Infinite without radiation. Local.
  double longest_step(int level) const;
  // Returns the sums over the leaf cells of all ranks, and passes the speeds of radiation-pressure
  // waves to the gas solver. Warns if the exchange with the gas had no solution in some cells.
  RadiationTotals measure();

 private:
  int state_between_stages(int level) const;
  void stage(const LevelStep& step, int substep, int substeps, int source, int target);
  // Index of the energy of a set of moments among the variables of the mesh.
  int first_of(int set) const { return mesh_.layout().swept + set * radiation::k_moments; }
  radiation::RadiatingGas matter_of(int set, int level) const;
  double speed_of_photons(int level) const;
  void report_unsolved(std::int64_t count) const;
  void check_table() const;
  std::int64_t cells_outside_table() const;
  void report_outside_table(std::int64_t count);

  StepContext& context_;
  mesh::Mesh& mesh_;
  const radiation::RadiationOptions& options_;
  GasSolver& gas_;
  ProcessStep& processes_;
  // number of cells on this rank whose exchange had no solution since the last measurement
  mesh::DeviceArray<std::int64_t> unsolved_;
  bool left_table_ = false;  // cells were outside the table of opacities
};

}  // namespace octant
