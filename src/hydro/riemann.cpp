#include "hydro/riemann.hpp"

#include "hydro/flux_kernels.hpp"

namespace octant::hydro {

template SchemeKernels riemann_kernels_of<Llf>();
template SchemeKernels riemann_kernels_of<Hll>();
template SchemeKernels riemann_kernels_of<Hllc>();

}  // namespace octant::hydro
