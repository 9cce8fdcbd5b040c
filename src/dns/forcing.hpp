// What drives a flow along dns.forcing_axis.
#pragma once

#include <span>

#include "comm/reproducible_sum.hpp"
#include "dns/domain.hpp"

namespace octant::dns {

// The component whose mean is kept, or -1.
inline int kept_component(const FlowParameters& parameters) {
  return parameters.forcing == Forcing::bulk_velocity ? index_of(parameters.forcing_axis) : -1;
}

// Force per mass of a constant pressure gradient.
inline Vector body_force(const FlowParameters& parameters) {
  Vector force{};
  if (parameters.forcing == Forcing::pressure_gradient)
    force[index_of(parameters.forcing_axis)] = parameters.pressure_gradient;
  return force;
}

// What the predicted velocity lacks everywhere to have the mean that dns.bulk_velocity asks for;
// `sum` is that of velocity times height of the cell over this rank's cells. Collective.
inline double missing_velocity(const Domain& domain, const FlowParameters& parameters,
                               ReproducibleSum& sum) {
  reproducible_sum(domain.pencils.communicator(), std::span(&sum, 1));
  const double cell = domain.grid.dx * domain.grid.dy;
  return parameters.bulk_velocity - sum.to_double() * cell / domain.grid.volume();
}

// Of implicit diffusion, one half is already in a predicted velocity; the other half sums up to the
// friction at the walls. Adds it to the sum for missing_velocity: factor = nu gamma / 2 with Crank
// and Nicolson's scheme, and 0 with backward Euler's, which follows where walls differ suddenly
// from the flow: the friction of the present flow is far from that of the new one then.
// sum_of_row(k, j) is that of a row of the forced component of the present velocity, for the rows
// on either side of walls along z, and along y where that is implicit.
template <class SumOfRow>
void add_wall_friction(const Domain& d, bool along_y, double factor, const SumOfRow& sum_of_row,
                       ReproducibleSum& sum) {
  const auto add = [&](double outside, double inside, double scale) {
    sum += factor * scale * (outside - inside);
  };
  const int ny = d.ny, nz = d.nz;
  if (d.ends(2, 0))
    for (int j = 0; j < ny; ++j) add(sum_of_row(-1, j), sum_of_row(0, j), 1.0 / d.dz_face[-1]);
  if (d.ends(2, 1))
    for (int j = 0; j < ny; ++j)
      add(sum_of_row(nz, j), sum_of_row(nz - 1, j), 1.0 / d.dz_face[nz - 1]);
  if (!along_y) return;
  const double dy2 = d.grid.dy * d.grid.dy;
  for (int k = 0; k < nz; ++k) {
    const double scale = d.dz_cell[k] / dy2;
    if (d.ends(1, 0)) add(sum_of_row(k, -1), sum_of_row(k, 0), scale);
    if (d.ends(1, 1)) add(sum_of_row(k, ny), sum_of_row(k, ny - 1), scale);
  }
}

}  // namespace octant::dns
