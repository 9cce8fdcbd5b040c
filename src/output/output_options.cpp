#include "output/output_options.hpp"

#include <algorithm>
#include <regex>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/units.hpp"

namespace octant {

namespace {

Plane plane_of(const std::string& text) {
  static const std::regex pattern(R"(\s*([xyz])\s*=([^=]+))");
  constexpr std::size_t k_longest = 200;  // limit, because std::regex recurses
  std::string reason;
  std::smatch parts;
  if (text.size() <= k_longest && std::regex_match(text, parts, pattern)) {
    try {
      return {*value_named<Axis>(parts[1].str()), number_of(parts[2], "", {})};
    } catch (const InputError& error) {
      reason = fmt::format(" ({})", error.what());
    }
  }
  throw InputError(
      "output.slices: \"{}\" is not a plane; expected an axis and a position in code units: \"z = "
      "0.5\"{}",
      printable(text), reason);
}

void check_field(const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string help = suggestion(name, known, "did you mean ");
  throw InputError("output.fields: this run has no field \"{}\"; {}expected {}", name,
                   help.empty() ? "" : help + "; ", fmt::join(known, ", "));
}

}  // namespace

std::string Plane::name() const { return fmt::format("{}{:g}", name_of(axis), position); }

std::string Plane::stem(const std::string& directory, std::int64_t number) const {
  return fmt::format("{}/slice_{}_{:05d}", directory, name(), number);
}

std::vector<Plane> OutputOptions::planes() const {
  std::vector<Plane> planes;
  for (const std::string& text : slices) planes.push_back(plane_of(text));
  return planes;
}

void OutputOptions::check(const std::vector<std::string>& known_fields,
                          const std::array<double, 3>& lower,
                          const std::array<double, 3>& upper) const {
  if (formats.empty())
    throw InputError("output.formats is empty: expected at least one, such as \"octant\"");
  require_different("output.formats", formats);
  for (const std::string& name : fields) check_field(name, known_fields);
  require_different("output.fields", fields);
  std::vector<std::string> names;
  for (const Plane& plane : planes()) {
    const int axis = index_of(plane.axis);
    if (!(plane.position >= lower[axis] && plane.position <= upper[axis]))
      throw InputError(
          "output.slices: {} = {} lies outside the domain, which extends from {} to {}",
          name_of(plane.axis), plane.position, lower[axis], upper[axis]);
    names.push_back(plane.name());
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      throw InputError("output.slices: two slices would have the same file name \"{}\"",
                       names.back());
  }
}

void declare(ParameterSchema& schema, OutputOptions& o) {
  schema.add("output.directory", o.directory, {.meaning = "Directory for all results of the run"});
  schema.add("output.snapshot_interval", o.snapshot_interval,
             {.unit = "time", .meaning = "Time between snapshots; 0: final state only", .min = 0});
  schema.add("output.snapshot_times", o.snapshot_times,
             {.unit = "time", .meaning = "Additional snapshot times", .min = 0});
  schema.add("output.checkpoint_interval", o.checkpoint_interval,
             {.unit = "s",
              .meaning = "Wall-clock time between checkpoints; 0: at the end of the run only",
              .min = 0});
  schema.add("output.checkpoint_keep", o.checkpoint_keep,
             {.meaning = "Number of checkpoints to keep; older ones are deleted", .min = 1});
  schema.add("output.final_checkpoint", o.final_checkpoint,
             {.meaning = "Checkpoint at the end of a completed run, from which --restart latest "
                         "continues to a later time.end"});
  schema.add("output.history_interval", o.history_interval,
             {.unit = "steps", .meaning = "Number of steps between rows of history.csv", .min = 1});
  schema.add("output.pictures", o.pictures,
             {.meaning = "Plotting commands of octools that ./octant runs on the output directory "
                         "after the run, such as \"plot --outlines\" or \"profile\""});
  schema.add(
      "output.fields", o.fields,
      {.meaning =
           "Names of the fields in snapshots, slices and coarsened snapshots; empty: all fields"});
  schema.add("output.precision", o.precision,
             {.meaning = "Floating-point precision of snapshots, slices and coarsened snapshots; "
                         "particle positions always have double precision"});
  schema.add("output.compression", o.compression,
             {.meaning = "Compression of datasets of at least 64 KiB in snapshots, slices and "
                         "coarsened snapshots; deflate reduces file size at the cost of time and "
                         "is readable by every HDF5 library"});
  schema.add("output.slices", o.slices,
             {.meaning = "Slice planes through the domain, each written to separate files, such as "
                         "[\"z = 0.5\", \"x = 0\"]"});
  schema.add(
      "output.cutout_interval", o.cutout_interval,
      {.unit = "time",
       .meaning =
           "Time between slices and between coarsened snapshots, which are written after the first "
           "step that reaches the output time (steps are not shortened); 0: with every snapshot",
       .min = 0});
}

void declare_levels(ParameterSchema& schema, OutputOptions& o) {
  schema.add("output.coarse_level", o.coarse_level,
             {.meaning = "Finest level of coarsened snapshots, in which finer cells are averaged; "
                         "-1: no coarsened snapshots",
              .min = -1});
}

}  // namespace octant
