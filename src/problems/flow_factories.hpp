// What makes each flow problem (private to problems/): one function per file, listed in
// registry.cpp.
#pragma once

#include "problems/flow_problem.hpp"

namespace octant::problems {

std::unique_ptr<FlowProblem> make_cavity();
std::unique_ptr<FlowProblem> make_channel();
std::unique_ptr<FlowProblem> make_couette();
std::unique_ptr<FlowProblem> make_flow_of_expressions();
std::unique_ptr<FlowProblem> make_isotropic();
std::unique_ptr<FlowProblem> make_rayleigh_benard();
std::unique_ptr<FlowProblem> make_stored_flow();
std::unique_ptr<FlowProblem> make_taylor_green();

}  // namespace octant::problems
