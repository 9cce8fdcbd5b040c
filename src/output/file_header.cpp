#include "output/file_header.hpp"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/log.hpp"
#include "core/parameter_input.hpp"
#include "core/version.hpp"
#include "io/expectations.hpp"

namespace octant {

namespace {

constexpr std::int64_t k_format_version = 1;

std::string text(const Hdf5Reader& file, const char* name) {
  return file.attribute<std::string>("/header", name);
}

std::string kind_of(const Hdf5Reader& file) {
  if (!file.exists("/header") || !file.has_attribute("/header", "kind"))
    throw InputError(
        "{}: not an Octant snapshot or checkpoint: it has no /header with the attribute kind",
        file.path());
  return text(file, "kind");
}

const char* state_of_checksums(const Hdf5Reader& file) {
  if (file.has_checksums()) return "with checksums; --verify checks the whole file";
  if (file.lost_checksums())
    return "without its checksums: the file was modified after it was written";
  return "without checksums";
}

}  // namespace

void write_file_header(Hdf5Writer& file, const FileOrigin& origin) {
  file.group("/header");
  const auto put = [&](const char* name, const AttributeValue& value) {
    file.attribute("/header", name, value);
  };
  put("kind", origin.kind);
  put("format_version", k_format_version);
  put("model", origin.model);
  put("problem", origin.problem);
  put("time", origin.time);
  put("step", origin.step);
  put("unit_length", origin.units.length);
  put("unit_mass", origin.units.mass);
  put("unit_time", origin.units.time);
  put("parameters", origin.parameters);
  if (!origin.data_files.empty()) put("data_files", origin.data_files);
  put("version", std::string(k_version));
  put("git_revision", std::string(k_git_revision));
}

void add_progress(Attributes& attributes, const OutputProgress& progress) {
  attributes.set("next_snapshot", progress.next_snapshot);
  attributes.set("next_checkpoint", progress.next_checkpoint);
  attributes.set("last_snapshot_time", progress.last_snapshot_time);
  attributes.set("next_cutout", progress.next_cutout);
  attributes.set("last_cutout_time", progress.last_cutout_time);
}

OutputProgress read_progress(const Hdf5Reader& file) {
  OutputProgress progress{
      .next_snapshot = count_attribute(file, "/header", "next_snapshot"),
      .next_checkpoint = count_attribute(file, "/header", "next_checkpoint"),
      .last_snapshot_time = finite_attribute(file, "/header", "last_snapshot_time")};
  // Files from versions before cut-outs lack this attribute.
  if (file.has_attribute("/header", "next_cutout")) {
    progress.next_cutout = count_attribute(file, "/header", "next_cutout");
    progress.last_cutout_time = finite_attribute(file, "/header", "last_cutout_time");
  }
  return progress;
}

std::string checksums_of_data_files(const ParameterSchema& schema, InputFiles& files) {
  std::string text;
  const auto add = [&](const std::string& parameter, const std::string& path) {
    if (const auto checksum = files.checksum(path))
      text += fmt::format("{} = \"{}\"\n", parameter, *checksum);
  };
  for (const Parameter& parameter : schema.parameters()) {
    if (!parameter.info.is_data_file) continue;
    if (const auto* path = std::get_if<std::string*>(&parameter.field)) add(parameter.name, **path);
    if (const auto* paths = std::get_if<std::vector<std::string>*>(&parameter.field))
      for (const std::string& definition : **paths) {
        const auto [name, path] = split_definition(parameter.name, definition);
        add(fmt::format("{}.{}", parameter.name, name), path);
      }
  }
  return text;
}

namespace {

// Names of the parameters of data files in two texts of checksums_of_data_files().
std::set<std::string> names_in_both(const std::string& stored, const std::string& given) {
  const ParameterInput before = ParameterInput::from_text(stored, "data_files", {});
  const ParameterInput now = ParameterInput::from_text(given, "data_files", {});
  std::set<std::string> names;
  for (const GivenValue& file : now.values())
    if (before.find(file.name) != nullptr) names.insert(file.name);
  return names;
}

// Throws InputError if a data file of the run has other contents than when the checkpoint was
// written. Checkpoints of earlier versions lack the checksums.
void require_same_data_files(const Hdf5Reader& file, const std::string& data_files) {
  if (!file.has_attribute("/header", "data_files")) return;
  for (const auto& [name, before, now] :
       parameter_differences(text(file, "data_files"), file.path(), data_files))
    throw InputError(
        "{}: the contents of the file of {} have changed since the checkpoint was written "
        "(checksum {}, now {}); restore the file, or start a new run",
        file.path(), name, before, now);
}

}  // namespace

void require_checkpoint(const Hdf5Reader& file, const std::string& parameters,
                        const std::string& data_files) {
  const std::string kind = kind_of(file);
  if (kind != "checkpoint")
    throw InputError("{}: a run cannot restart from a {}; expected a checkpoint_*.h5", file.path(),
                     kind);
  require_same(file.path(), "format_version",
               file.attribute<std::int64_t>("/header", "format_version"), k_format_version);
  file.require_unchanged();
  if (!file.has_checksums())
    log::warn("{} has no checksums: the integrity of the file cannot be verified", file.path());
  const bool has_files = file.has_attribute("/header", "data_files");
  require_same_run(file.path(), stored_parameters(file), parameters,
                   names_in_both(has_files ? text(file, "data_files") : "", data_files));
  require_same_data_files(file, data_files);
}

std::string describe_origin(const Hdf5Reader& file) {
  return fmt::format("{}: {} of problem \"{}\", step {}, time {}, written by Octant {} ({})\n{}\n",
                     file.path(), kind_of(file), text(file, "problem"),
                     file.attribute<std::int64_t>("/header", "step"),
                     file.attribute<double>("/header", "time"), text(file, "version"),
                     text(file, "git_revision"), state_of_checksums(file));
}

std::string stored_parameters(const Hdf5Reader& file) { return text(file, "parameters"); }

namespace {

// Parameters that may change at a restart. A name that ends in a dot stands for its whole section.
constexpr std::string_view k_may_change[] = {
    // execution and output
    "balance.", "comm.", "debug.", "execution.", "output.", "run.", "telemetry.",
    "statistics.interval", "statistics.start", "cosmology.snapshots", "grid.process_grid",
    "grid.transpose", "events.method",
    // duration and resolution
    "time.", "cosmology.end", "cosmology.largest_growth", "refine.", "mesh.max_level",
    // numerical method
    "hydro.scheme", "hydro.reconstruction", "hydro.limiter", "hydro.riemann", "hydro.density_floor",
    "hydro.pressure_floor", "hydro.dual_energy_threshold", "hydro.eos_table_tolerance",
    "gravity.base", "gravity.gradient_order", "gravity.laplacian", "gravity.max_cycles",
    "gravity.solver", "gravity.tolerance", "gravity.theta", "gravity.transfer", "dns.diffusion",
    "dns.poisson", "dns.schedule", "dns.pencil_axis",
    // drive of binary stars, until mass transfer begins
    "braking.end",
    // files used for the initial state only
    "initial.path", "initial.table", "problem.path", "problem.particle_table",
    // files whose contents are compared with the checkpoint, or with the parameters
    "grid.stretching_file", "problem.model_file"};

bool may_change(std::string_view name) {
  return std::any_of(std::begin(k_may_change), std::end(k_may_change), [&](std::string_view free) {
    return free.ends_with('.') ? name.starts_with(free) : name == free;
  });
}

}  // namespace

void require_same_run(const std::string& path, const std::string& stored, const std::string& given,
                      const std::set<std::string>& data_files) {
  std::vector<std::string> forbidden, changed;
  bool other_grid = false;
  for (const auto& [name, before, now] : parameter_differences(stored, path, given)) {
    const bool is_free = may_change(name) || data_files.contains(name);
    auto& list = is_free ? changed : forbidden;
    other_grid |= !is_free && name.starts_with("grid.");
    list.push_back(fmt::format("{} = {}, but this run has {}", name, before, now));
  }
  if (!forbidden.empty())
    throw InputError(
        "{}: the checkpoint was written with {}; use the same parameters as the run that wrote it "
        "(octant info prints them), or start a new one{}",
        path, fmt::join(forbidden, "; "),
        other_grid
            ? " with problem.name = \"stored_flow\", which interpolates the flow of a snapshot "
              "to another grid"
            : "");
  for (const std::string& line : changed) log::info("the checkpoint was written with {}", line);
}

}  // namespace octant
