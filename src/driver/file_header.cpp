#include "driver/file_header.hpp"

#include "core/log.hpp"
#include "core/version.hpp"
#include "driver/restart_parameters.hpp"
#include "io/expectations.hpp"

namespace octant::driver {

namespace {

constexpr std::int64_t k_format_version = 1;

std::string text(const Hdf5Reader& file, const char* name) {
  return file.attribute<std::string>("/header", name);
}

std::string kind_of(const Hdf5Reader& file) {
  if (!file.exists("/header") || !file.has_attribute("/header", "kind"))
    throw InputError("{}: not a snapshot or checkpoint of Octant: it has no /header with a kind",
                     file.path());
  return text(file, "kind");
}

const char* state_of_checksums(const Hdf5Reader& file) {
  if (file.has_checksums()) return "with checksums, which --verify compares with all of the file";
  if (file.lost_checksums()) return "without its checksums: it was changed after it was written";
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
  put("version", std::string(k_version));
  put("git_revision", std::string(k_git_revision));
}

void add_progress(Facts& facts, const OutputProgress& progress) {
  facts.set("next_snapshot", progress.next_snapshot);
  facts.set("next_checkpoint", progress.next_checkpoint);
  facts.set("last_snapshot_time", progress.last_snapshot_time);
  facts.set("next_cutout", progress.next_cutout);
  facts.set("last_cutout_time", progress.last_cutout_time);
}

OutputProgress read_progress(const Hdf5Reader& file) {
  OutputProgress progress{
      .next_snapshot = count_attribute(file, "/header", "next_snapshot"),
      .next_checkpoint = count_attribute(file, "/header", "next_checkpoint"),
      .last_snapshot_time = finite_attribute(file, "/header", "last_snapshot_time")};
  // Files of before there were cut-outs do not say.
  if (file.has_attribute("/header", "next_cutout")) {
    progress.next_cutout = count_attribute(file, "/header", "next_cutout");
    progress.last_cutout_time = finite_attribute(file, "/header", "last_cutout_time");
  }
  return progress;
}

void require_checkpoint(const Hdf5Reader& file, const std::string& parameters) {
  const std::string kind = kind_of(file);
  if (kind != "checkpoint")
    throw InputError("{}: a run cannot restart from a {}; expected a checkpoint_*.h5", file.path(),
                     kind);
  require_same(file.path(), "format_version",
               file.attribute<std::int64_t>("/header", "format_version"), k_format_version);
  file.require_unchanged();
  if (!file.has_checksums())
    log::warn("{} has no checksums: its integrity cannot be verified", file.path());
  require_same_run(file.path(), stored_parameters(file), parameters);
}

std::string describe_origin(const Hdf5Reader& file) {
  return fmt::format("{}: {} of problem \"{}\", step {}, time {}, written by Octant {} ({})\n{}\n",
                     file.path(), kind_of(file), text(file, "problem"),
                     file.attribute<std::int64_t>("/header", "step"),
                     file.attribute<double>("/header", "time"), text(file, "version"),
                     text(file, "git_revision"), state_of_checksums(file));
}

std::string stored_parameters(const Hdf5Reader& file) { return text(file, "parameters"); }

}  // namespace octant::driver
