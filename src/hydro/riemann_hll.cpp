#include "hydro/riemann.hpp"
#include "hydro/scheme_kernels.hpp"

namespace octant::hydro {

template SchemeKernels riemann_kernels_of<Hll>();

}  // namespace octant::hydro
