#include "radiation/lax_friedrichs.hpp"

#include "radiation/closure.hpp"
#include "radiation/transport_tile.hpp"

namespace octant::radiation {

namespace {

// Variables in scratch memory: E, F / c, the coefficients of the pressure tensor
//   P = isotropic I + beamed F F / c^2,
// and the speeds of the dissipation along the axes.
constexpr int k_isotropic = k_moments, k_beamed = k_moments + 1, k_speed = k_moments + 2,
              k_variables = k_moments + 5;
// Slope of the speed across the flux, which is that of light where f^2 < 1 - 1 / k_spreading.
constexpr double k_spreading = 4.0;
template <int M>
using Scratch = TransportScratch<M, 1, k_variables, 0>;

// A step on the cells of a tile.
template <int M>
class PhotonStep : public TransportTile<PhotonStep<M>, M, Scratch<M>> {
  using Base = TransportTile<PhotonStep<M>, M, Scratch<M>>;
  using Base::a_, Base::team_, Base::scratch_;
  using Base::step_along, Base::unit_of;

 public:
  using Base::Base;

  KOKKOS_INLINE_FUNCTION void run() const {
    this->gather();
    team_.team_barrier();
    this->add_to_registers();
    this->update();
  }

  // Reads cells.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void read_pack(const mesh::CellPointer& from, int cell, bool dark,
                                             double* to) const {
    using P = SimdTraits<V>;
    V energy(k_dark), f[3] = {V(0.0), V(0.0), V(0.0)};
    if (!dark) {
      const double* const moments = from.from + cell + a_.first * from.stride;
      energy = max(P::load(moments), V(k_dark));
      const V inverse_c(1.0 / a_.matter.light.c);
      for (int d = 0; d < 3; ++d)
        f[d] = P::load(moments + (k_flux_x + d) * from.stride) * inverse_c;
    }
    const V inverse = V(1.0) / energy;
    Moments<V> reduced{{energy, f[0] * inverse, f[1] * inverse, f[2] * inverse}};
    limit_reduced_flux(reduced);
    const V square = min(square_of_flux(reduced), V(1.0));
    const V g = square_root(V(4.0) - V(3.0) * square);
    const V across = min(V(k_spreading) * (V(1.0) - square), V(1.0)), along = V(1.0) - across;
    P::store(to, energy);
    for (int d = 0; d < 3; ++d) {
      const V flux = reduced[k_flux_x + d];
      P::store(to + (k_flux_x + d) * Scratch<M>::stride, energy * flux);
      P::store(to + (k_speed + d) * Scratch<M>::stride, across + along * max(flux, -flux));
    }
    P::store(to + k_isotropic * Scratch<M>::stride, V(1.0 / 3.0) * (g - V(1.0)) * energy);
    P::store(to + k_beamed * Scratch<M>::stride, V(3.0) * inverse / (V(2.0) + g));
  }

  // Flux through the lower face of the cell at q.
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION Moments<double> flux_below(const double* q) const {
    return flux_through<Axis, double>(q);
  }

  // Writes the new moments of own cells.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void update_pack(std::int64_t offset, int stride, int i, int j,
                                               int k) const {
    using P = SimdTraits<V>;
    const double* const q = scratch_.cell(i, j, k);
    Moments<V> change = difference<0, V>(q);
    const Moments<V> y = difference<1, V>(q), z = difference<2, V>(q);
    const std::int64_t first = offset + static_cast<std::int64_t>(a_.first) * stride;
    const double* const from = a_.current.buffer[mesh::k_own] + first;
    double* const to = a_.next + first;
    const double ratio = a_.dt * a_.matter.light.reduced / a_.dx;
    Moments<V> u;
    for (int n = 0; n < k_moments; ++n)
      u[n] = P::load(from + n * stride) + V(ratio * unit_of(n)) * (change[n] + (y[n] + z[n]));
    const V most = V(a_.matter.light.c) * max(u[k_energy_density], V(0.0));
    const V square = square_of_flux(u);
    const auto exceeds = square > most * most;
    const V scale = select(exceeds, most / square_root(max(square, V(1e-300))), V(1.0));
    P::store(to, u[k_energy_density]);
    for (int n = k_flux_x; n < k_moments; ++n) P::store(to + n * stride, scale * u[n]);
  }

  // Photons act on no cell here: a process absorbs them.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void act_on_pack(std::int64_t /*offset*/, int /*stride*/) const {}

 private:
  // Fluxes through the lower faces along an axis of the cells at q less those through their upper
  // faces.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION static Moments<V> difference(const double* q) {
    const Moments<V> lower = flux_through<Axis, V>(q),
                     upper = flux_through<Axis, V>(q + Base::step_along(Axis));
    Moments<V> change;
    for (int n = 0; n < k_moments; ++n) change[n] = lower[n] - upper[n];
    return change;
  }

  // Flux through the lower faces along an axis of the cells at q, in units of the reduced speed of
  // light.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION static Moments<V> flux_through(const double* q) {
    using P = SimdTraits<V>;
    const auto load = [&](const double* cell, int n)
                          OCTANT_INLINE_LAMBDA { return P::load(cell + n * Scratch<M>::stride); };
    const double* const below = q - Base::step_along(Axis);
    const V along[2] = {load(below, k_flux_x + Axis), load(q, k_flux_x + Axis)};
    const V beamed[2] = {load(below, k_beamed) * along[0], load(q, k_beamed) * along[1]};
    const V speed = max(load(below, k_speed + Axis), load(q, k_speed + Axis));
    Moments<V> flux;
    flux[k_energy_density] =
        V(0.5) * ((along[0] + along[1]) -
                  speed * (load(q, k_energy_density) - load(below, k_energy_density)));
    for (int n = k_flux_x; n < k_moments; ++n) {
      const V left = load(below, n), right = load(q, n);
      V pressure = beamed[0] * left + beamed[1] * right;
      if (n == k_flux_x + Axis)
        pressure = pressure + (load(below, k_isotropic) + load(q, k_isotropic));
      flux[n] = V(0.5) * (pressure - speed * (right - left));
    }
    return flux;
  }
};

template <int M>
void step_tiles(const TransportStage& stage) {
  // Cost of a cell: 4 moments are read and written; closure, and six fluxes.
  const KernelCost cost{64.0, 230.0};
  mesh::for_tasks(
      {"photon transport", cost}, stage.tiles.count(),
      {.scratch = Scratch<M>::bytes(), .items = std::int64_t{M} * M * M},
      KOKKOS_LAMBDA(const mesh::TaskTeam& team) { PhotonStep<M>(stage, team).run(); });
}

}  // namespace

void advance_by_lax_friedrichs(const TransportStage& stage) {
  if (stage.tiles.patch == 8) step_tiles<8>(stage);
  else step_tiles<16>(stage);
}

}  // namespace octant::radiation
