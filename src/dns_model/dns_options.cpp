#include "dns_model/dns_simulation.hpp"

#include "core/error.hpp"
#include "output/file_header.hpp"
#include "run/commands.hpp"

namespace octant {

namespace {

void declare(ParameterSchema& schema, FlowTimeOptions& o) {
  schema.add("time.end", o.end,
             {.unit = "time", .meaning = "Time at which the run ends", .min = 0});
  schema.add("time.max_steps", o.max_steps, {.meaning = "Maximum number of steps", .min = 0});
  schema.add("time.cfl", o.cfl,
             {.meaning = "Time step as a fraction of the linear stability limit",
              .max = 1.0,
              .above = 0.0});
  schema.add("time.step", o.step,
             {.unit = "time", .meaning = "Fixed time step; 0: set by time.cfl", .min = 0});
  schema.add("time.largest_step", o.largest_step,
             {.unit = "time",
              .meaning = "Maximum time step, used only if time.step = 0; 0: no limit",
              .min = 0});
}

}  // namespace

void DnsOptions::declare_all(ParameterSchema& schema) {
  schema.add(
      "model", model,
      {.meaning = "Solver family: amr (gas, gravity, particles) or dns (incompressible flow)"});
  schema.add("problem.name", problem_name,
             {.meaning = "Initial conditions",
              .choices = problems::flow_problem_names(),
              .required = true});
  schema.set_units({}, [] {
    UnitSystem none;
    none.why_no_code = "a DNS has no physical units; give a number in the units of the flow";
    return none;
  });
  dns::declare(schema, grid);
  pencil::declare(schema, pencil);
  dns::declare(schema, flow);
  dns::declare(schema, scalar);
  force->declare(schema);
  declare(schema, time);
  octant::declare(schema, comm);
  octant::declare(schema, output);
  octant::declare(schema, formats, output.formats);
  octant::declare(schema, run);
  telemetry::declare(schema, telemetry);
  octant::declare(schema, debug);
  dns::declare(schema, statistics);
  if (problem) problem->declare(schema);
}

DnsOptions DnsOptions::from_file(const std::string& path,
                                 const ParameterSchema::Overrides& overrides, InputFiles& files) {
  const std::string text = files.parameter_file(path);
  const TextReader read_text = files.reader();
  DnsOptions options;
  const auto name = ParameterSchema::peek_text(text, path, "problem.name", overrides);
  if (name) options.problem = problems::make_flow_problem(*name);
  ParameterSchema schema;
  options.declare_all(schema);
  schema.read_text(text, path, overrides);
  options.grid.read_stretching_file(read_text);
  const dns::Boundaries boundaries = options.make_boundaries();
  if (options.scalar.enabled) options.scalar.sides(boundaries);
  dns::in_batches(options.flow);  // refuses combinations of schedule and pencils
  const dns::Grid grid = options.make_grid();
  std::vector<std::string> fields{"u", "v", "w", "p"};
  if (options.scalar.enabled) fields.emplace_back("t");
  options.output.check(fields, {0.0, 0.0, 0.0}, grid.size);
  options.force->prepare(grid, options.flow.viscosity, read_text);
  if (options.problem) options.problem->prepare({grid, boundaries, options.flow, read_text});
  options.resolved_ = schema.resolved_toml();
  options.data_files_ = checksums_of_data_files(schema, files);
  return options;
}

std::vector<std::string> dns_sections() {
  DnsOptions options;
  ParameterSchema schema;
  options.declare_all(schema);
  return schema.sections();
}

std::string dns_manual(const std::string& section) {
  DnsOptions options;
  ParameterSchema schema;
  options.declare_all(schema);
  std::string text = section == "problem" ? "" : schema.markdown(section);
  if (!section.empty() && section != "problem") return text;
  for (const std::string& name : problems::flow_problem_names()) {
    ParameterSchema own;
    const auto problem = problems::make_flow_problem(name);
    problem->declare(own);
    text += fmt::format("\n## problem.name = \"{}\"\n\n{}", name, own.markdown("problem"));
  }
  return text;
}

}  // namespace octant
