// Common interface of the two models, for runs and for programs that step them.
#pragma once

#include "problems/given_state.hpp"
#include "run/run.hpp"
#include "subgrid/given_source.hpp"

namespace octant {

// Functions of an embedding program in addition to the parameter file; empty if there are none.
struct GivenFunctions {
  problems::StateFunction state;
  subgrid::SourceFunction source;
};

// Creates the AMR model that a request's parameter file describes. Throws InputError. Collective.
OpenModel make_amr_model(const RunRequest& request, const Communicator& communicator,
                         const GivenFunctions& given = {});
// Creates the DNS model that a request's parameter file describes. Throws InputError. Collective.
OpenModel make_dns_model(const RunRequest& request, const Communicator& communicator);

}  // namespace octant
