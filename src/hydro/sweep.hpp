// The face of hydro/ towards a time step: one sweep of the Euler equations over the tiles of a
// level.
//
//   d_t rho     + div(rho v)       = 0
//   d_t (rho v) + div(rho v v + p) = rho a          p = (gamma - 1) (E - rho v^2 / 2)
//   d_t E       + div((E + p) v)   = rho v . a
//   d_t (rho s) + div(rho s v)     = 0              passive scalars s
#pragma once

#include <cstdint>
#include <span>

#include "hydro/hydro_options.hpp"
#include "mesh/face_flow.hpp"
#include "mesh/tiles.hpp"

namespace octant::hydro {

// Whether the program has the schedule for cores: where kernels run on them.
inline constexpr bool k_has_core_schedule = k_device_is_host;

struct KernelArguments;

// Where the schedule for devices works (sweep_batches.hpp): kept from sweep to sweep, so that
// nothing is allocated within a step.
class BatchBuffer {
 public:
  // As many tiles are swept at a time as fit into so many bytes, but one at least.
  explicit BatchBuffer(std::int64_t bytes) : doubles_(bytes / std::int64_t{sizeof(double)}) {}

  std::int64_t doubles() const { return doubles_; }
  // Device memory for so many.
  double* hold(std::int64_t doubles);
  // A state of gas, contiguous, that stands for cells which no box holds.
  double* safe_cell(const KernelArguments& arguments);

  // Before a sweep of so many tiles; then a place for the largest signal speed of each of its
  // batches, which are at most as many, one after the other.
  void begin(int tiles);
  double* next_speed() { return speeds_.data() + batches_++; }
  int batches() const { return batches_; }
  const double* speeds() const { return speeds_.data(); }

 private:
  std::int64_t doubles_;
  int batches_ = 0;
  mesh::DeviceArray<double> memory_, safe_cell_, speeds_;
};

// Arrays live in device memory. `current`, `old` and `next` hold HydroOptions::variable_count()
// variables.
struct SweepArguments {
  mesh::TileSet tiles;
  mesh::FieldPointers current;        // state that fluxes are computed from, ghosts included
  const double* old = nullptr;        // own blocks' state at the start of the step; read if a0 != 0
  double* next = nullptr;             // own blocks' new state; laid out as the buffer k_own
  double a0 = 0, a1 = 1;              // next = a0 old + a1 (current + dt L(current))
  bool ends_step = true;              // only then does dual energy overwrite total energies
  double dt = 0, dx = 1;              // length of the whole step; cell size
  double lower[3] = {0, 0, 0};        // corner of the domain, from which tiles count their cells
  double flux_weight = 0;             // factor of the fluxes that requests add to `registers`
  double* registers = nullptr;        // may be null where the tiles have no requests
  std::uint8_t* bad_tiles = nullptr;  // [tile], written: 1 where a new state is not physical
  // [slot][axis][cell] of own blocks, or null: grows by flux_weight times the mass flux along each
  // axis, the mean of a cell's two faces.
  double* mass_flow = nullptr;
  mesh::FaceFlow face_flow;  // grows by flux_weight times the mass flux through each face
  // [slot][cell] of own blocks, or null: grows by what dual energy that overwrites takes from the
  // total energy.
  double* energy_taken = nullptr;
  // [tile], added to: how long each took, or 1 for each with batches; may be null.
  std::uint64_t* tile_cycles = nullptr;
  BatchBuffer* batches = nullptr;  // for the schedule of devices; null: that of cores
};

struct SweepResult {
  double fastest = 0;  // largest |vx| + |vy| + |vz| + 3 c of the new states: dt = cfl dx / fastest
  int bad_tiles = 0;   // tiles with a density or pressure below its floor, negative or NaN
};

// Advances the own cells of every tile by one stage: reconstruction, half step in time (for
// muscl_hancock), Riemann solver and conservative update. New states are not floored. Cells of
// blocks in other buffers than k_own are neither read beyond the ghost width nor written. The
// result's bits do not depend on block size, patch, pack width, threads or schedule.
SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments);

// The same in parts, each of which needs its own ghosts only. With batches a part is on its way
// when start() returns: messages may travel meanwhile, and the one wait is for the result.
class LevelSweep {
 public:
  // Both are kept by reference or copied, and must be there until the result is.
  LevelSweep(const HydroOptions& options, const SweepArguments& arguments);

  // The tiles begin <= t < end. Each has its turn once.
  void start(int begin, int end);
  SweepResult result() const;

 private:
  const HydroOptions& options_;
  SweepArguments arguments_;
  double fastest_ = 0.0;  // of the schedule for cores
};

// --- the sweeps that make up a step --------------------------------------------------------------

// One sweep:  next = old_weight * old + new_weight * (current + dt L(current)).
struct Stage {
  double old_weight, new_weight;
  double flux_weight;  // share of this sweep's fluxes in the flux of the whole step
  double time;         // when `current` is valid, in units of dt after the start of the step
  bool last;           // whether it ends the step
};

// Hancock's predictor makes one sweep second-order accurate; the Runge-Kutta schemes are the
// strong-stability-preserving ones of Shu & Osher (1988), of order two (Heun) and three. The
// weights of a stage add up to 1 as rounded numbers: each step scales the state by their sum.
inline constexpr Stage k_hancock_stages[] = {{0.0, 1.0, 1.0, 0.0, true}};
inline constexpr Stage k_rk2_stages[] = {{0.0, 1.0, 0.5, 0.0, false}, {0.5, 0.5, 0.5, 1.0, true}};
inline constexpr Stage k_rk3_stages[] = {{0.0, 1.0, 1.0 / 6.0, 0.0, false},
                                         {0.75, 0.25, 1.0 / 6.0, 1.0, false},
                                         {1.0 - 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.5, true}};

inline std::span<const Stage> stages(Integrator integrator) {
  switch (integrator) {
    case Integrator::rk2: return k_rk2_stages;
    case Integrator::rk3: return k_rk3_stages;
    default: return k_hancock_stages;
  }
}

}  // namespace octant::hydro
