// A problem of incompressible flow (model = "dns"): its initial state, registered by a name.
//
// Adding one takes one file: derive from FlowProblem, write a function that makes it, and name that
// function in problems/flow_factories.hpp and problems/registry.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dns/domain.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::problems {

// A cell or one of its faces: where it is, and the cell's number in the whole grid.
struct Place {
  std::array<double, 3> position;
  std::uint64_t cell;
};

// What a problem may look at when it prepares itself.
struct FlowSetting {
  const dns::Grid& grid;
  const dns::Boundaries& boundaries;
  const dns::FlowParameters& parameters;
};

class FlowProblem {
 public:
  virtual ~FlowProblem() = default;

  // Declares the parameters `problem.*`.
  virtual void declare(ParameterSchema& schema) = 0;

  // Called once, after all parameters are read. Throws InputError where the problem and the rest of
  // the parameters do not fit.
  virtual void prepare(const FlowSetting&) {}

  // Whether the state exists on one grid only, so that no coarser one can stand for it.
  virtual bool has_own_grid() const { return false; }

  // A velocity component at the centre of an upper face, or of one on a lower side where fluid
  // leaves, and the pressure in a cell, at time 0.
  // They must depend on their arguments alone. The first step makes the velocity solenoidal.
  virtual double velocity(int component, const Place& place) const = 0;
  virtual double pressure(const Place&) const { return 0.0; }
  virtual double scalar(const Place&) const { return 0.0; }

  // Sets the cells of the state at time 0: by default from the functions above. Collective.
  virtual void set(const dns::Domain& domain, dns::State& state) const;
  virtual void set_scalar(const dns::Domain& domain, dns::Field& scalar) const;
};

// The problem of this name. Throws InputError that lists the names, the nearest one first.
std::unique_ptr<FlowProblem> make_flow_problem(const std::string& name);

std::vector<std::string> flow_problem_names();

}  // namespace octant::problems
