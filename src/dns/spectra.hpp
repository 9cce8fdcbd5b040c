// Energy spectra of the velocity components along the periodic axes x and y, plane by plane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "dns/domain.hpp"
#include "io/hdf5_file.hpp"
#include "pencil/rows.hpp"
#include "pencil/transpose.hpp"

namespace octant::dns {

// The sum over the wave numbers 0 .. n/2 of a line's spectrum is the mean square of its values.
class Spectra {
 public:
  // `on`: whether anything is sampled at all. Collective.
  Spectra(const Domain& domain, bool on);

  // Adds the present state. Collective.
  void sample(const State& state);

  // Writes the means of so many samples below a group, with the two-point correlations, the
  // spectra's cosine transforms, from which the squares of the mean velocities are taken off.
  // mean_velocity: [component][k]. Collective.
  void write(Hdf5Writer& file, const std::string& group, std::int64_t samples,
             const std::vector<std::vector<double>>& mean_velocity) const;

  void store(Hdf5Writer& file) const;
  void restore(const Hdf5Reader& file);

 private:
  // Spectra along one axis.
  struct Axis {
    int length = 0;
    std::optional<pencil::RowFourier> transform;
    std::vector<double> sums;  // [component][plane of this rank][wave number]
    int waves() const { return length / 2 + 1; }
  };
  void add_lines(Axis& axis, int component, int k, const double* lines, int count,
                 std::ptrdiff_t stride);
  std::string dataset(int axis) const;

  const Domain& domain_;
  Axis axes_[2];
  std::optional<pencil::Transpose> to_y_;
  std::vector<double> x_plane_, y_plane_;
  std::vector<double> modes_;  // of some lines
  std::vector<ReproducibleSum> plane_;
};

}  // namespace octant::dns
