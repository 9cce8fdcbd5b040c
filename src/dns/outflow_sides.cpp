#include "dns/outflow_sides.hpp"

#include "core/observer.hpp"

namespace octant::dns {

namespace {

KOKKOS_INLINE_FUNCTION std::ptrdiff_t stride(const FieldView& field, int axis) {
  return axis == 0 ? 1 : axis == 1 ? field.row_stride : field.plane_stride;
}

// Geometry of a side. `face` and `cell` are the indices of the faces on the side and of the
// adjacent cells; `inwards` is the index step to the next interior ones.
struct SideGeometry {
  int axis, tangential[2];
  int face, cell, inwards;
  double outwards;              // sign (1 or -1) of velocities out of the domain
  double per_half, per_inside;  // reciprocals of half a cell size, and of the distance of centres
  FaceWeights transport;        // weights of cells on either side of the next interior face
  double per_spacing[2];        // reciprocal spacings along x and y
  const double* per_height;     // reciprocal cell heights, by plane
  const FaceWeights* faces;     // interpolation weights along z, by plane
};

// Results of a stage on a side.
struct SideResults {
  FieldView offset, rate, added[2], added_rate[2];
};

struct PredictSide {
  SideGeometry s;
  FieldView normal, tangential[2], pressure;
  SideResults results;
  Stage stage;
  double viscosity;
  int k, j;

  KOKKOS_FUNCTION void operator()(int i) const {
    const bool read_rates = stage.beta != 0.0;
    const std::ptrdiff_t in = s.inwards * stride(normal, s.axis);
    const double* face = at(normal, i, s.face);
    const auto leaving = [&](std::ptrdiff_t offset) { return s.outwards * face[offset]; };
    const double v = leaving(0), inside = leaving(in);
    const double middle = 0.5 * (v + inside), deeper = 0.5 * (inside + leaving(2 * in));
    const double through = v < 0.0 ? 0.5 * v * v : v * v;
    double rate = s.per_inside * (middle * middle - deeper * deeper) -
                  s.per_half * (through - middle * middle);
    for (int n = 0; n < 2; ++n) {
      const int t = s.tangential[n];
      const FieldView& field = tangential[n];
      const std::ptrdiff_t own = stride(normal, t), along = stride(field, t);
      const std::ptrdiff_t next = s.inwards * stride(field, s.axis);
      const double* carrier = at(field, i, s.cell);
      const double per_spacing = t == 2 ? s.per_height[k] : s.per_spacing[t];
      const auto flux = [&](double carrying, std::ptrdiff_t from, std::ptrdiff_t to) {
        return carrying * 0.5 * (leaving(from) + leaving(to));
      };
      const auto carrying_inside = [&](std::ptrdiff_t to) {
        return s.transport.here * carrier[to] + s.transport.beyond * carrier[to + next];
      };
      const double on_side = flux(carrier[0], 0, own) - flux(carrier[-along], 0, -own);
      const double on_inside =
          flux(carrying_inside(0), in, in + own) - flux(carrying_inside(-along), in, in - own);
      rate += per_spacing * (on_inside - on_side);
      add_backflow(n, i, t, v, leaving(own), carrier[0], read_rates);
    }
    const double* p = at(pressure, i, s.cell);
    const double p_inside = p[s.inwards * stride(pressure, s.axis)];
    const double pull = s.per_half * p[0] + s.per_inside * (p[0] - p_inside);
    const double damping = 0.5 * viscosity * s.per_half * s.per_half * stage.gamma;
    double change = stage.alpha * rate + stage.gamma * pull;
    double& kept = results.rate.row(k, j)[i];
    if (read_rates) change += stage.beta * kept;
    kept = rate;
    const double now = (v - inside) * (1.0 - (1.0 - stage.implicit) * damping) + change;
    results.offset.row(k, j)[i] = s.outwards * now / (1.0 + stage.implicit * damping);
  }

