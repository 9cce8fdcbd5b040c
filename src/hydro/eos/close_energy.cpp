#include "hydro/eos/barotropic.hpp"
#include "hydro/kernel_arguments.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/cell_range.hpp"

namespace octant::hydro {

namespace {

// Stored state of a barotropic gas in a range of cells, evaluated in packs.
struct BarotropicCells {
  static constexpr int parts = mesh::k_sum_parts;

  mesh::BlockLayout layout;
  Gas gas;
  Barotrope eos;
  SoundSpeedProfile sound;
  mesh::Frame frame;
  mesh::CellRange cells;

  // Returns the total energy density that belongs to the density and the momentum of cells, and
  // sets `fastest` to their signal speeds. Two divisions, one root, and the powers of the equation
  // of state.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V energy(const mesh::Cell& cell, const State<V>& u,
                                       V& fastest) const {
    V volume;
    State<V> w = unfloored_primitive(u, gas, volume);
    BarotropicState<V> state = eos.at(w[k_density]);
    Vector<V> x;
    if (frame.turns() || sound.varies()) x = centres<V>(cells, cell);
    if (sound.varies()) state.pressure = sound.at(x[0], x[1], x[2]) * w[k_density];
    const V energy =
        V(1.0 / (gas.gamma - 1.0)) * state.pressure + V(0.5) * momentum_dot_velocity(u, w);
    if (frame.turns()) to_frame(frame, x, w);
    const V speed = square_root(state.squared_sound_speed(w[k_density]));
    fastest = (absolute(w[k_velocity_x]) + absolute(w[k_velocity_y])) + absolute(w[k_velocity_z]) +
              V(3.0) * speed;
    return energy;
  }
};

// Sets the total energy of cells. The terms are the energy change and the signal speed of a cell.
struct CloseEnergy : BarotropicCells {
  enum { exchanged, sums, fastest = sums, count };

  double* blocks;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    double* const to = blocks + layout.offset(cell);
    const State<V> u = load_state<V>(to, layout.stride_variable);
    const V closed = energy(cell, u, terms[fastest]);
    const auto is_sound = u[k_mass] >= V(gas.density_floor);
    terms[exchanged] = select(is_sound, closed - u[k_energy], V(0.0));
    SimdTraits<V>::store(to + k_energy * layout.stride_variable,
                         select(is_sound, closed, u[k_energy]));
  }
};

// Contribution of a cell to fastest_barotropic_signal().
struct BarotropicSignal : BarotropicCells {
  enum { sums, count };

  const double* blocks;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& cell, V* terms) const {
    const State<V> u = load_state<V>(blocks + layout.offset(cell), layout.stride_variable);
    energy(cell, u, terms[0]);
  }
};

BarotropicCells cells_of(const HydroOptions& options, const mesh::BlockLayout& layout,
                         const mesh::CellRange& cells) {
  return {layout,        options.gas(), options.eos.barotrope(), options.eos.sound_speed_profile(),
          options.frame, cells};
}

}  // namespace

double close_energy(const HydroOptions& options, const mesh::BlockLayout& layout, double* blocks,
                    const mesh::CellRange& cells, double weight, ReproducibleSum& exchanged) {
  mesh::record_cells("close energy", cells, {48.0, 25.0});
  const auto [fastest] =
      mesh::add_totals("close energy", cells, CloseEnergy{cells_of(options, layout, cells), blocks},
                       weight, {&exchanged, 1});
  return fastest;
}

double fastest_barotropic_signal(const HydroOptions& options, const mesh::BlockLayout& layout,
                                 const double* blocks, const mesh::CellRange& cells) {
  mesh::record_cells("fastest signal", cells, {40.0, 22.0});
  const auto [fastest] = mesh::add_totals(
      "fastest signal", cells, BarotropicSignal{cells_of(options, layout, cells), blocks}, {}, {});
  return fastest;
}

}  // namespace octant::hydro
