#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<MonotonisedCentral>, Hllc>(const KernelArguments&);

}  // namespace octant::hydro
