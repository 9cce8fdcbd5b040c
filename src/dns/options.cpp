#include "dns/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/parameters.hpp"
#include "dns/stretching.hpp"

namespace octant::dns {

namespace {

// Names of each choice, in the order of its enumerators.
const std::vector<std::string> k_diffusions{"explicit", "implicit_z", "implicit"};
const std::vector<std::string> k_methods{"ftm", "ptdma"};
const std::vector<std::string> k_schedules{"auto", "planes", "batches"};
const std::vector<std::string> k_forcings{"none", "pressure_gradient", "bulk_velocity"};

template <class Choice>
Choice choice(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Choice>(std::find(names.begin(), names.end(), name) - names.begin());
}

void declare_boundaries(ParameterSchema& schema, FlowParameters& p) {
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    schema.add(fmt::format("dns.boundary_{}", name), p.boundary[axis],
               {.meaning = fmt::format("Boundaries below and above along {}", name),
                .choices = {"periodic", "wall", "free_slip", "inflow", "outflow"}});
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
             {.unit = "length", .meaning = "Extent of the domain along x, y, z", .above = 0.0});
  schema.add("grid.stretching", o.stretching,
             {.meaning = "Cells along z: all equal, small at both walls (tanh, cosine), small at "
                         "one (tanh_lower, tanh_upper), or with faces read from a file",
              .choices = stretching_names()});
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
             {.meaning = "Diffusion in time: explicit, Crank-Nicolson along z, or along all axes",
              .choices = k_diffusions});
  schema.add("dns.poisson", p.poisson,
             {.meaning = "Solver of lines along z on several ranks: full transpose (same bits on "
                         "any process grid), or distributed cyclic reduction (fewer bytes)",
              .choices = k_methods});
  schema.add("dns.forcing", p.forcing,
             {.meaning = "What drives the flow: nothing, a constant pressure gradient, or whatever "
                         "keeps the mean velocity constant",
              .choices = k_forcings});
  schema.add("dns.forcing_axis", p.forcing_axis,
             {.meaning = "The periodic axis of the forcing", .choices = {"x", "y"}});
  schema.add("dns.pressure_gradient", p.pressure_gradient,
             {.unit = "velocity / time", .meaning = "Force per mass, -dp/dx / density"});
  schema.add("dns.bulk_velocity", p.bulk_velocity,
             {.unit = "velocity", .meaning = "Mean velocity along the axis of the forcing"});
  schema.add("dns.schedule", p.schedule,
             {.meaning = "Order of a step's work: plane by plane in cache on host threads, or all "
                         "planes at once, for one rank with a GPU; auto: batches where there is a "
                         "GPU and one rank",
              .choices = k_schedules});
  declare_boundaries(schema, p);
}

Diffusion FlowParameters::diffusion_kind() const {
  return choice<Diffusion>(k_diffusions, diffusion);
}

pencil::TridiagonalMethod FlowParameters::tridiagonal_method() const {
  return choice<pencil::TridiagonalMethod>(k_methods, poisson);
}

ScheduleKind FlowParameters::schedule_kind() const {
  return choice<ScheduleKind>(k_schedules, schedule);
}

Forcing FlowParameters::forcing_kind() const { return choice<Forcing>(k_forcings, forcing); }

}  // namespace octant::dns
