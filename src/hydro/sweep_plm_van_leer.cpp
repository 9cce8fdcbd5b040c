#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<VanLeer>, Llf>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Hll>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Exact>(const KernelArguments&);
template void run_fallback<Plm<VanLeer>, Llf>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Plm<VanLeer>, Hll>(const KernelArguments&, const BadCell*, int, double*);
template void run_fallback<Plm<VanLeer>, Hllc>(const KernelArguments&, const BadCell*, int,
                                               double*);
template void run_fallback<Plm<VanLeer>, Exact>(const KernelArguments&, const BadCell*, int,
                                                double*);

}  // namespace octant::hydro
