#include "driver/dns_snapshot.hpp"

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "dns/field_file.hpp"
#include "driver/file_header.hpp"
#include "io/hdf5_file.hpp"

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
                           .model = options.model,
                           .problem = options.problem_name,
                           .time = simulation.time(),
                           .step = simulation.step_count(),
                           .units = {},
                           .parameters = options.resolved()});
  file.attribute("/header", "cells", cells_of(simulation));
  file.attribute("/header", "box_size", std::vector<double>(grid.size.begin(), grid.size.end()));
  file.attribute("/header", "viscosity", options.flow.viscosity);
}

void write_grid(Hdf5Writer& file, const DnsSimulation& simulation) {
  const dns::Grid& grid = simulation.domain().grid;
  const Communicator& communicator = simulation.communicator();
  const auto put = [&](char axis, bool face, int cells, const auto& position) {
    std::vector<double> values;
    for (int n = 0; n < cells; ++n) values.push_back(position(n));
    const RowRange rows = communicator.is_root() ? RowRange{0, cells} : RowRange{cells, 0};
    if (!communicator.is_root()) values.clear();
    file.dataset(
        fmt::format("/grid/{}{}", axis, face ? "_face" : ""), rows, {},
        std::span<const double>(values),
        {"length", face ? "position of the cells' upper faces" : "position of the cells' centres"});
  };
  put('x', false, grid.cells[0], [&](int i) { return (i + 0.5) * grid.dx; });
  put('x', true, grid.cells[0], [&](int i) { return (i + 1) * grid.dx; });
  put('y', false, grid.cells[1], [&](int j) { return (j + 0.5) * grid.dy; });
  put('y', true, grid.cells[1], [&](int j) { return (j + 1) * grid.dy; });
  put('z', false, grid.cells[2], [&](int k) { return grid.centre[k]; });
  put('z', true, grid.cells[2], [&](int k) { return grid.face[k]; });
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
  require_checkpoint(file, simulation.options().model, simulation.options().problem_name);
  require_same(path, "grid.cells", file.attribute<std::vector<std::int64_t>>("/header", "cells"),
               cells_of(simulation));
  const dns::Grid& grid = simulation.domain().grid;
  require_same(path, "grid.size", file.attribute<std::vector<double>>("/header", "box_size"),
               std::vector<double>(grid.size.begin(), grid.size.end()));
  const auto faces = file.read<double>("/grid/z_face", {0, grid.cells[2]});
  for (int k = 0; k < grid.cells[2]; ++k)
    if (faces[k] != grid.face[k])
      throw InputError(
          "{}: its cells along z are other ones: face {} is at {}, and at {} in this run; use the "
          "grid.stretching of the run that wrote it",
          path, k, faces[k], grid.face[k]);
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
  simulation.flow().set_mean_force(file.attribute<double>("/header", "mean_force"));
  simulation.resume(file.attribute<double>("/header", "time"),
                    file.attribute<std::int64_t>("/header", "step"),
                    file.attribute<double>("/header", "step_limit"));
  return read_progress(file);
}

std::string describe_dns_snapshot(const Hdf5Reader& file) {
  std::string out = describe_origin(file);
  const auto cells = file.attribute<std::vector<std::int64_t>>("/header", "cells");
  const auto size = file.attribute<std::vector<double>>("/header", "box_size");
  out += fmt::format("{} x {} x {} cells in {} x {} x {}, viscosity {}\nfields:", cells[0],
                     cells[1], cells[2], size[0], size[1], size[2],
                     file.attribute<double>("/header", "viscosity"));
  for (const auto& name : file.children("/fields")) out += " " + name;
  return out + "\n\n" + stored_parameters(file);
}

}  // namespace octant::driver
