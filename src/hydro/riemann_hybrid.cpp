#include "hydro/flux_kernels.hpp"

namespace octant::hydro {

template SchemeKernels riemann_kernels_of<HllcHybrid>();
template SchemeKernels riemann_kernels_of<HllcLowMach>();

}  // namespace octant::hydro
