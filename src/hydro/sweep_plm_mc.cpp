#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<MonotonisedCentral>, Llf>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Hll>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Exact>(const KernelArguments&);

}  // namespace octant::hydro
