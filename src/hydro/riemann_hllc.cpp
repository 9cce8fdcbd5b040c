#include "hydro/riemann.hpp"
#include "hydro/riemann_kernels.hpp"

namespace octant::hydro {

template RiemannKernels riemann_kernels_of<Hllc>();

}  // namespace octant::hydro
