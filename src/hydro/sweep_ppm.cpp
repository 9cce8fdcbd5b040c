#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Ppm, Llf>(const KernelArguments&);
template double run_sweep<Ppm, Hll>(const KernelArguments&);
template double run_sweep<Ppm, Hllc>(const KernelArguments&);
template double run_sweep<Ppm, Exact>(const KernelArguments&);
template void run_fallback<Ppm, Llf>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Ppm, Hll>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Ppm, Hllc>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Ppm, Exact>(const KernelArguments&, const BadCell*, int, double*);

}  // namespace octant::hydro
