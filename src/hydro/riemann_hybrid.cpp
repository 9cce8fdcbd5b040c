#include "hydro/solver_ops.hpp"

namespace octant::hydro {

template SchemeOps ops_of_solver<HllcHybrid>();
template SchemeOps ops_of_solver<HllcLowMach>();

}  // namespace octant::hydro
