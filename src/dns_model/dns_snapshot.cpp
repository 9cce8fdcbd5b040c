#include "dns_model/dns_simulation.hpp"

#include "core/error.hpp"
#include "dns/field_file.hpp"
#include "io/expectations.hpp"
#include "output/file_header.hpp"
#include "output/octant_format.hpp"
#include "run/commands.hpp"

namespace octant {

namespace {

std::vector<std::int64_t> cells_of(const DnsSimulation& simulation) {
  const auto& cells = simulation.domain().grid.cells;
  return {cells.begin(), cells.end()};
}

std::array<GridLine, 3> lines_of(const dns::Grid& grid) {
  std::array<GridLine, 3> lines;
  for (int axis = 0; axis < 3; ++axis) {
    lines[axis].centres = dns::centres(grid, axis);
    lines[axis].faces = dns::faces(grid, axis);
  }
  return lines;
}

GridContents all_contents(const DnsSimulation& simulation, const char* kind) {
  const DnsOptions& options = simulation.options();
  const dns::Flow& flow = simulation.flow();
  const dns::Grid& grid = simulation.domain().grid;
  GridContents contents{.communicator = simulation.communicator(),
                        .origin = {.kind = kind,
                                   .model = name_of(options.model),
                                   .problem = options.problem_name,
                                   .time = simulation.time(),
                                   .step = simulation.step_count(),
                                   .units = {},
                                   .parameters = options.resolved(),
                                   .data_files = options.data_files()},
                        .attributes = {},
                        .precision = Precision::float64,
                        .compression = Compression::none,
                        .lines = lines_of(grid),
                        .fields = dns::stored_fields(simulation.domain(), flow.state(),
                                                     flow.has_scalar() ? &flow.scalar() : nullptr)};
  contents.attributes.set("cells", cells_of(simulation));
  contents.attributes.set("box_size", std::vector<double>(grid.size.begin(), grid.size.end()));
  contents.attributes.set("viscosity", options.flow.viscosity);
  return contents;
}

void check_points(const Hdf5Reader& file, const std::string& name,
                  const std::vector<double>& values) {
  require_shape(file, name, {std::ssize(values)});
  const auto stored = file.read_on_root<double>(name);
  for (std::size_t n = 0; n < values.size(); ++n)
    if (stored[n] != values[n])
      throw InputError(
          "{}: the grid differs from that of this run: {} has {} in row {}, but this run has {}; "
          "set grid.stretching as in the run that wrote it, or start a new run with problem.name = "
          "\"stored_flow\", which interpolates",
          file.path(), name, stored[n], n, values[n]);
}

// Throws InputError unless the grid of the file equals that of this run.
void check_grid(const Hdf5Reader& file, const dns::Grid& grid) {
  const auto lines = lines_of(grid);
  for (int axis = 0; axis < 3; ++axis) {
    const std::string name = fmt::format("/grid/{}", static_cast<char>('x' + axis));
    check_points(file, name, lines[axis].centres);
    check_points(file, name + "_face", lines[axis].faces);
  }
}

void check_header(const Hdf5Reader& file, const DnsSimulation& simulation) {
  const std::string& path = file.path();
  const DnsOptions& options = simulation.options();
  require_checkpoint(file, options.resolved(), options.data_files());
  require_same(path, "grid.cells", file.attribute<std::vector<std::int64_t>>("/header", "cells"),
               cells_of(simulation));
  const dns::Grid& grid = simulation.domain().grid;
  require_same(path, "grid.size", file.attribute<std::vector<double>>("/header", "box_size"),
               std::vector<double>(grid.size.begin(), grid.size.end()));
  check_grid(file, grid);
}

}  // namespace

GridContents dns_snapshot_contents(const DnsSimulation& simulation) {
  const OutputOptions& output = simulation.options().output;
  GridContents contents = all_contents(simulation, "snapshot");
  contents.precision = output.precision;
  contents.compression = output.compression;
  select_fields(contents, output.fields);
  return contents;
}

void write_dns_checkpoint(const DnsSimulation& simulation, const OutputProgress& progress,
                          const std::string& stem) {
  GridContents contents = all_contents(simulation, "checkpoint");
  add_progress(contents.attributes, progress);
  contents.attributes.set("mean_force", simulation.flow().mean_force());
  contents.attributes.set("step_limit", simulation.step_limit());
  contents.attributes.set("damped_steps", std::int64_t{simulation.flow().damped_steps()});
  Hdf5Writer file(simulation.communicator(), stem + ".h5");
  write_contents(file, contents);
  simulation.statistics().store(file);
  file.commit();
}

OutputProgress read_dns_checkpoint(DnsSimulation& simulation, const std::string& path) {
  const Hdf5Reader file(simulation.communicator(), path);
  check_header(file, simulation);
  const dns::Domain& domain = simulation.domain();
  dns::State& state = simulation.flow().state();
  dns::read_field(file, domain, "/fields/u", state.u);
  dns::read_field(file, domain, "/fields/v", state.v);
  dns::read_field(file, domain, "/fields/w", state.w);
  dns::read_field(file, domain, "/fields/p", state.p);
  dns::read_lower_faces(file, domain, state);
  if (simulation.flow().has_scalar())
    dns::read_field(file, domain, "/fields/t", simulation.flow().scalar());
  simulation.statistics().restore(file);
  simulation.flow().set_mean_force(finite_attribute(file, "/header", "mean_force"));
  // Checkpoints of earlier versions do not contain the number of damped steps.
  simulation.flow().set_damped_steps(
      file.has_attribute("/header", "damped_steps")
          ? static_cast<int>(count_attribute(file, "/header", "damped_steps"))
          : 0);
  simulation.resume(finite_attribute(file, "/header", "time"),
                    count_attribute(file, "/header", "step"),
                    finite_attribute(file, "/header", "step_limit"));
  return read_progress(file);
}

std::string describe_dns_snapshot(const Hdf5Reader& file) {
  std::string out = describe_origin(file);
  const auto cells = count_attributes(file, "/header", "cells", 3);
  const auto size = finite_attributes(file, "/header", "box_size", 3);
  out += fmt::format("{} x {} x {} cells in {} x {} x {}, viscosity {}\nfields:", cells[0],
                     cells[1], cells[2], size[0], size[1], size[2],
                     file.attribute<double>("/header", "viscosity"));
  for (const auto& name : file.children("/fields")) out += " " + name;
  return out + "\n\n" + stored_parameters(file);
}

}  // namespace octant
