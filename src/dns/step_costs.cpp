#include "dns/step_costs.hpp"

#include "dns/kernels.hpp"
#include "pencil/fft_work.hpp"

namespace octant::dns {

namespace {

constexpr double k_value = 8.0;  // bytes
constexpr double k_line = 3.0;   // operations of a point when a line along z is swept one way

}  // namespace

// Six faces take 6 operations each, the rest of a stage 7; implicit diffusion takes 6 an axis.
double operations_of_prediction(Diffusion diffusion, bool reads_rhs) {
  return 43.0 + (reads_rhs ? 2.0 : 0.0) + 6.0 * static_cast<int>(diffusion);
}

// A component of the velocity takes 4.
double operations_of_correction(Diffusion diffusion) {
  constexpr double laplacian[] = {0.0, 6.0, 16.0};
  return 13.0 + laplacian[static_cast<int>(diffusion)];
}

PlaneCosts plane_costs(const Domain& domain, Diffusion diffusion, int n) {
  const bool reads_rhs = n > 0, keeps_rhs = n + 1 < k_stages;
  const auto& [nx, ny, nz] = domain.grid.cells;
  const bool whole_along_y = domain.pencils.processes().y == 1;
  // Of a solver along all axes, before and after what it does between the sweeps.
  const double half_solve =
      pencil::fft_operations(nx) + (whole_along_y ? pencil::fft_operations(ny) + k_line : 0.0);
  // Velocity and pressure are read, what is predicted is written, as are right-hand sides.
  PlaneCosts costs;
  costs.prediction = {k_value * (7.0 + 3.0 * (reads_rhs + keeps_rhs)),
                      3.0 * operations_of_prediction(diffusion, reads_rhs)};
  // The divergence of what was predicted is on its way to the pressure.
  const KernelCost projection{k_value, k_operations_of_divergence + half_solve};
  if (diffusion == Diffusion::explicit_all) {
    costs.prediction.bytes += projection.bytes;
    costs.prediction.operations += projection.operations;
  } else {
    const double half_diffusion = diffusion == Diffusion::implicit_z ? k_line : half_solve;
    costs.prediction.operations += 3.0 * half_diffusion;
    costs.diffusion = {k_value * 6.0 + projection.bytes,
                       3.0 * half_diffusion + projection.operations};
  }
  // phi is read; velocity and pressure are read and written.
  costs.correction = {k_value * 9.0, half_solve + operations_of_correction(diffusion)};
  return costs;
}

}  // namespace octant::dns
