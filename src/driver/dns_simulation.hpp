// The DNS half of Octant: an incompressible flow, advanced in time. Outputs and run control are
// elsewhere.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "dns/incompressible_flow.hpp"
#include "dns/measure.hpp"
#include "dns/statistics.hpp"
#include "driver/dns_options.hpp"
#include "driver/timers.hpp"

namespace octant::driver {

class DnsSimulation {
 public:
  // Collective, as all functions are that change the state. Chooses the process grid.
  DnsSimulation(const Communicator& communicator, const DnsOptions& options);

  // Bytes of the fields in all, the least that a run of these options needs.
  static double least_bytes(const DnsOptions& options);

  // Sets the problem's initial state.
  void initialise();
  // Takes up a state that the caller has written to the cells, after a step of which step_limit()
  // was `step_limit`.
  void resume(double time, std::int64_t step, double step_limit);

  // Fills totals(). Throws RunError if the state is broken.
  void measure();
  void step(double dt);

  double stable_dt() const;  // after measure()
  // How long the last step might have been, before it was cut to end at some time.
  double step_limit() const { return step_limit_; }
  const dns::Totals& totals() const { return totals_; }
  double time() const { return time_; }
  std::int64_t step_count() const { return step_; }
  std::int64_t cell_updates() const { return cell_updates_; }  // of this rank

  const Communicator& communicator() const { return domain_.pencils.communicator(); }
  const DnsOptions& options() const { return options_; }
  const dns::Domain& domain() const { return domain_; }
  dns::Flow& flow() { return flow_; }
  const dns::Flow& flow() const { return flow_; }
  dns::Statistics& statistics() { return statistics_; }
  const dns::Statistics& statistics() const { return statistics_; }
  const pencil::Tuning& tuning() const { return tuning_; }
  Timers& timers() { return timers_; }

 private:
  static constexpr double k_no_limit = std::numeric_limits<double>::max();

  const DnsOptions& options_;
  Timers timers_;
  pencil::Tuning tuning_;
  dns::Domain domain_;
  dns::Flow flow_;
  dns::Statistics statistics_;
  dns::Totals totals_;
  double time_ = 0.0, step_limit_ = k_no_limit;
  std::int64_t step_ = 0, cell_updates_ = 0;
};

}  // namespace octant::driver
