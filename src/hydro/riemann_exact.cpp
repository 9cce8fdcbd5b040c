#include "hydro/exact_riemann.hpp"
#include "hydro/riemann_kernels.hpp"

namespace octant::hydro {

template RiemannKernels riemann_kernels_of<Exact>();

}  // namespace octant::hydro
