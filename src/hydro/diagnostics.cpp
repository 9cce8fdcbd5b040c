#include "hydro/diagnostics.hpp"

#include <algorithm>

#include "hydro/eos/barotropic.hpp"
#include "hydro/kernel_arguments.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/cell_range.hpp"

namespace octant::hydro {

namespace {

template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto is_invalid(const State<V>& u) {
  return !(u[k_mass] > V(0.0)) || !(u[k_energy] > V(0.0));
}

// Stored state of the gas in a range of cells, for measurements in packs of cells.
struct MeasuredGas {
  static constexpr int parts = mesh::k_sum_parts;

  mesh::BlockLayout layout;
  const double* blocks;
  Gas gas;
  mesh::Frame frame;
  mesh::CellRange cells;

  // Signal speed relative to the mesh, whose frame may rotate.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V signal_speed_of(const mesh::Cell& cell, State<V> w) const {
    if (frame.turns()) to_frame(frame, centres<V>(cells, cell), w);
    return signal_speed(w, gas);
  }
  double bytes_of_cell() const { return gas.dual_energy ? 48.0 : 40.0; }
};

// Contributions of a cell to measure_gas(): sums, then maxima.
struct GasTerms : MeasuredGas {
  enum { sums = k_gas_sums, fastest = sums, broken, count };

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const double* const from = blocks + layout.offset(cell);
    const int stride = layout.stride_variable;
    const State<V> u = load_state<V>(from, stride);
    V volume;
    State<V> w = unfloored_primitive(u, gas, volume);
    terms[k_mass_sum] = u[k_mass];
    for (int d = 0; d < 3; ++d) terms[k_momentum_sum + d] = u[k_momentum_x + d];
    terms[k_total_energy_sum] = u[k_energy];
    terms[k_kinetic_energy_sum] = V(0.5) * momentum_dot_velocity(u, w);
    terms[k_absolute_momentum_sum] =
        square_root(u[k_momentum_x] * u[k_momentum_x] + u[k_momentum_y] * u[k_momentum_y] +
                    u[k_momentum_z] * u[k_momentum_z]);
    if (gas.dual_energy) {
      const V entropy = SimdTraits<V>::load(from + k_entropy * stride);
      w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], entropy, gas);
    }
    w[k_pressure] = max(w[k_pressure], V(gas.pressure_floor));
    terms[fastest] = signal_speed_of(cell, w);
    terms[broken] = select(is_invalid(u), V(1.0), V(0.0));
  }
};

// 1 for a cell outside the table of the equation of state, else 0.
struct OutsideTerm : MeasuredGas {
  enum { sums = 1, count = 1 };

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const State<V> u = load_state<V>(blocks + layout.offset(cell), layout.stride_variable);
    const State<V> w = physical_state(u, V(0.0), gas);
    const auto is_cold = !(w[k_pressure] > V(gas.pressure_floor * (1.0 + 1e-9)));
    const V outside = outside_table<V>(u[k_mass], w[k_pressure], gas.real);
    terms[0] = select(is_cold, V(1.0), outside);
  }
};

// Contribution of a cell to fastest_signal().
struct SignalTerm : MeasuredGas {
  enum { sums, count };

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const double* const from = blocks + layout.offset(cell);
    const State<V> u = load_state<V>(from, layout.stride_variable);
    V entropy(0.0);
    if (gas.dual_energy) entropy = SimdTraits<V>::load(from + k_entropy * layout.stride_variable);
    State<V> w = physical_state(u, entropy, gas);
    w[k_pressure] = max(w[k_pressure], V(gas.pressure_floor));
    terms[0] = signal_speed_of(cell, w);
  }
};

}  // namespace

GasExtremes measure_gas(const HydroOptions& options, const mesh::BlockLayout& layout,
                        const double* blocks, const mesh::CellRange& cells, double cell_volume,
                        GasSums& sums) {
  const GasTerms terms{{layout, blocks, options.gas(), options.frame, cells}};
  mesh::record_cells("measure blocks", cells, {terms.bytes_of_cell(), 37.0});
  const auto [fastest, broken] =
      mesh::add_totals("measure blocks", cells, terms, cell_volume, sums);
  if (!options.is_barotropic()) return {fastest, broken > 0.0};
  return {fastest_barotropic_signal(options, layout, blocks, cells), broken > 0.0};
}

