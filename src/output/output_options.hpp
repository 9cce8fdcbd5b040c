// Section [output]: times, contents and formats of outputs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "core/parameters.hpp"
#include "io/hdf5_file.hpp"

namespace octant {

// Precision of real numbers in snapshots. Checkpoints are exact.
enum class Precision { float64, float32 };
// Names of the values in output.precision.
constexpr auto names_of(Precision) { return std::array{"double", "single"}; }

// Plane perpendicular to an axis.
struct Plane {
  Axis axis;
  double position;

  // Returns "z0.5", as in the path "DIRECTORY/slice_z0.5_00012" of its slice without extension.
  std::string name() const;
  // Path of a slice without extension.
  std::string stem(const std::string& directory, std::int64_t number) const;
};

// Intervals of 0 disable an output unless stated otherwise; the final state is always written.
struct OutputOptions {
  std::string directory = "output";
  double snapshot_interval = 0.0;
  std::vector<double> snapshot_times;
  double checkpoint_interval = 0.0;
  int checkpoint_keep = 2;
  bool final_checkpoint = true;
  int history_interval = 1;
  std::vector<std::string> pictures;
  std::vector<std::string> formats{"octant"};  // names of Formats
  std::vector<std::string> fields;             // fields in snapshots and cut-outs; empty: all
  Precision precision = Precision::float64;
  Compression compression = Compression::none;  // compression of snapshots and cut-outs
  std::vector<std::string> slices;              // as "z = 0.5"
  int coarse_level = -1;                        // of coarsened snapshots; -1: none
  double cutout_interval = 0.0;                 // 0: with every snapshot

  // Planes named in `slices`.
  std::vector<Plane> planes() const;
  // True if slices or coarsened snapshots are requested.
  bool has_cutouts() const { return !slices.empty() || coarse_level >= 0; }

  // Throws InputError unless all fields are known, and all planes lie within the domain.
  void check(const std::vector<std::string>& known_fields, const std::array<double, 3>& lower,
             const std::array<double, 3>& upper) const;
};

// Progress of a run's outputs; part of a checkpoint.
struct OutputProgress {
  std::int64_t next_snapshot = 0, next_checkpoint = 0;  // numbers of the next files
  double last_snapshot_time = 0.0;
  std::int64_t next_cutout = 0;
  double last_cutout_time = 0.0;
};

// Declares all parameters except the formats, which depend on the model.
void declare(ParameterSchema& schema, OutputOptions& options);
// Declares parameters that require an adaptive mesh.
void declare_levels(ParameterSchema& schema, OutputOptions& options);

}  // namespace octant
