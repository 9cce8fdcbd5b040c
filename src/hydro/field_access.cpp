#include "hydro/field_access.hpp"

#include "core/residency.hpp"
#include "hydro/euler.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_work.hpp"

namespace octant::hydro {

namespace {

// Values of all cells, [block][cell].
template <class Value>
std::vector<double> gather(const mesh::CellRange& cells, const KernelCost& cost,
                           const Value& value) {
  const std::int64_t per_block = cells.cells_per_block();
  std::vector<double> values(static_cast<std::size_t>(cells.count() * per_block));
  const auto host = host_view(values);
  // The same memory where the device is the host: output must not hold a field twice.
  const auto gathered = Kokkos::create_mirror_view(mesh::DeviceSpace{}, host);
  mesh::announce_cells("gather field", cells, cost);
  mesh::for_cells(
      "gather field", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        gathered(cell.place * per_block + cell.index) = value(cell);
      });
  copy_to_host(Cargo::files, host, gathered);
  return values;
}

}  // namespace

std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, const mesh::CellRange& cells,
                                   int variable) {
  const Gas gas = options.gas();
  const int stride = layout.stride_variable;
  return gather(
      cells, {48.0, 15.0},  // of all five variables
      KOKKOS_LAMBDA(const mesh::Cell& at) {
        const double* const cell = blocks + layout.offset(at);
        const State<double> u = load_state<double>(cell, stride);
        if (variable >= k_hydro_variables) return cell[variable * stride] / u[k_mass];
        const double entropy = gas.dual_energy ? cell[k_entropy * stride] : 0.0;
        return physical_state(u, entropy, gas)[variable];
      });
}

std::vector<double> read_conserved(const mesh::BlockLayout& layout, const double* blocks,
                                   const mesh::CellRange& cells, int n) {
  const std::int64_t offset = static_cast<std::int64_t>(n) * layout.stride_variable;
  return gather(
      cells, {16.0, 0.0},
      KOKKOS_LAMBDA(const mesh::Cell& cell) { return blocks[layout.offset(cell) + offset]; });
}

void write_conserved(const mesh::BlockLayout& layout, double* blocks, const mesh::CellRange& cells,
                     int n, const std::vector<double>& values) {
  const auto from = mesh::to_device("field", values);
  const std::int64_t offset = static_cast<std::int64_t>(n) * layout.stride_variable;
  const std::int64_t per_block = cells.cells_per_block();
  mesh::for_cells(
      "scatter field", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        blocks[layout.offset(cell) + offset] = from(cell.place * per_block + cell.index);
      });
}

}  // namespace octant::hydro
