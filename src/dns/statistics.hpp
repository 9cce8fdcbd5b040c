// Statistics of a flow during a run: means over x, y and time of velocities, their products up to
// fourth order, vorticity, dissipation and transport, in every plane, and spectra along x and y.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"
#include "pencil/fft.hpp"
#include "pencil/transpose.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::dns {

// One-dimensional spectra of the velocity components along grid lines in x and y. The sum of a
// line's spectrum over the wavenumbers 0 .. n/2 is the mean square of the values.
class Spectra {
 public:
  // Prepares the transforms; nothing is sampled if `on` is false. Collective.
  Spectra(const Domain& domain, bool on);

  // Adds the present state. Collective.
  void sample(const State& state);

  // Writes the means over `samples` samples to a group, and the two-point correlations, which are
  // the cosine transforms of the spectra. The squares of the mean velocities, mean_velocity
  // [component][k], are subtracted. Collective.
  void write(Hdf5Writer& file, const std::string& group, std::int64_t samples,
             const std::vector<std::vector<double>>& mean_velocity) const;

  // Writes the sums to a checkpoint. Collective.
  void store(Hdf5Writer& file) const;
  // Reads the sums from a checkpoint. Collective.
  void restore(const Hdf5Reader& file);

 private:
  // Spectra along one axis.
  struct Axis {
    int length = 0;
    std::optional<pencil::RowFourier> transform;
    std::vector<double> sums;  // [component][plane of this rank][wavenumber]
    int waves() const { return length / 2 + 1; }
  };
  void add_lines(Axis& axis, int component, int k, const double* lines, int count,
                 std::ptrdiff_t stride);
  std::string dataset(int axis) const;

  const Domain& domain_;
  Axis axes_[2];
  std::optional<pencil::Transpose> to_y_;
  std::vector<double> x_plane_, y_plane_;
  std::vector<double> modes_;  // Fourier modes of several lines
  std::vector<ReproducibleSum> plane_;
};

// Parameters `statistics.*`.
struct StatisticsOptions {
  int interval = 0;
  double start = 0.0;
  bool spectra = true;
};
// Declares the parameters statistics.*. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, StatisticsOptions& options);

// Averaged quantity, at the cell centres or the upper faces of planes, where its factors are
// defined or to which they are interpolated: see statistics.cpp.
struct Quantity {
  const char* name;
  bool on_face;
  const char* units;
  const char* description;
};

// Means of all quantities in all planes of the grid. Profiles on faces begin at the lower side.
class Means {
 public:
  explicit Means(std::vector<double> values);  // [k = -1 .. n - 1][quantity]
  double operator()(const char* name, int k) const;

 private:
  std::vector<double> values_;
};

// Writes one row per plane of cells: mean velocities, root mean squares, Reynolds stresses,
// skewness, flatness, vorticity, total shear stress, and the terms of the budget of turbulent
// kinetic energy. Values on faces are averaged to the centres. Collective.
void write_profiles(const Communicator& communicator, const Domain& domain, const Means& means,
                    double viscosity, const std::string& path);

// Accumulated statistics of a run.
class Statistics {
 public:
  // Prepares the sums. Collective.
  Statistics(const Domain& domain, const StatisticsOptions& options, double viscosity);

  // True if the parameters enable statistics.
  bool is_on() const { return options_.interval > 0; }
  // True if the state must be sampled after this step.
  bool is_due(std::int64_t step, double time) const;

  // Adds the present state, and the scalar unless it is null, with filled ghosts. Results do not
  // depend on the process grid. Collective.
  void sample(const State& state, const Field* scalar, double time);
  // Number of samples so far.
  std::int64_t samples() const { return samples_; }

  // Writes statistics.h5, with all means and spectra, and profiles.csv, with moments and the budget
  // of turbulent kinetic energy at cell centres. Does nothing before the first sample. Collective.
  void write(const std::string& directory) const;

  // Writes the sums to a checkpoint. Collective.
  void store(Hdf5Writer& file) const;
  // Reads the sums from a checkpoint. Collective.
  void restore(const Hdf5Reader& file);

 private:
  void sample_plane(const State& state, int k);
  void sample_scalar(const Field& scalar, const Field& w, int k);
  std::vector<double> gather_means() const;

  const Domain& domain_;
  StatisticsOptions options_;
  double viscosity_;
  std::int64_t samples_ = 0;
  double first_time_ = 0.0, last_time_ = 0.0;
  std::vector<double> sums_;           // sums of plane means, [k = -1 .. nz - 1][quantity]
  std::vector<ReproducibleSum> rows_;  // sums of the present sample, in the same order
  Spectra spectra_;
};

}  // namespace octant::dns
