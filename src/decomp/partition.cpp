#include "decomp/partition.hpp"

namespace octant {
namespace {

template <class Partition>
std::vector<int> owners_of(std::span<const WorkPoint> points, const Partition& partition) {
  std::vector<int> owners;
  owners.reserve(points.size());
  for (const WorkPoint& point : points) owners.push_back(partition.locate(point.centre));
  return owners;
}

}  // namespace

std::vector<int> partition(Decomposition decomposition, const Communicator& communicator,
                           const DomainShape& domain, std::span<const CostItem> local_blocks) {
  const int ranks = communicator.size();
  const Reduction reduction = reduction_over(communicator);
  const Work work = measure_work(domain, local_blocks, reduction);
  if (decomposition == Decomposition::ksection) {
    return owners_of(work.points, KSectionTree(ranks, work, reduction));
  }
  const Curve curve = decomposition == Decomposition::hilbert ? Curve::hilbert : Curve::morton;
  return owners_of(work.points, CurvePartition(curve, ranks, work, reduction));
}

}  // namespace octant
