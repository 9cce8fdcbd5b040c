#include "hydro/sweep_instances.inl"

namespace octant::hydro {

template double run_sweep<Ppm, Llf>(const KernelArguments&);
template double run_sweep<Ppm, Hll>(const KernelArguments&);
template double run_sweep<Ppm, Hllc>(const KernelArguments&);
template double run_sweep<Ppm, Exact>(const KernelArguments&);

}  // namespace octant::hydro
