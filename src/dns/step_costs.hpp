// What a step of the flow takes, cell by cell, for a profile.
#pragma once

#include "core/kernel_work.hpp"
#include "dns/domain.hpp"
#include "dns/flow_parameters.hpp"

namespace octant::dns {

// Operations of both schedules: of a component that is predicted, and of velocity and pressure.
double operations_of_prediction(Diffusion diffusion, bool reads_rhs);
double operations_of_correction(Diffusion diffusion);
inline constexpr double k_operations_of_divergence = 8.0;

// Of the sweeps over planes in stage n, which take parts of the solvers along: what these do in
// kernels of their own, after transposes, is not among it.
struct PlaneCosts {
  KernelCost prediction, diffusion, correction;
};
PlaneCosts plane_costs(const Domain& domain, Diffusion diffusion, int n);

}  // namespace octant::dns
