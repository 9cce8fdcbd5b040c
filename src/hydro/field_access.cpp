#include "hydro/field_access.hpp"

#include "hydro/euler.hpp"
#include "mesh/device.hpp"

namespace octant::hydro {

namespace {

mesh::DeviceArray<const int> upload_slots(std::span<const int> slots) {
  return mesh::to_device("slots", std::vector<int>(slots.begin(), slots.end()));
}

// Calls value(pointer to the cell's first variable) for every cell of the blocks.
template <class Value>
std::vector<double> gather(const mesh::BlockLayout& layout, const double* blocks,
                           std::span<const int> slots, const Value& value) {
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  const auto count = static_cast<std::int64_t>(slots.size()) * cells;
  const auto slot = upload_slots(slots);
  std::vector<double> values(static_cast<std::size_t>(count));
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                         values.size());
  // The same memory where the device is the host: output must not hold a field twice.
  const auto gathered = Kokkos::create_mirror_view(mesh::DeviceSpace{}, host);
  Kokkos::parallel_for(
      "gather field", Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>(0, count),
      KOKKOS_LAMBDA(std::int64_t n) {
        gathered(n) = value(blocks + slot(n / cells) * layout.stride_slot + n % cells);
      });
  Kokkos::deep_copy(host, gathered);
  return values;
}

}  // namespace

std::vector<PrimitiveField> primitive_fields(const HydroOptions& options,
                                             std::span<const std::string> scalars) {
  std::vector<PrimitiveField> fields{
      {"density", "mass / length^3", "mass density of the gas", k_density},
      {"velocity_x", "length / time", "gas velocity along x", k_velocity_x},
      {"velocity_y", "length / time", "gas velocity along y", k_velocity_y},
      {"velocity_z", "length / time", "gas velocity along z", k_velocity_z},
      {"pressure", "mass / (length time^2)", "thermal pressure of the gas", k_pressure}};
  int variable = k_hydro_variables;
  if (options.has_dual_energy())
    fields.push_back({"entropy", "code", "p / rho^gamma as carried by dual energy", variable++});
  for (const std::string& name : scalars)
    fields.push_back({name, "1", "concentration of a passive scalar", variable++});
  return fields;
}

std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, std::span<const int> slots, int variable) {
  const Gas gas = options.gas();
  const int stride = layout.stride_variable;
  return gather(
      layout, blocks, slots, KOKKOS_LAMBDA(const double* cell) {
        const State<double> u = load_state<double>(cell, stride);
        if (variable >= k_hydro_variables) return cell[variable * stride] / u[k_mass];
        double inverse;
        State<double> w = unfloored_primitive(u, gas, inverse);
        if (gas.dual_energy)
          w[k_pressure] =
              dual_pressure(w[k_pressure], u, w[k_density], cell[k_entropy * stride], gas);
        return w[variable];
      });
}

std::vector<double> read_conserved(const mesh::BlockLayout& layout, const double* blocks,
                                   std::span<const int> slots, int n) {
  const std::int64_t offset = static_cast<std::int64_t>(n) * layout.stride_variable;
  return gather(
      layout, blocks, slots, KOKKOS_LAMBDA(const double* cell) { return cell[offset]; });
}

void write_conserved(const mesh::BlockLayout& layout, double* blocks, std::span<const int> slots,
                     int n, const std::vector<double>& values) {
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  const auto slot = upload_slots(slots);
  const auto from = mesh::to_device("field", values);
  const std::int64_t offset = static_cast<std::int64_t>(n) * layout.stride_variable;
  Kokkos::parallel_for(
      "scatter field",
      Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>(
          0, static_cast<std::int64_t>(values.size())),
      KOKKOS_LAMBDA(std::int64_t c) {
        blocks[slot(c / cells) * layout.stride_slot + offset + c % cells] = from(c);
      });
  Kokkos::fence();
}

}  // namespace octant::hydro
