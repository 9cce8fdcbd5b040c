#include "dns/statistics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/expectations.hpp"

namespace octant::dns {

namespace {

constexpr const char* k_axis_names[] = {"x", "y"};

// Returns the planes that a rank writes, as rows of a dataset. All ranks of a row hold the same
// planes, and the first of these ranks writes them.
RowRange written_planes(const Domain& domain) {
  const std::int64_t begin = domain.box[2].begin;
  return {begin, domain.pencils.y_index() == 0 ? domain.nz : 0};
}

}  // namespace

Spectra::Spectra(const Domain& domain, bool on) : domain_(domain) {
  for (int axis = 0; axis < 2; ++axis) {
    if (!on || !domain.boundaries.periodic(axis)) continue;
    Axis& a = axes_[axis];
    a.length = domain.grid.cells[axis];
    a.transform.emplace(a.length);
    a.sums.resize(static_cast<std::size_t>(k_components) * domain.nz * a.waves());
  }
  plane_.resize(std::max(axes_[0].waves(), axes_[1].waves()));
  if (axes_[1].length == 0) return;
  // One plane at a time is transposed, among the ranks that share the plane.
  const pencil::PencilGrid& pencils = domain.pencils;
  const auto plane_of = [&pencils](pencil::Orientation orientation, int y_index) {
    pencil::Box box = pencils.box(orientation, pencils.rank_of(y_index, pencils.z_index()));
    box.range[2] = {0, 1};
    return box;
  };
  const auto along_x = [&](int rank) { return plane_of(pencil::Orientation::x, rank); };
  const auto along_y = [&](int rank) { return plane_of(pencil::Orientation::y, rank); };
  const int own = pencils.y_index();
  to_y_.emplace("spectra", pencils.row(), along_x, along_y,
                pencil::Layout::ordered(along_x(own), {0, 1, 2}),
                pencil::Layout::ordered(along_y(own), {1, 0, 2}), pencil::TransposeBackend::p2p);
  x_plane_.resize(along_x(own).cells());
  y_plane_.resize(along_y(own).cells());
}

void Spectra::add_lines(Axis& axis, int component, int k, const double* lines, int count,
                        std::ptrdiff_t stride) {
  const int n = axis.length, waves = axis.waves();
  std::fill_n(plane_.begin(), waves, ReproducibleSum());
  const double scale = 1.0 / (static_cast<double>(n) * n);
  const int width = axis.transform->width();
  modes_.resize(static_cast<std::size_t>(count) * width);
  axis.transform->forward(lines, stride, count, n, modes_.data(), width);
  for (int l = 0; l < count; ++l) {
    const double* c = modes_.data() + l * width;
    for (int m = 0; m < waves; ++m) {
      const double both = m == 0 || 2 * m == n ? 1.0 : 2.0;  // wavenumbers m and -m
      plane_[m] += both * scale * (c[2 * m] * c[2 * m] + c[2 * m + 1] * c[2 * m + 1]);
    }
  }
  reproducible_sum(domain_.pencils.row(), std::span(plane_.data(), waves));
  const int other = domain_.grid.cells[&axis == &axes_[0] ? 1 : 0];
  double* sums = axis.sums.data() + (static_cast<std::size_t>(component) * domain_.nz + k) * waves;
  for (int m = 0; m < waves; ++m) sums[m] += plane_[m].to_double() / other;
}

void Spectra::sample(const State& state) {
  for (int c = 0; c < k_components; ++c) {
    const Field& field = state.velocity(c);
    if (axes_[0].length > 0)
      for (int k = 0; k < domain_.nz; ++k)
        add_lines(axes_[0], c, k, field.row(k, 0), domain_.ny, field.row_stride());
    if (!to_y_) continue;
    const int n = axes_[1].length, columns = static_cast<int>(y_plane_.size()) / n;
    for (int k = 0; k < domain_.nz; ++k) {
      double* to = x_plane_.data();
      for (int j = 0; j < domain_.ny; ++j) to = std::copy_n(field.row(k, j), domain_.nx, to);
      to_y_->forward(x_plane_.data(), y_plane_.data());
      add_lines(axes_[1], c, k, y_plane_.data(), columns, n);
    }
  }
}

void Spectra::write(Hdf5Writer& file, const std::string& group, std::int64_t samples,
                    const std::vector<std::vector<double>>& mean_velocity) const {
  const RowRange planes = written_planes(domain_);
  for (int a = 0; a < 2; ++a) {
    const Axis& axis = axes_[a];
    if (axis.length == 0) continue;
    const int waves = axis.waves();
    for (int c = 0; c < k_components; ++c) {
      const double* sums = axis.sums.data() + static_cast<std::size_t>(c) * domain_.nz * waves;
      std::vector<double> spectrum(planes.count * waves), correlation(planes.count * waves);
      for (std::int64_t k = 0; k < planes.count; ++k) {
        double* e = spectrum.data() + k * waves;
        for (int m = 0; m < waves; ++m) e[m] = sums[k * waves + m] / static_cast<double>(samples);
        const double mean = mean_velocity[c][domain_.box[2].begin + k];
        e[0] -= mean * mean;
        for (int r = 0; r < waves; ++r)
          for (int m = 0; m < waves; ++m)
            correlation[k * waves + r] += e[m] * std::cos(2.0 * M_PI * m * r / axis.length);
      }
      const char* name = k_axis_names[a];
      const char quantity = "uvw"[c];
      file.dataset(
          fmt::format("{}/spectrum_{}_{}", group, quantity, name), planes, {waves},
          std::span<const double>(spectrum),
          {"length^2 / time^2", fmt::format("mean square of {}' as a function of the wavenumber "
                                            "along {}, in units of 2 pi / extent, in each plane",
                                            quantity, name)});
      file.dataset(
          fmt::format("{}/correlation_{}_{}", group, quantity, name), planes, {waves},
          std::span<const double>(correlation),
          {"length^2 / time^2",
           fmt::format("mean of {0}'({1}) {0}'({1} + r) as a function of r in cells, in each plane",
                       quantity, name)});
    }
  }
}

std::string Spectra::dataset(int axis) const {
  return fmt::format("/statistics/spectra_{}", k_axis_names[axis]);
}

void Spectra::store(Hdf5Writer& file) const {
  for (int a = 0; a < 2; ++a) {
    const Axis& axis = axes_[a];
    if (axis.length == 0) continue;
    const RowRange planes = written_planes(domain_);
    const int waves = axis.waves();
    std::vector<double> rows;  // [plane][component][wavenumber]
    for (std::int64_t k = 0; k < planes.count; ++k)
      for (int c = 0; c < k_components; ++c) {
        const double* from =
            axis.sums.data() + (static_cast<std::size_t>(c) * domain_.nz + k) * waves;
        rows.insert(rows.end(), from, from + waves);
      }
    file.dataset(dataset(a), planes, {k_components, waves}, std::span<const double>(rows),
                 {"length^2 / time^2", "sums of spectra over the samples"});
  }
}

void Spectra::restore(const Hdf5Reader& file) {
  for (int a = 0; a < 2; ++a) {
    Axis& axis = axes_[a];
    if (axis.length == 0) continue;
    const int waves = axis.waves();
    require_shape(file, dataset(a), {domain_.grid.cells[2], k_components, waves});
    const auto rows = read_finite(file, dataset(a), {domain_.box[2].begin, domain_.nz});
    for (int k = 0; k < domain_.nz; ++k)
      for (int c = 0; c < k_components; ++c)
        std::copy_n(rows.data() + (static_cast<std::size_t>(k) * k_components + c) * waves, waves,
                    axis.sums.data() + (static_cast<std::size_t>(c) * domain_.nz + k) * waves);
  }
}

}  // namespace octant::dns
