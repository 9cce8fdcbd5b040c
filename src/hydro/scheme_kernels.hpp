// Compiles the kernels of a scheme: included by its file alone, which ends with
//   template SchemeKernels scheme_kernels_of<DonorCell>();
// See hydro/scheme.hpp.
#pragma once

#include "hydro/flux_kernels.hpp"
#include "hydro/state_kernels.hpp"

namespace octant::hydro {

template <class Scheme>
SchemeKernels scheme_kernels_of() {
  return {Scheme::name, Scheme::predicts, false,
          [](const HydroOptions&) { return state_kernels<Scheme>(); }, flux_kernels<Scheme>()};
}

}  // namespace octant::hydro
