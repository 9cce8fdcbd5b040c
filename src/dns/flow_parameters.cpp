#include "dns/flow_parameters.hpp"

#include <fmt/format.h>

#include "core/parameters.hpp"

namespace octant::dns {

namespace {

void declare_boundaries(ParameterSchema& schema, FlowParameters& p) {
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    schema.add(fmt::format("dns.boundary_{}", name), p.boundary[axis],
               {.meaning = fmt::format(
                    "Boundary conditions on the lower and upper sides along {}: periodic, wall (no "
                    "slip), free_slip, inflow (prescribed velocity) or outflow (zero pressure)",
                    name)});
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      schema.add(
          fmt::format("dns.velocity_{}_{}", static_cast<char>('x' + axis),
                      side == 0 ? "lower" : "upper"),
          p.boundary_velocity[axis][side],
          {.unit = "velocity",
           .meaning = fmt::format("Velocity of the wall or of the inflow on the {} side along {}",
                                  side == 0 ? "lower" : "upper", static_cast<char>('x' + axis))});
}

}  // namespace

void declare(ParameterSchema& schema, GridOptions& o) {
  schema.add(
      "grid.cells", o.cells,
      {.unit = "cells", .meaning = "Number of cells along x, y, z", .min = 2, .max = 1 << 20});
  schema.add("grid.size", o.size,
             {.unit = "length",
              .meaning = "Extent of the domain along x, y, z; at most 1e7 times the smallest "
                         "spacing of faces",
              .above = 0.0});
  schema.add("grid.stretching", o.stretching,
             {.meaning = "Cell spacing along z: uniform, refined at both walls (tanh, cosine) or "
                         "at one (tanh_lower, tanh_upper), or read from a file"});
  schema.add("grid.stretching_factor", o.stretching_factor,
             {.meaning = "Strength of the tanh stretching; 0: uniform", .min = 0.0, .max = 20.0});
  schema.add("grid.stretching_file", o.stretching_file,
             {.meaning = "Text file with the ascending positions of all faces along z, cells + 1 "
                         "numbers, for grid.stretching = \"file\""});
}

void declare(ParameterSchema& schema, FlowParameters& p) {
  schema.add("dns.viscosity", p.viscosity,
             {.unit = "length^2 / time", .meaning = "Kinematic viscosity", .above = 0.0});
  schema.add("dns.diffusion", p.diffusion,
             {.meaning = "Time integration of diffusion: explicit, Crank-Nicolson along z "
                         "(implicit_z), or Crank-Nicolson along all axes (implicit)"});
  schema.add(
      "dns.poisson", p.poisson,
      {.meaning =
           "Parallel tridiagonal solver along z: full transpose (ftm; bitwise identical results on "
           "any process grid), or distributed cyclic reduction (ptdma; less communication)"});
  schema.add("dns.forcing", p.forcing,
             {.meaning = "Driving force of the flow: none, constant pressure gradient, or constant "
                         "bulk velocity"});
  schema.add(
      "dns.forcing_axis", p.forcing_axis,
      {.meaning = "Direction of the driving force; must be periodic", .choices = {"x", "y"}});
  schema.add("dns.pressure_gradient", p.pressure_gradient,
             {.unit = "velocity / time",
              .meaning = "Driving force per unit mass, -(dp/dx) / density, for dns.forcing = "
                         "\"pressure_gradient\""});
  schema.add(
      "dns.bulk_velocity", p.bulk_velocity,
      {.unit = "velocity",
       .meaning = "Bulk velocity along dns.forcing_axis, for dns.forcing = \"bulk_velocity\""});
  schema.add(
      "dns.schedule", p.schedule,
      {.meaning = "Schedule of a step: plane by plane in cache on CPU threads (planes), or kernels "
                  "over all planes, for GPUs (batches); auto: batches on GPUs, planes otherwise"});
  declare_boundaries(schema, p);
}

}  // namespace octant::dns
