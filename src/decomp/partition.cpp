#include "decomp/partition.hpp"

namespace octant {

std::vector<int> partition(Decomposition decomposition, const Communicator& communicator,
                           const DomainShape& domain, std::span<const CostItem> local_blocks) {
  const Reduction reduction = reduction_over(communicator);
  const Work work = measure_work(domain, local_blocks, reduction);
  if (decomposition == Decomposition::ksection) return ksection_owners(communicator, work);
  const Curve curve = decomposition == Decomposition::hilbert ? Curve::hilbert : Curve::morton;
  const CurvePartition partition(curve, communicator.size(), work, reduction);
  std::vector<int> owners;
  owners.reserve(work.points.size());
  for (const WorkPoint& point : work.points) owners.push_back(partition.locate(point.centre));
  return owners;
}

}  // namespace octant
