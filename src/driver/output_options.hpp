// Section [output]: when a run writes, what of its state, and how.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "core/parameters.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// Of real numbers in snapshots. Checkpoints are exact.
enum class Precision { float64, float32 };
constexpr auto names_of(Precision) { return std::array{"double", "single"}; }

// A plane across an axis.
struct Plane {
  Axis axis;
  double position;

  // "z0.5", and the path "DIRECTORY/slice_z0.5_00012" of its slice without ending.
  std::string name() const;
  std::string stem(const std::string& directory, std::int64_t number) const;
};

// Intervals of 0 mean never, unless they say something else; the final state is always written.
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
  std::vector<std::string> fields;             // of snapshots and cut-outs; empty: all
  Precision precision = Precision::float64;
  Compression compression = Compression::none;  // of the same
  std::vector<std::string> slices;              // as "z = 0.5"
  int coarse_level = -1;                        // of coarse cut-outs; -1: none
  double cutout_interval = 0.0;                 // 0: one with every snapshot

  // The planes that `slices` names.
  std::vector<Plane> planes() const;
  bool has_cutouts() const { return !slices.empty() || coarse_level >= 0; }

  // Throws InputError unless all fields are among those that there are, and all planes between the
  // corners of the domain.
  void check(const std::vector<std::string>& known_fields, const std::array<double, 3>& lower,
             const std::array<double, 3>& upper) const;
};

// All but the formats, which depend on the model.
void declare(ParameterSchema& schema, OutputOptions& options);
// What means something only where there are levels.
void declare_levels(ParameterSchema& schema, OutputOptions& options);

}  // namespace octant::driver
