#include "dns/flow_meter.hpp"

#include "core/memory_transfer.hpp"
#include "core/observer.hpp"

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
  for_lanes(n, [&](int l, int i) OCTANT_INLINE_LAMBDA { lanes[l] += values[i] * values[i]; });
  return sum_of_lanes(lanes);
}

// Updates `most` by the largest value of a row, and `least_negated` by the largest negated value.
KOKKOS_INLINE_FUNCTION void take_range(const double* values, int n, double& most,
                                       double& least_negated) {
  for (int i = 0; i < n; ++i) {
    most = larger(most, values[i]);
    least_negated = larger(least_negated, -values[i]);
  }
}

// Extrema of a row, one per lane for SIMD on a host.
struct Extremes {
  const double *u, *v, *w, *south, *bottom;
  double xi, yi, zi;  // reciprocal spacings
  double speed[k_components][k_lanes] = {};
  double divergence[k_lanes] = {}, rate[k_lanes] = {};

  // Updates `speed` by the absolute values of a component on both faces of a cell, and returns the
  // mean of these values.
  KOKKOS_FORCEINLINE_FUNCTION double take_speed(int component, int l, double lower, double upper) {
    const double a = Kokkos::fabs(lower), b = Kokkos::fabs(upper);
    speed[component][l] = larger(speed[component][l], larger(a, b));
    return 0.5 * (a + b);
  }
  KOKKOS_FORCEINLINE_FUNCTION void take(int l, int i) {
    const double through_x = take_speed(k_u, l, u[i - 1], u[i]);
    const double through_y = take_speed(k_v, l, south[i], v[i]);
    const double through_z = take_speed(k_w, l, bottom[i], w[i]);
    rate[l] = larger(rate[l], xi * through_x + yi * through_y + zi * through_z);
    const double d = xi * (u[i] - u[i - 1]) + yi * (v[i] - south[i]) + zi * (w[i] - bottom[i]);
    divergence[l] = larger(divergence[l], Kokkos::fabs(d));
  }
  KOKKOS_FORCEINLINE_FUNCTION void take_row(int n) {
    for_lanes(n, [this](int l, int i) OCTANT_INLINE_LAMBDA { take(l, i); });
  }
};

// Side along z where shear and flux are measured, as (ghost value - interior value) / spacing.
struct WallSide {
  bool is_here;
  double spacing;
};

// Returns the index of the partial sum for a row: k on a host, whose threads process different
// planes, and j on a GPU, whose threads process different rows.
template <class Space>
KOKKOS_INLINE_FUNCTION int partial_sum_of(int k, int j) {
  return k_is_host<Space> ? k : j;
}

template <class Space>
struct MeasureRow {
  VelocityViews velocity;
  FieldView scalar;
  double xi, yi;
  const PlaneHeights* heights;
  WallSide walls[2];
  TermAdder sums;

  KOKKOS_FUNCTION void operator()(std::int64_t row, double& u, double& v, double& w,
                                  double& divergence, double& rate, double& scalar_max,
                                  double& coldest_negated) const {
    const int nx = velocity.u.nx, ny = velocity.u.ny, nz = velocity.u.nz;
    const int k = static_cast<int>(row / ny), j = static_cast<int>(row % ny);
    const int share = partial_sum_of<Space>(k, j);
    const PlaneHeights h = heights[k];
    const double height[k_components] = {h.cell, h.cell, h.face};
    for (int c = 0; c < k_components; ++c) {
      const double* values = velocity[c].row(k, j);
      sums.add(k_sum_mean + c, share, height[c] * row_sum(values, nx));
      sums.add(k_sum_squares + c, share, height[c] * row_sum_of_squares(values, nx));
    }
    if (scalar.first) {
      sums.add(k_sum_scalar, share, h.cell * row_sum(scalar.row(k, j), nx));
      take_range(scalar.row(k, j), nx, scalar_max, coldest_negated);
    }
    if (k == 0) add_gradients(0, -1, 0, j);
    if (k == nz - 1) add_gradients(1, nz, nz - 1, j);

    Extremes e{velocity.u.row(k, j),
               velocity.v.row(k, j),
               velocity.w.row(k, j),
               velocity.v.row(k, j - 1),
               velocity.w.row(k - 1, j),
               xi,
               yi,
               h.reciprocal};
    e.take_row(nx);
    u = larger(u, largest_of(e.speed[k_u]));
    v = larger(v, largest_of(e.speed[k_v]));
    w = larger(w, largest_of(e.speed[k_w]));
    divergence = larger(divergence, largest_of(e.divergence));
    rate = larger(rate, largest_of(e.rate));
  }

