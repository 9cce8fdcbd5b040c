// Common header of all snapshots and checkpoints of both models.
#pragma once

#include <set>
#include <string>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "io/hdf5_file.hpp"
#include "io/input_files.hpp"
#include "output/contents.hpp"
#include "output/output_options.hpp"

namespace octant {

// Attribute of a checkpoint's header with the names of particle kinds that came from a RAMSES
// output.
inline constexpr const char* k_further_kinds = "further_kinds";

// Creates /header with these attributes and the versions of format and program.
void write_file_header(Hdf5Writer& file, const FileOrigin& origin);

// Adds the progress of outputs, part of a checkpoint.
void add_progress(Attributes& attributes, const OutputProgress& progress);
// Reads the progress from a checkpoint's header. Throws InputError.
OutputProgress read_progress(const Hdf5Reader& file);

// Returns the checksums of the data files that the parameters name (ParameterInfo::is_data_file)
// as TOML: hydro.eos_table = "1a2b3c4d, 2048 bytes". Files that cannot be read are left out,
// because their readers report them.
std::string checksums_of_data_files(const ParameterSchema& schema, InputFiles& files);

// Throws InputError unless the file is a checkpoint of the run with these parameters and checksums
// of data files, both as TOML; see require_same_run().
void require_checkpoint(const Hdf5Reader& file, const std::string& parameters,
                        const std::string& data_files);

// Throws InputError unless the value of `what` in the checkpoint `path` equals that of the run's
// parameters.
template <class T>
void require_same(const std::string& path, const char* what, const T& found, const T& expected) {
  if (found == expected) return;
  throw InputError(
      "{}: the checkpoint was written with {} = {}, but this run has {}; use the same parameters "
      "as the run that wrote it",
      path, what, found, expected);
}

// First lines of `octant info`: path, kind, problem, step, time, program; presence of checksums.
// Throws InputError if the file was not written by Octant.
std::string describe_origin(const Hdf5Reader& file);

// Returns the parameters of the run that wrote the file, as text.
std::string stored_parameters(const Hdf5Reader& file);

// Compares the parameters that wrote the checkpoint `path` with those of this run, both as TOML.
// Parameters of numerical method, execution, duration and output may differ, and are logged, as may
// the paths of `data_files`, parameters whose files are compared by their checksums. Throws
// InputError with the names of all others that differ, because they define the state.
void require_same_run(const std::string& path, const std::string& stored, const std::string& given,
                      const std::set<std::string>& data_files = {});

}  // namespace octant
