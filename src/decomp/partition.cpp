#include "decomp/partition.hpp"

#include "core/error.hpp"

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

std::string to_string(Decomposition decomposition) {
  switch (decomposition) {
    case Decomposition::ksection: return "ksection";
    case Decomposition::hilbert: return "hilbert";
    case Decomposition::morton: return "morton";
  }
  return "";
}

Decomposition decomposition_of(const std::string& name) {
  for (const auto decomposition :
       {Decomposition::ksection, Decomposition::hilbert, Decomposition::morton}) {
    if (name == to_string(decomposition)) return decomposition;
  }
  throw InputError("unknown decomposition \"{}\": expected ksection, hilbert or morton", name);
}

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
