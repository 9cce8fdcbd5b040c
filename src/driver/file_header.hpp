// What the headers of all snapshots and checkpoints have in common, of either model.
#pragma once

#include <string>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "driver/contents.hpp"
#include "driver/run.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// Creates /header with these attributes, the version of the format and the program's.
void write_file_header(Hdf5Writer& file, const FileOrigin& origin);

// The outputs of the run so far: part of a checkpoint.
void add_progress(Facts& facts, const OutputProgress& progress);
OutputProgress read_progress(const Hdf5Reader& file);

// Throws InputError unless the file is a checkpoint of the run that these parameters (as TOML)
// describe; see require_same_run.
void require_checkpoint(const Hdf5Reader& file, const std::string& parameters);

// Throws InputError unless the checkpoint `path` says the same of `what` as the run's parameters.
template <class T>
void require_same(const std::string& path, const char* what, const T& found, const T& expected) {
  if (found == expected) return;
  throw InputError(
      "{}: the checkpoint was written with {} = {}, but this run has {}; use the parameters of the "
      "run that wrote it",
      path, what, found, expected);
}

// The first lines of what `octant info` says: path, kind, problem, step, time, program; whether the
// file holds checksums. Throws InputError if the file is none of Octant's.
std::string describe_origin(const Hdf5Reader& file);

// The parameters of the run that wrote the file, as text.
std::string stored_parameters(const Hdf5Reader& file);

}  // namespace octant::driver