std::int64_t cells_outside_table(const HydroOptions& options, const mesh::BlockLayout& layout,
                                 const double* blocks, const mesh::CellRange& cells) {
  const OutsideTerm term{{layout, blocks, options.gas(), options.frame, cells}};
  mesh::record_cells("cells outside the table", cells, {term.bytes_of_cell(), 60.0});
  ReproducibleSum sum;
  mesh::add_totals("cells outside the table", cells, term, 1.0, {&sum, 1});
  return static_cast<std::int64_t>(sum.to_double());
}

std::vector<mesh::Cell> cells_with_invalid_state(const mesh::BlockLayout& layout,
                                                 const double* blocks,
                                                 const mesh::CellRange& cells) {
  return mesh::find_cells(
      "unphysical cells", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        return is_invalid(load_state<double>(blocks + layout.offset(cell), layout.stride_variable));
      });
}

double fastest_signal(const HydroOptions& options, const mesh::BlockLayout& layout,
                      const double* blocks, const mesh::CellRange& cells) {
  if (options.is_barotropic()) return fastest_barotropic_signal(options, layout, blocks, cells);
  const SignalTerm term{{layout, blocks, options.gas(), options.frame, cells}};
  mesh::record_cells("fastest signal", cells, {term.bytes_of_cell(), 19.0});
  const auto [fastest] = mesh::add_totals("fastest signal", cells, term, 1.0, {});
  return fastest;
}

std::vector<mesh::Cell> varying_cells(const HydroOptions& options, const mesh::BlockLayout& layout,
                                      const double* blocks, const mesh::CellRange& cells) {
  const int variables = static_cast<int>(options.variables().size());
  const int first_of = 1 << options.dimensions * cells.log2_block_size;
  return mesh::find_cells(
      "varying cells", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        const double* const here = blocks + layout.offset(cell);
        const double* const first =
            blocks + layout.offset({cell.block_index, cell.slot, cell.index % first_of});
        bool varies = false;
        for (int n = 0; n < variables; ++n)
          varies |= here[n * layout.stride_variable] != first[n * layout.stride_variable];
        return varies;
      });
}

bool has_level_change_across(const HydroOptions& options, const mesh::TileSet& tiles) {
  const std::vector<mesh::FluxRegisterFaces> requests =
      to_vector(TransferKind::lists, tiles.requests);
  return std::any_of(requests.begin(), requests.end(), [&](const mesh::FluxRegisterFaces& request) {
    return request.axis >= options.dimensions;
  });
}

// --- single fields as contiguous arrays ----------------------------------------------------------

namespace {

// Returns the values of all cells, [block][cell].
template <class Value>
std::vector<double> gather(const mesh::CellRange& cells, const KernelCost& cost,
                           const Value& value) {
  const std::int64_t per_block = cells.cells_per_block();
  std::vector<double> values(static_cast<std::size_t>(cells.count() * per_block));
  const auto host = host_view(values);
  // Uses the same memory if the device is the host: output must not hold a field twice.
  const auto gathered = Kokkos::create_mirror_view(mesh::DeviceSpace{}, host);
  mesh::record_cells("gather field", cells, cost);
  mesh::for_cells(
      "gather field", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        gathered(cell.block_index * per_block + cell.index) = value(cell);
      });
  copy_to_host(TransferKind::files, host, gathered);
  return values;
}

}  // namespace

std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, const mesh::CellRange& cells,
                                   int variable) {
  const Gas gas = options.gas();
  const int stride = layout.stride_variable, gas_variables = options.variable_count();
  return gather(
      cells, {48.0, 15.0},  // cost for all five variables
      KOKKOS_LAMBDA(const mesh::Cell& at) {
        const double* const cell = blocks + layout.offset(at);
        if (variable >= gas_variables) return cell[variable * stride];
        const State<double> u = load_state<double>(cell, stride);
        if (variable >= k_hydro_variables) return cell[variable * stride] / u[k_mass];
        const double entropy = gas.dual_energy ? cell[k_entropy * stride] : 0.0;
        const State<double> w = physical_state(u, entropy, gas);
        if (variable != k_pressure) return w[variable];
        return cold_state(w[k_density], gas).total_pressure(w[k_pressure]);
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
        blocks[layout.offset(cell) + offset] = from(cell.block_index * per_block + cell.index);
      });
}

}  // namespace octant::hydro
