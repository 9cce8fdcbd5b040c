#include "driver/dns_snapshot.hpp"

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "dns/field_file.hpp"
#include "driver/file_header.hpp"
#include "io/expectations.hpp"

namespace octant::driver {

namespace {

std::vector<std::int64_t> cells_of(const DnsSimulation& simulation) {
  const auto& cells = simulation.domain().grid.cells;
  return {cells.begin(), cells.end()};
}

void write_header(Hdf5Writer& file, const DnsSimulation& simulation, const char* kind) {
  const DnsOptions& options = simulation.options();
  const dns::Grid& grid = simulation.domain().grid;
  write_file_header(file, {.kind = kind,
                           .model = name_of(options.model),
                           .problem = options.problem_name,
                           .time = simulation.time(),
                           .step = simulation.step_count(),
                           .units = {},
                           .parameters = options.resolved()});
  file.attribute("/header", "cells", cells_of(simulation));
  file.attribute("/header", "box_size", std::vector<double>(grid.size.begin(), grid.size.end()));
  file.attribute("/header", "viscosity", options.flow.viscosity);
}

// The datasets of /grid and what they hold.
std::vector<std::pair<std::string, std::vector<double>>> grid_points(const dns::Grid& grid) {
  std::vector<std::pair<std::string, std::vector<double>>> points;
  const auto add = [&](const char* name, int cells, const auto& position) {
    std::vector<double> values;
    for (int n = 0; n < cells; ++n) values.push_back(position(n));
    points.emplace_back(fmt::format("/grid/{}", name), std::move(values));
  };
  add("x", grid.cells[0], [&](int i) { return (i + 0.5) * grid.dx; });
  add("x_face", grid.cells[0], [&](int i) { return (i + 1) * grid.dx; });
  add("y", grid.cells[1], [&](int j) { return (j + 0.5) * grid.dy; });
  add("y_face", grid.cells[1], [&](int j) { return (j + 1) * grid.dy; });
  add("z", grid.cells[2], [&](int k) { return grid.centre[k]; });
  add("z_face", grid.cells[2], [&](int k) { return grid.face[k]; });
  return points;
}

void write_grid(Hdf5Writer& file, const DnsSimulation& simulation) {
  const bool root = simulation.communicator().is_root();
  for (const auto& [name, values] : grid_points(simulation.domain().grid)) {
    const std::int64_t count = std::ssize(values);
    const bool face = name.ends_with("_face");
    file.dataset(
        name, root ? RowRange{0, count} : RowRange{count, 0}, {},
        root ? std::span<const double>(values) : std::span<const double>(),
        {"length", face ? "position of the cells' upper faces" : "position of the cells' centres"});
  }
}

// The grid of the file must be that of this run.
void check_grid(const Hdf5Reader& file, const dns::Grid& grid) {
  for (const auto& [name, values] : grid_points(grid)) {
    require_shape(file, name, {std::ssize(values)});
    const auto stored = file.read<double>(name, {0, std::ssize(values)});
    for (std::size_t n = 0; n < values.size(); ++n)
      if (stored[n] != values[n])
        throw InputError(
            "{}: its cells are other ones: {} has {} in row {}, and this run {}; use the "
            "grid.stretching of the run that wrote it",
            file.path(), name, stored[n], n, values[n]);
  }
}

void write_fields(Hdf5Writer& file, const DnsSimulation& simulation) {
  const dns::Domain& domain = simulation.domain();
  const dns::State& state = simulation.flow().state();
  dns::write_field(file, domain, "/fields/u", state.u,
                   {"length / time", "velocity along x, on the upper x faces"});
  dns::write_field(file, domain, "/fields/v", state.v,
                   {"length / time", "velocity along y, on the upper y faces"});
  dns::write_field(file, domain, "/fields/w", state.w,
                   {"length / time", "velocity along z, on the upper z faces"});
  dns::write_field(
      file, domain, "/fields/p", state.p,
      {"length^2 / time^2", "pressure over density, at the centres, up to a constant"});
  if (simulation.flow().has_scalar())
    dns::write_field(file, domain, "/fields/t", simulation.flow().scalar(),
                     {"scalar", "the scalar that the flow carries, at the centres"});
  dns::write_lower_faces(file, domain, state);
}

// One quantity of a snapshot as a rectilinear mesh of its own points.
std::string xdmf_grid(const DnsSimulation& simulation, const std::string& file, const char* name,
                      int face_axis) {
  const auto& cells = simulation.domain().grid.cells;
  std::string text = fmt::format(
      "      <Grid Name=\"{}\" GridType=\"Uniform\">\n"
      "        <Topology TopologyType=\"3DRectMesh\" Dimensions=\"{} {} {}\"/>\n"
      "        <Geometry GeometryType=\"VXVYVZ\">\n",
      name, cells[2], cells[1], cells[0]);
  for (int axis = 0; axis < 3; ++axis)
    text += fmt::format(
        "          <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" "
        "Format=\"HDF\">{}:/grid/{}{}</DataItem>\n",
        cells[axis], file, static_cast<char>('x' + axis), axis == face_axis ? "_face" : "");
  text += fmt::format(
      "        </Geometry>\n"
      "        <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Node\">\n"
      "          <DataItem Dimensions=\"{} {} {}\" NumberType=\"Float\" Precision=\"8\" "
      "Format=\"HDF\">{}:/fields/{}</DataItem>\n"
      "        </Attribute>\n"
      "      </Grid>\n",
      name, cells[2], cells[1], cells[0], file, name);
  return text;
}

void write_xdmf(const DnsSimulation& simulation, const std::string& path) {
  const std::filesystem::path snapshot(path);
  const std::string file = snapshot.filename().string();
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
      "    <Grid Name=\"flow\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
      "      <Time Value=\"{}\"/>\n",
      simulation.time());
  text += xdmf_grid(simulation, file, "u", 0) + xdmf_grid(simulation, file, "v", 1) +
          xdmf_grid(simulation, file, "w", 2) + xdmf_grid(simulation, file, "p", -1);
  if (simulation.flow().has_scalar()) text += xdmf_grid(simulation, file, "t", -1);
  text += "    </Grid>\n  </Domain>\n</Xdmf>\n";
  simulation.communicator().agree([&] {
    if (!simulation.communicator().is_root()) return;
    const std::string name = std::filesystem::path(snapshot).replace_extension(".xdmf").string();
    std::ofstream out(name);
    out << text;
    out.flush();
    if (!out) throw RunError("{}: cannot be written; check the space left", name);
  });
}

void check_header(const Hdf5Reader& file, const DnsSimulation& simulation) {
  const std::string& path = file.path();
  require_checkpoint(file, simulation.options().resolved());
  require_same(path, "grid.cells", file.attribute<std::vector<std::int64_t>>("/header", "cells"),
               cells_of(simulation));
  const dns::Grid& grid = simulation.domain().grid;
  require_same(path, "grid.size", file.attribute<std::vector<double>>("/header", "box_size"),
               std::vector<double>(grid.size.begin(), grid.size.end()));
  check_grid(file, grid);
}

}  // namespace

void write_dns_snapshot(const DnsSimulation& simulation, const std::string& path) {
  Hdf5Writer file(simulation.communicator(), path);
  write_header(file, simulation, "snapshot");
  write_grid(file, simulation);
  write_fields(file, simulation);
  file.commit();
  write_xdmf(simulation, path);
}

void write_dns_checkpoint(const DnsSimulation& simulation, const OutputProgress& progress,
                          const std::string& path) {
  Hdf5Writer file(simulation.communicator(), path);
  write_header(file, simulation, "checkpoint");
  write_progress(file, progress);
  file.attribute("/header", "mean_force", simulation.flow().mean_force());
  file.attribute("/header", "step_limit", simulation.step_limit());
  write_grid(file, simulation);
  write_fields(file, simulation);
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

}  // namespace octant::driver
