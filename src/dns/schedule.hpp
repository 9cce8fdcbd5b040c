// How the work of a time step is ordered: what schedules have in common. The kernels' bodies, and
// on a host the bits of what they make, are the same in all of them.
#pragma once

#include <memory>
#include <vector>

#include "dns/domain.hpp"
#include "dns/flow_meter.hpp"
#include "dns/momentum.hpp"
#include "dns/scalar.hpp"
#include "pencil/poisson.hpp"

namespace octant::dns {

// Seconds that this rank spent in the parts of its steps.
struct StepSeconds {
  double momentum = 0, diffusion = 0, poisson = 0, correction = 0, ghosts = 0, scalar = 0;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual const char* name() const = 0;  // as dns.schedule has it

  // The state, and the scalar that it carries if any, in the host's memory, with their ghosts.
  // After writing to their cells, call complete() before the next stage; it is collective.
  virtual State& state() = 0;
  virtual Field& scalar() = 0;
  virtual void complete() = 0;

  // Stage n of a Runge-Kutta step, whose coefficients are `stage`. Returns the velocity that was
  // added to keep the mean (dns.forcing = "bulk_velocity"), else 0. Collective.
  virtual double advance(int n, const Stage& stage) = 0;

  // Sums and extremes of the present state on this rank.
  virtual FlowFigures measure() = 0;

  virtual const StepSeconds& seconds() const = 0;
  virtual pencil::PoissonReport poisson_report() const = 0;
  virtual pencil::PoissonReport diffusion_report() const = 0;
  virtual std::vector<ExchangeCount> halo_report() const = 0;
};

}  // namespace octant::dns
