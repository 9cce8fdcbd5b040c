#include "hydro/solver_ops.hpp"

namespace octant::hydro {

template SchemeOps ops_of_solver<Llf>();
template SchemeOps ops_of_solver<Hll>();
template SchemeOps ops_of_solver<Hllc>();

}  // namespace octant::hydro
