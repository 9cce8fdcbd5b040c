#include "dns/forcing.hpp"

#include <span>

namespace octant::dns {

int kept_component(const FlowParameters& parameters) {
  return parameters.forcing == Forcing::bulk_velocity ? index_of(parameters.forcing_axis) : -1;
}

Vector body_force(const FlowParameters& parameters) {
  Vector force{};
  if (parameters.forcing == Forcing::pressure_gradient)
    force[index_of(parameters.forcing_axis)] = parameters.pressure_gradient;
  return force;
}

double missing_velocity(const Domain& domain, const FlowParameters& parameters,
                        ReproducibleSum& sum) {
  reproducible_sum(domain.pencils.communicator(), std::span(&sum, 1));
  const double cell = domain.grid.dx * domain.grid.dy;
  return parameters.bulk_velocity - sum.to_double() * cell / domain.grid.volume();
}

}  // namespace octant::dns
