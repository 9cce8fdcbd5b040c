// All parameters of a run with model = "dns", and their declaration.
#pragma once

#include <memory>
#include <string>

#include "comm/comm_options.hpp"
#include "core/parameters.hpp"
#include "dns/body_force.hpp"
#include "dns/scalar.hpp"
#include "dns/statistics.hpp"
#include "driver/run_options.hpp"
#include "pencil/tuning.hpp"
#include "problems/flow_problem.hpp"

namespace octant::driver {

// Section [time].
struct FlowTimeOptions {
  double end = 1.0;
  std::int64_t max_steps = 1'000'000'000;
  double cfl = 0.8;
  double step = 0.0;          // fixed; 0: as long as is stable
  double largest_step = 0.0;  // 0: any
};

// Everything that a parameter file says about a DNS run.
class DnsOptions {
 public:
  ModelKind model = ModelKind::dns;
  std::string problem_name;
  dns::GridOptions grid;
  dns::FlowParameters flow;
  pencil::PencilOptions pencil;
  CommOptions comm;
  FlowTimeOptions time;
  OutputOptions output;
  Formats<GridContents> formats = make_grid_formats();
  RunOptions run;
  telemetry::TelemetryOptions telemetry;
  DebugOptions debug;
  double slowness = 1.0;  // of this rank's kernels, by [debug]
  dns::StatisticsOptions statistics;
  dns::ScalarOptions scalar;
  std::unique_ptr<dns::BodyForce> force = std::make_unique<dns::BodyForce>();
  std::unique_ptr<problems::FlowProblem> problem;

  // Reads and checks a file. Throws InputError.
  static DnsOptions from_file(const std::string& path, const ParameterSchema::Overrides& overrides);

  // Every parameter with its value, as TOML.
  const std::string& resolved() const { return resolved_; }

  dns::Grid make_grid() const { return {grid, make_boundaries().periodic(2)}; }
  dns::Boundaries make_boundaries() const { return {flow, grid.size}; }

 private:
  friend std::string dns_manual(const std::string& section);
  friend std::vector<std::string> dns_sections();
  void declare_all(ParameterSchema& schema);
  std::string resolved_;
};

}  // namespace octant::driver
