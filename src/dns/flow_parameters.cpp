#include "dns/flow_parameters.hpp"

#include <fmt/format.h>

#include "core/parameters.hpp"

namespace octant::dns {

namespace {

void declare_boundaries(ParameterSchema& schema, FlowParameters& p) {
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    schema.add(fmt::format("dns.boundary_{}", name), p.boundary[axis],
               {.meaning = fmt::format("Boundaries below and above along {}", name)});
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      schema.add(
          fmt::format("dns.velocity_{}_{}", static_cast<char>('x' + axis),
                      side == 0 ? "lower" : "upper"),
          p.boundary_velocity[axis][side],
          {.unit = "velocity",
           .meaning = "Velocity of the wall, or of the fluid that enters, at this boundary"});
}

}  // namespace

void declare(ParameterSchema& schema, GridOptions& o) {
  schema.add("grid.cells", o.cells,
             {.unit = "cells", .meaning = "Cells along x, y, z", .min = 2, .max = 1 << 20});
  schema.add("grid.size", o.size,
             {.unit = "length",
              .meaning = "Extent of the domain along x, y, z; at most 1e7 times the smallest "
                         "spacing of faces",
              .above = 0.0});
  schema.add("grid.stretching", o.stretching,
             {.meaning = "Cells along z: all equal, small at both walls (tanh, cosine), small at "
                         "one (tanh_lower, tanh_upper), or with faces read from a file"});
  schema.add("grid.stretching_factor", o.stretching_factor,
             {.meaning = "Strength of the tanh mappings; 0 is uniform", .min = 0.0, .max = 20.0});
  schema.add("grid.stretching_file", o.stretching_file,
             {.meaning = "Text file with the ascending positions of all faces along z, cells + 1 "
                         "numbers, for grid.stretching = \"file\""});
}

void declare(ParameterSchema& schema, FlowParameters& p) {
  schema.add("dns.viscosity", p.viscosity,
             {.unit = "length^2 / time", .meaning = "Kinematic viscosity", .above = 0.0});
  schema.add("dns.diffusion", p.diffusion,
             {.meaning = "Diffusion in time: explicit, Crank-Nicolson along z, or along all axes"});
  schema.add("dns.poisson", p.poisson,
             {.meaning = "Solver of lines along z on several ranks: full transpose (same bits on "
                         "any process grid), or distributed cyclic reduction (fewer bytes)"});
  schema.add("dns.forcing", p.forcing,
             {.meaning = "What drives the flow: nothing, a constant pressure gradient, or whatever "
                         "keeps the mean velocity constant"});
  schema.add("dns.forcing_axis", p.forcing_axis,
             {.meaning = "The periodic axis of the forcing", .choices = {"x", "y"}});
  schema.add("dns.pressure_gradient", p.pressure_gradient,
             {.unit = "velocity / time", .meaning = "Force per mass, -dp/dx / density"});
  schema.add("dns.bulk_velocity", p.bulk_velocity,
             {.unit = "velocity", .meaning = "Mean velocity along the axis of the forcing"});
  schema.add("dns.schedule", p.schedule,
             {.meaning = "Order of a step's work: plane by plane in cache on host threads, or all "
                         "planes at once, in batches for a GPU; auto: batches where there is one"});
  declare_boundaries(schema, p);
}

}  // namespace octant::dns
