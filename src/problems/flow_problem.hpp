// Base class for problems of incompressible flow (model = "dns"): initial states, registered by
// name.
//
// A new problem needs one file: derive from FlowProblem, write a function that creates it, and add
// that function to problems/registry.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/number_file.hpp"
#include "dns/domain.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::problems {

// Position of a cell centre or face, and the number of the cell in the whole grid.
struct FlowPoint {
  std::array<double, 3> position;
  std::uint64_t cell;
};

// Properties of the run that a problem may use in prepare().
struct FlowSetting {
  const dns::Grid& grid;
  const dns::Boundaries& boundaries;
  const dns::FlowParameters& parameters;
  // Reads the text files that parameters name. The reader of a run opens them on rank 0 only.
  TextReader read_text = read_text_file;
};

// Base class of all problems of the DNS model: the initial state of an incompressible flow.
class FlowProblem {
 public:
  virtual ~FlowProblem() = default;

  // Declares the parameters `problem.*`.
  virtual void declare(ParameterSchema& schema) = 0;

  // Called once after all parameters are read. Throws InputError if the problem is incompatible
  // with other parameters.
  virtual void prepare(const FlowSetting&) {}

  // Returns true if the state is defined on one grid only and has no coarser version.
  virtual bool has_own_grid() const { return false; }

  // Velocity component at time 0 at the centre of an upper face, or of a lower face at an outflow
  // boundary. Must depend on the arguments alone. The first step makes the velocity solenoidal.
  virtual double velocity(int component, const FlowPoint& point) const = 0;
  // Pressure in a cell at time 0; 0 by default.
  virtual double pressure(const FlowPoint&) const { return 0.0; }
  // Scalar in a cell at time 0; 0 by default.
  virtual double scalar(const FlowPoint&) const { return 0.0; }

  // Sets the state at time 0; by default from velocity() and pressure(). Collective.
  virtual void set(const dns::Domain& domain, dns::State& state) const;
  // Sets the scalar at time 0; by default from scalar(). Collective.
  virtual void set_scalar(const dns::Domain& domain, dns::Field& scalar) const;
};

// Creates the problem of this name. For unknown names, throws InputError that lists all names, the
// most similar first.
std::unique_ptr<FlowProblem> make_flow_problem(const std::string& name);

// Names of all problems.
std::vector<std::string> flow_problem_names();

}  // namespace octant::problems
