// Base class of file formats, which write contents (contents.hpp) to files.
//
// A new format needs one file, from the class to make_mesh_format() or make_grid_format(), and its
// name in a list of formats.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::mesh {
class Geometry;
}

namespace octant {

struct MeshContents;
struct GridContents;

// Format for the contents of one model.
template <class Contents>
class Format {
 public:
  virtual ~Format() = default;

  // Name in output.formats, and of the section of its parameters.
  virtual std::string name() const = 0;
  // Declares the parameters of the format; this object must outlive all reads of the schema.
  virtual void declare(ParameterSchema& /*schema*/) {}

  // Throws InputError with the parameters if it does not support a mesh with these fields.
  virtual void check(const mesh::Geometry& /*geometry*/,
                     const std::vector<std::string>& /*fields*/) const {}

  // Writes a file or folder atomically and returns its path: `stem` ("DIR/snap_00012") with an
  // extension. Needs memory for a bounded part of this rank's data at a time. Throws RunError on
  // every rank on failure. Collective.
  virtual std::string write(const Contents& contents, const std::string& stem) const = 0;
};

using MeshFormat = Format<MeshContents>;
using GridFormat = Format<GridContents>;

template <class Contents>
using Formats = std::vector<std::unique_ptr<Format<Contents>>>;

// Creates a format. Defined by each format: template <> std::unique_ptr<MeshFormat>
// make_mesh_format<Silo>(). The result is null for a format of an optional component that is not
// built.
template <class Kind>
std::unique_ptr<MeshFormat> make_mesh_format();
// Creates a format for incompressible flows, in the same way.
template <class Kind>
std::unique_ptr<GridFormat> make_grid_format();

// Creates all available formats for an adaptive mesh.
Formats<MeshContents> make_mesh_formats();
// Creates all available formats for incompressible flows.
Formats<GridContents> make_grid_formats();

// Declares output.formats, whose values are stored in `wanted`, and the parameters of each format.
template <class Contents>
void declare(ParameterSchema& schema, const Formats<Contents>& formats,
             std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const auto& format : formats) names.push_back(format->name());
  schema.add("output.formats", wanted, {.meaning = "File formats of snapshots", .choices = names});
  for (const auto& format : formats) format->declare(schema);
}

// Writes contents in the formats of `wanted`, and returns the paths. Collective.
template <class Contents>
std::vector<std::string> write_in_formats(const Formats<Contents>& formats,
                                          const std::vector<std::string>& wanted,
                                          const Contents& contents, const std::string& stem) {
  std::vector<std::string> paths;
  for (const auto& format : formats)
    if (std::find(wanted.begin(), wanted.end(), format->name()) != wanted.end())
      paths.push_back(format->write(contents, stem));
  return paths;
}

}  // namespace octant
