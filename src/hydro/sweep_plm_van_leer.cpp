#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Plm<VanLeer>, Llf>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Hll>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Hllc>(const KernelArguments&);
template double run_sweep<Plm<VanLeer>, Exact>(const KernelArguments&);

}  // namespace octant::hydro
