#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<MonotonisedCentral>, Llf>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Hll>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<MonotonisedCentral>, Exact>(const KernelArguments&);
template void run_fallback<Plm<MonotonisedCentral>, Llf>(const KernelArguments&, const BadCell*,
                                                         int, double*);
template void run_fallback<Plm<MonotonisedCentral>, Hll>(const KernelArguments&, const BadCell*,
                                                         int, double*);
template void run_fallback<Plm<MonotonisedCentral>, Hllc>(const KernelArguments&, const BadCell*,
                                                          int, double*);
template void run_fallback<Plm<MonotonisedCentral>, Exact>(const KernelArguments&, const BadCell*,
                                                           int, double*);

}  // namespace octant::hydro
