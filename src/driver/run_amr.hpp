// A run with model = "amr".
#pragma once

#include "driver/run_by_steps.hpp"
#include "problems/given_state.hpp"
#include "subgrid/given_source.hpp"

namespace octant::driver {

// What a driver of its own brings beside the parameter file; empty for nothing.
struct GivenFunctions {
  problems::StateFunction state;
  subgrid::SourceFunction source;
};

// The model that a request's parameter file describes. Throws InputError. Collective.
OpenModel make_amr_model(const RunRequest& request, const Communicator& communicator,
                         const GivenFunctions& given = {});

}  // namespace octant::driver