  KOKKOS_INLINE_FUNCTION void add_gradients(int end, int ghost, int inside, int j) const {
    if (!walls[end].is_here) return;
    sums.add(k_sum_shear + end, j, gradient(velocity.u, end, ghost, inside, j));
    if (scalar.first) sums.add(k_sum_flux + end, j, gradient(scalar, end, ghost, inside, j));
  }
  KOKKOS_INLINE_FUNCTION double gradient(const FieldView& field, int end, int ghost, int inside,
                                         int j) const {
    const double outside = row_sum(field.row(ghost, j), field.nx);
    return (outside - row_sum(field.row(inside, j), field.nx)) / walls[end].spacing;
  }
};

template <class Space>
struct SumTimesHeight {
  FieldView field;
  const PlaneHeights* heights;
  TermAdder sum;
  KOKKOS_FUNCTION void operator()(int k, int j) const {
    sum.add(0, partial_sum_of<Space>(k, j), row_sum(field.row(k, j), field.nx) * heights[k].cell);
  }
};

// Kernel that sums each row. Planes and rows are counted from 0, including ghosts.
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
FlowMeter<place>::FlowMeter(const Domain& domain)
    : domain_(domain),
      heights_("heights", domain.nz),
      sums_(k_flow_sums),
      one_sum_(1),
      row_sums_("sums of rows", static_cast<std::size_t>(domain.ny + 2) * (domain.nz + 2)),
      row_sums_on_host_(Kokkos::create_mirror_view(row_sums_)) {
  const auto heights = Kokkos::create_mirror_view(heights_);
  for (int k = 0; k < domain.nz; ++k)
    heights(k) = {domain.dz_cell[k], domain.dz_face[k], 1.0 / domain.dz_cell[k]};
  copy_to_device(TransferKind::tables, heights_, heights);
}

template <Place place>
FlowMeasures FlowMeter<place>::measure(const VelocityViews& velocity, const FieldView& scalar) {
  const Domain& d = domain_;
  const MeasureRow<Space> row{
      velocity,        scalar,
      1.0 / d.grid.dx, 1.0 / d.grid.dy,
      heights_.data(), {{d.ends(2, 0), -d.dz_face[-1]}, {d.ends(2, 1), d.dz_face[d.nz - 1]}},
      sums_.begin()};
  [[maybe_unused]] const Launch<place> launch{};
  FlowMeasures f;
  auto& [u, v, w] = f.largest;
  double coldest_negated = 0.0;
  using Largest = Kokkos::Max<double>;  // independent of the order of evaluation
  // Cost: reads velocity and scalar. Sums take 9 operations, a divergence 8 and a rate 11.
  record_kernel_work("dns: measure", std::int64_t{d.nx} * d.ny * d.nz,
                     {scalar.first ? 32.0 : 24.0, scalar.first ? 29.0 : 28.0});
  Kokkos::parallel_reduce(
      "dns: measure",
      Kokkos::RangePolicy<typename Space::execution_space>(0, std::int64_t{d.ny} * d.nz), row,
      Largest(u), Largest(v), Largest(w), Largest(f.divergence), Largest(f.rate),
      Largest(f.scalar_max), Largest(coldest_negated));
  f.scalar_min = -coldest_negated;
  sums_.end(f.sums);
  return f;
}

template <Place place>
ReproducibleSum FlowMeter<place>::sum(const FieldView& field) {
  [[maybe_unused]] const Launch<place> launch{};
  ReproducibleSum sum;
  launch_rows<Space>("dns: mean", field.ny, field.nz,
                     SumTimesHeight<Space>{field, heights_.data(), one_sum_.begin()});
  one_sum_.end(std::span(&sum, 1));
  return sum;
}

template <Place place>
RowSums FlowMeter<place>::row_sums(const FieldView& field) {
  [[maybe_unused]] const Launch<place> launch{};
  launch_rows<Space>("dns: sums of rows", field.ny + 2, field.nz + 2,
                     SumRow{field, row_sums_.data()});
  copy_to_host(TransferKind::numbers, row_sums_on_host_, row_sums_);
  return {row_sums_on_host_.data(), field.ny};
}

template class FlowMeter<Place::host>;
template class FlowMeter<Place::device>;

}  // namespace octant::dns
