#include "problems/flow_factories.hpp"
#include "problems/registry_lookup.hpp"

namespace octant::problems {

namespace {

constexpr Entry<FlowProblem> k_flow_problems[] = {
    {"cavity", make_cavity},           {"channel", make_channel},
    {"couette", make_couette},         {"expression", make_flow_of_expressions},
    {"isotropic", make_isotropic},     {"rayleigh_benard", make_rayleigh_benard},
    {"stored_flow", make_stored_flow}, {"taylor_green", make_taylor_green},
};

}  // namespace

std::vector<std::string> flow_problem_names() { return names_of<FlowProblem>(k_flow_problems); }

std::unique_ptr<FlowProblem> make_flow_problem(const std::string& name) {
  return make_named<FlowProblem>(k_flow_problems, name);
}

}  // namespace octant::problems