 private:
  // Returns the address of the value at point i of the side, with `index` along the side's axis.
  KOKKOS_INLINE_FUNCTION const double* at(const FieldView& field, int i, int index) const {
    if (s.axis == 0) return field.row(k, j) + index;
    if (s.axis == 1) return field.row(k, index) + i;
    return field.row(index, j) + i;
  }
  // Computes the source term that removes half of the flux of a tangential component, `value`, for
  // backflow.
  KOKKOS_INLINE_FUNCTION void add_backflow(int n, int i, int t, double v, double next, double value,
                                           bool read_rates) const {
    const FaceWeights w = t == 2 ? s.faces[k] : FaceWeights{0.5, 0.5};
    const double through = w.here * v + w.beyond * next;
    const double rate = through < 0.0 ? 0.25 * s.per_half * through * value : 0.0;
    double& kept = results.added_rate[n].row(k, j)[i];
    double change = stage.alpha * rate;
    if (read_rates) change += stage.beta * kept;
    kept = rate;
    results.added[n].row(k, j)[i] = change;
  }
};

struct PredictSideRows {
  PredictSide side;
  KOKKOS_FUNCTION PredictSide operator()(int k, int j) const {
    PredictSide row = side;
    row.k = k, row.j = j;
    return row;
  }
};

// Kernel that predicts whole rows, one thread per row.
struct PredictWholeRows {
  PredictSideRows rows;
  KOKKOS_FUNCTION void operator()(int k, int j) const {
    const PredictSide row = rows(k, j);
    for (int i = 0; i < row.results.offset.nx; ++i) row(i);
  }
};

SideGeometry geometry(const Domain& d, int axis, int end, const double* per_height,
                      const FaceWeights* faces) {
  SideGeometry s;
  s.axis = axis;
  s.tangential[0] = axis == 0 ? 1 : 0;
  s.tangential[1] = axis == 2 ? 1 : 2;
  s.cell = cells_beside(d, axis, end).begin;
  s.face = end == 0 ? -1 : s.cell;
  s.inwards = end == 0 ? 1 : -1;
  s.outwards = end == 0 ? -1.0 : 1.0;
  const auto height = [&](int k) { return axis < 2 ? d.grid.spacing(axis) : d.dz_cell[k]; };
  const double here = height(s.cell), inside = height(s.cell + s.inwards);
  const double distance = 0.5 * (here + inside);
  s.per_half = 2.0 / here;
  s.per_inside = 1.0 / distance;
  s.transport = {0.5 * here / distance, 0.5 * inside / distance};
  s.per_spacing[0] = 1.0 / d.grid.dx;
  s.per_spacing[1] = 1.0 / d.grid.dy;
  s.per_height = per_height;
  s.faces = faces;
  return s;
}

}  // namespace

template <Place place>
Outflow<place>::Outflow(const Domain& domain, double viscosity)
    : domain_(domain),
      viscosity_(viscosity),
      per_height_("reciprocal heights", domain.nz),
      weights_("weights on faces", domain.nz) {
  const auto per_height = Kokkos::create_mirror_view(per_height_);
  const auto weights = Kokkos::create_mirror_view(weights_);
  for (int k = 0; k < domain.nz; ++k) {
    const double share = 0.5 / domain.dz_face[k];
    per_height(k) = 1.0 / domain.dz_cell[k];
    weights(k) = {share * domain.dz_cell[k], share * domain.dz_cell[k + 1]};
  }
  copy_to_device(TransferKind::tables, per_height_, per_height);
  copy_to_device(TransferKind::tables, weights_, weights);
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      if (domain.boundaries.side(axis, end) != dns::Side::outflow || !domain.ends(axis, end))
        continue;
      Side& side = sides_[axis][end];
      pencil::Cells cells{domain.nx, domain.ny, domain.nz};
      cells[axis] = 1;
      const std::size_t count = std::size_t{1} * cells[0] * cells[1] * cells[2];
      side.memory = View<double>("outflow", 6 * count);
      double* next = side.memory.data();
      const auto take = [&](FieldView& view) {
        view = pencil::dense_view(next, cells);
        next += count;
      };
      take(side.offset);
      take(side.rate);
      for (int t = 0; t < 3; ++t)
        if (t != axis) {
          take(side.added[t]);
          take(side.added_rate[t]);
        }
    }
}

template <Place place>
void Outflow<place>::predict(const VelocityViews& velocity, const FieldView& pressure,
                             const Stage& stage) {
  [[maybe_unused]] const Launch<place> launch{};
  bool launched = false;
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      const Side& side = sides_[axis][end];
      const FieldView& faces = side.offset;
      if (!faces.first) continue;
      const SideGeometry s = geometry(domain_, axis, end, per_height_.data(), weights_.data());
      const int one = s.tangential[0], other = s.tangential[1];
      const PredictSideRows rows{{s,
                                  velocity[axis],
                                  {velocity[one], velocity[other]},
                                  pressure,
                                  {side.offset,
                                   side.rate,
                                   {side.added[one], side.added[other]},
                                   {side.added_rate[one], side.added_rate[other]}},
                                  stage,
                                  viscosity_,
                                  0,
                                  0}};
      record_kernel_work("dns: outflow", std::int64_t{faces.nx} * faces.ny * faces.nz,
                         {160.0, 90.0});
      if constexpr (place == Place::device)
        launch_cells("dns: outflow", {faces.nx, faces.ny, faces.nz}, rows);
      else launch_rows<Space>("dns: outflow", faces.ny, faces.nz, PredictWholeRows{rows});
      launched = true;
    }
  if constexpr (place == Place::host)
    if (launched) Space().fence();
}

template class Outflow<Place::host>;
template class Outflow<Place::device>;

}  // namespace octant::dns
