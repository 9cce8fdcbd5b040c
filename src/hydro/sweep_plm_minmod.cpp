#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<Minmod>, Llf>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Hll>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<Minmod>, Exact>(const KernelArguments&);
template void run_fallback<Plm<Minmod>, Llf>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Plm<Minmod>, Hll>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Plm<Minmod>, Hllc>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Plm<Minmod>, Exact>(const KernelArguments&, const BadCell*, int,
                                               double*);

}  // namespace octant::hydro
