#include "subgrid/cooling/nodes.hpp"

#include <algorithm>

#include "mesh/device.hpp"

namespace octant::subgrid::cooling {

void look_through(Nodes& nodes) {
  const int rows = nodes.rows.rows, temperatures = nodes.temperatures;
  const auto values = on_host(Cargo::tables, nodes.values);
  const auto energy = [&](int row, int k) {
    return values((std::int64_t{row} * temperatures + k) * k_node_values + k_internal);
  };
  double least = energy(0, 0), most = energy(0, temperatures - 1), least_end = most;
  for (int row = 1; row < rows; ++row) {
    least = std::min(least, energy(row, 0));
    most = std::max(most, energy(row, temperatures - 1));
    least_end = std::min(least_end, energy(row, temperatures - 1));
  }
  nodes.safe_energy = 0.99 * least_end;
  NodeHints& hints = nodes.hints;
  hints.first = NodeHints::bin_of(least);
  hints.bins = static_cast<int>(NodeHints::bin_of(most) - hints.first) + 1;
  std::vector<std::uint16_t> above;
  for (int row = 0; row < rows; row += NodeHints::k_rows)
    for (int bin = 0, k = 0; bin < hints.bins; ++bin) {
      while (k < temperatures && energy(row, k) <= hints.least(bin)) ++k;
      above.push_back(static_cast<std::uint16_t>(k));
    }
  hints.above = mesh::to_device("hints to cooling nodes", above);
}

}  // namespace octant::subgrid::cooling
