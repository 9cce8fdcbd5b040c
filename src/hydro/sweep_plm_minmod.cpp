#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<Minmod>, Llf>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Hll>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Exact>(const KernelArguments&);

}  // namespace octant::hydro
