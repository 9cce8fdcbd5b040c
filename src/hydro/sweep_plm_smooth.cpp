#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<SmoothPlm, Llf>(const KernelArguments&);
template double run_sweep<SmoothPlm, Hll>(const KernelArguments&);
template double run_sweep<SmoothPlm, Hllc>(const KernelArguments&);
template double run_sweep<SmoothPlm, Exact>(const KernelArguments&);
template void run_fallback<SmoothPlm, Llf>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<SmoothPlm, Hll>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<SmoothPlm, Hllc>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<SmoothPlm, Exact>(const KernelArguments&, const BadCell*, int, double*);

}  // namespace octant::hydro
