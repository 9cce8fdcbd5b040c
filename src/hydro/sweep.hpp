// Interface of hydro/ for a time step: one sweep of the Euler equations over the tiles of a level.
//
//   d_t rho     + div(rho v)       = 0
//   d_t (rho v) + div(rho v v + p) = rho a          ideal gas: p = (gamma - 1) (E - rho v^2 / 2)
//   d_t E       + div((E + p) v)   = rho v . a      other equations of state: eos/
//   d_t (rho s) + div(rho s v)     = 0              passive scalars s
#pragma once

#include <cstdint>
#include <span>

#include "hydro/hydro_options.hpp"
#include "mesh/tiles.hpp"

namespace octant::hydro {

// True if the program contains the CPU schedule: kernels run on the host.
inline constexpr bool k_has_core_schedule = k_device_is_host;

struct KernelArguments;

// Memory of the device schedule (sweep_gpu.hpp), kept between sweeps so that nothing is allocated
// within a step.
class BatchBuffer {
 public:
  // `bytes` limits the number of tiles per batch; the buffer always has space for at least one
  // tile.
  explicit BatchBuffer(std::int64_t bytes) : doubles_(bytes / std::int64_t{sizeof(double)}) {}

  // Maximum number of doubles per batch.
  std::int64_t doubles() const { return doubles_; }
  // Returns device memory for this many doubles; valid until the next call.
  double* hold(std::int64_t doubles);
  // Returns a contiguous gas state in device memory that replaces cells outside all boxes.
  double* fill_state(const KernelArguments& arguments);

  // Starts a sweep of this many tiles. Afterwards next_speed() may be called once per batch, at
  // most `tiles` times.
  void begin(int tiles);
  // Returns the device address for the largest signal speed of the next batch.
  double* next_speed() { return speeds_.data() + batches_++; }
  // Number of batches since begin().
  int batches() const { return batches_; }
  // Largest signal speeds of all batches since begin(), in device memory.
  const double* speeds() const { return speeds_.data(); }

 private:
  std::int64_t doubles_;
  int batches_ = 0;
  mesh::DeviceArray<double> memory_, fill_state_, speeds_;
};

// Arguments of a sweep. Arrays are in device memory. `current`, `old` and `next` hold
// HydroOptions::variable_count() variables.
struct SweepArguments {
  mesh::TileSet tiles;
  mesh::FieldPointers current;  // state from which fluxes are computed, ghost cells included
  const double* old = nullptr;  // own blocks' state at the start of the step; read if a0 != 0
  double* next = nullptr;       // new state of own blocks, in the layout of the buffer k_own
  double a0 = 0, a1 = 1;        // next = a0 old + a1 (current + dt L(current))
  // last stage of the step; DualEnergy::overwrite resets total energies only then
  bool ends_step = true;
  double dt = 0, dx = 1;  // length of the whole step; cell size
  // coordinates of the domain's lower corner, where the cell indices of tiles begin
  double lower[3] = {0, 0, 0};
  double flux_weight = 0;             // factor of fluxes added to `registers`
  double* registers = nullptr;        // null if no tile has flux requests
  std::uint8_t* bad_tiles = nullptr;  // [tile], written: 1 if a new state of the tile is unphysical
  // Mass flow [slot][axis][cell] of own blocks, or null: increased by flux_weight times the mass
  // flux along each axis, the mean of a cell's two faces.
  double* mass_flow = nullptr;
  mesh::FaceFlow face_flow;  // increased by flux_weight times the mass flux through each face
  // Energy [slot][cell] of own blocks, or null: increased by the total energy removed by
  // DualEnergy::overwrite.
  double* energy_taken = nullptr;
  // Cost [tile], increased by each tile's cycles, or by 1 with batches; may be null.
  std::uint64_t* tile_cycles = nullptr;
  BatchBuffer* batches = nullptr;  // memory of the device schedule; null selects the CPU schedule
};

// Result of a sweep on this rank.
struct SweepResult {
  double fastest = 0;  // largest |vx| + |vy| + |vz| + 3 c of the new states: dt = cfl dx / fastest
  int bad_tiles = 0;   // number of tiles with new states that need repair
};

// Advances the own cells of every tile by one stage: reconstruction, half step in time (for
// muscl_hancock), Riemann solver and conservative update. New states are not floored. Cells of
// blocks in buffers other than k_own are neither read beyond the ghost width nor written. Results
// are bitwise independent of block size, patch, pack width, threads and schedule.
SweepResult sweep(const HydroOptions& options, const SweepArguments& arguments);

// A sweep in parts, each of which needs only its own ghost cells. In the device schedule start()
// returns while the part is running, so that messages can be sent meanwhile; only result() waits.
class LevelSweep {
 public:
  // `options` and `arguments` must outlive result().
  LevelSweep(const HydroOptions& options, const SweepArguments& arguments);

  // Launches the sweep of tiles `begin` to `end` - 1. Each tile must be launched exactly once.
  void start(int begin, int end);
  // Waits for all parts and returns their combined result.
  SweepResult result() const;

 private:
  const HydroOptions& options_;
  SweepArguments arguments_;
  double fastest_ = 0.0;  // largest speed of the CPU schedule
};

// --- stages of a step ----------------------------------------------------------------------------

// One stage of a step:  next = old_weight * old + new_weight * (current + dt L(current)).
struct Stage {
  double old_weight, new_weight;
  double flux_weight;  // weight of this stage's fluxes in the flux of the whole step
  double time;         // time of `current`, in units of dt after the start of the step
  bool last;           // last stage of the step
};

// Stages of Hancock's scheme, which its predictor makes second-order accurate, and of the
// strong-stability-preserving Runge-Kutta schemes of Shu & Osher (1988), of order two (Heun) and
// three. Rounded weights of a stage add up to exactly 1: each stage scales the state by their sum.
inline constexpr Stage k_hancock_stages[] = {{0.0, 1.0, 1.0, 0.0, true}};
inline constexpr Stage k_rk2_stages[] = {{0.0, 1.0, 0.5, 0.0, false}, {0.5, 0.5, 0.5, 1.0, true}};
inline constexpr Stage k_rk3_stages[] = {{0.0, 1.0, 1.0 / 6.0, 0.0, false},
                                         {0.75, 0.25, 1.0 / 6.0, 1.0, false},
                                         {1.0 - 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.5, true}};

// Returns the stages of an integrator, in order.
inline std::span<const Stage> stages(Integrator integrator) {
  switch (integrator) {
    case Integrator::rk2: return k_rk2_stages;
    case Integrator::rk3: return k_rk3_stages;
    default: return k_hancock_stages;
  }
}

}  // namespace octant::hydro
