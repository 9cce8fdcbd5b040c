#include "dns/row_meter.hpp"

#include <Kokkos_MathematicalFunctions.hpp>

namespace octant::dns {

namespace {

KOKKOS_INLINE_FUNCTION double larger(double a, double b) { return a < b ? b : a; }

KOKKOS_INLINE_FUNCTION double largest_of(const double (&lanes)[k_lanes]) {
  double largest = 0.0;
  for (int l = 0; l < k_lanes; ++l) largest = larger(largest, lanes[l]);
  return largest;
}

KOKKOS_INLINE_FUNCTION double row_sum_of_squares(const double* values, int n) {
  double lanes[k_lanes] = {};
  int i = 0;
  for (; i + k_lanes <= n; i += k_lanes)
    for (int l = 0; l < k_lanes; ++l) lanes[l] += values[i + l] * values[i + l];
  for (int l = 0; i < n; ++i, ++l) lanes[l] += values[i] * values[i];
  return sum_of_lanes(lanes);
}

// Extremes of a row, lane by lane so that on a host a row takes the machine's vectors.
struct Extremes {
  const double *u, *v, *w, *south, *bottom;
  double xi, yi, zi;  // reciprocal spacings
  double speed[k_components][k_lanes] = {};
  double divergence[k_lanes] = {}, rate[k_lanes] = {};

  KOKKOS_FORCEINLINE_FUNCTION void take_speeds(int l, double through_x, double through_y,
                                               double through_z) {
    const double a = Kokkos::fabs(through_x), b = Kokkos::fabs(through_y);
    const double c = Kokkos::fabs(through_z);
    speed[k_u][l] = larger(speed[k_u][l], a);
    speed[k_v][l] = larger(speed[k_v][l], b);
    speed[k_w][l] = larger(speed[k_w][l], c);
    rate[l] = larger(rate[l], xi * a + yi * b + zi * c);
  }
  KOKKOS_FORCEINLINE_FUNCTION void take(int l, int i) {
    take_speeds(l, u[i], v[i], w[i]);
    const double d = xi * (u[i] - u[i - 1]) + yi * (v[i] - south[i]) + zi * (w[i] - bottom[i]);
    divergence[l] = larger(divergence[l], Kokkos::fabs(d));
  }
  KOKKOS_FORCEINLINE_FUNCTION void take_row(int n) {
    int i = 0;
    for (; i + k_lanes <= n; i += k_lanes)
      for (int l = 0; l < k_lanes; ++l) take(l, i + l);
    for (int l = 0; i < n; ++i, ++l) take(l, i);
  }
  // Lower faces where fluid leaves the domain, each beside the upper faces along the other axes.
  KOKKOS_INLINE_FUNCTION void take_lower_faces(int n, bool along_x, bool along_y, bool along_z) {
    if (along_x) take_speeds(0, u[-1], v[0], w[0]);
    for (int i = 0; along_y && i < n; ++i) take_speeds(0, u[i], south[i], w[i]);
    for (int i = 0; along_z && i < n; ++i) take_speeds(0, u[i], v[i], bottom[i]);
  }
};

// The rows of planes -1 .. nz, counted from 0.
struct MeasureRow {
  VelocityViews velocity;
  FieldView scalar;
  double xi, yi;
  const double* zi;
  LowerFaces lower;
  RowFigures* figures;

  KOKKOS_FUNCTION void operator()(int plane, int j) const {
    const int k = plane - 1, nx = velocity.u.nx, ny = velocity.u.ny, nz = velocity.u.nz;
    RowFigures r{};
    for (int c = 0; c < k_components; ++c) r.sum[c] = row_sum(velocity[c].row(k, j), nx);
    if (scalar.first) r.scalar = row_sum(scalar.row(k, j), nx);
    if (k >= 0 && k < nz) {
      for (int c = 0; c < k_components; ++c)
        r.squares[c] = row_sum_of_squares(velocity[c].row(k, j), nx);
      Extremes e{velocity.u.row(k, j),
                 velocity.v.row(k, j),
                 velocity.w.row(k, j),
                 velocity.v.row(k, j - 1),
                 velocity.w.row(k - 1, j),
                 xi,
                 yi,
                 zi[k]};
      e.take_row(nx);
      e.take_lower_faces(nx, lower.u, lower.v && j == 0, lower.w && k == 0);
      for (int c = 0; c < k_components; ++c) r.largest[c] = largest_of(e.speed[c]);
      r.divergence = largest_of(e.divergence);
      r.rate = largest_of(e.rate);
    }
    figures[std::ptrdiff_t{plane} * ny + j] = r;
  }
};

// All rows, those of ghosts too, counted from 0.
struct SumRow {
  FieldView field;
  double* sums;
  KOKKOS_FUNCTION void operator()(int plane, int row) const {
    sums[std::ptrdiff_t{plane} * (field.ny + 2) + row] =
        row_sum(field.row(plane - 1, row - 1), field.nx);
  }
};

}  // namespace

template <Place place>
RowMeter<place>::RowMeter(const Domain& domain)
    : reciprocal_dx_(1.0 / domain.grid.dx),
      reciprocal_dy_(1.0 / domain.grid.dy),
      lower_faces_{domain.first(k_u, 0) < 0, domain.first(k_v, 1) < 0, domain.first(k_w, 2) < 0},
      reciprocal_dz_("reciprocal heights", domain.nz),
      figures_("figures of rows", static_cast<std::size_t>(domain.ny) * (domain.nz + 2)),
      sums_("sums of rows", static_cast<std::size_t>(domain.ny + 2) * (domain.nz + 2)),
      figures_on_host_(Kokkos::create_mirror_view(figures_)),
      sums_on_host_(Kokkos::create_mirror_view(sums_)) {
  const auto heights = Kokkos::create_mirror_view(reciprocal_dz_);
  for (int k = 0; k < domain.nz; ++k) heights(k) = 1.0 / domain.dz_cell[k];
  Kokkos::deep_copy(reciprocal_dz_, heights);
}

template <Place place>
MeasuredRows RowMeter<place>::measure(const VelocityViews& velocity, const FieldView& scalar) {
  const int ny = velocity.u.ny, nz = velocity.u.nz;
  launch_rows<Space>("dns: measure", ny, nz + 2,
                     MeasureRow{velocity, scalar, reciprocal_dx_, reciprocal_dy_,
                                reciprocal_dz_.data(), lower_faces_, figures_.data()});
  Kokkos::deep_copy(figures_on_host_, figures_);  // waits
  return {figures_on_host_.data(), ny};
}

template <Place place>
RowSums RowMeter<place>::sums(const FieldView& field) {
  launch_rows<Space>("dns: sums of rows", field.ny + 2, field.nz + 2, SumRow{field, sums_.data()});
  Kokkos::deep_copy(sums_on_host_, sums_);
  return {sums_on_host_.data(), field.ny};
}

template class RowMeter<Place::host>;
template class RowMeter<Place::device>;

}  // namespace octant::dns
