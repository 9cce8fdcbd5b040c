#include "dns/ghosts.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "dns/kernels.hpp"

namespace octant::dns {

namespace {

// Sets a whole row, including ghosts.
void set_row(double* row, int nx, double value) { std::fill(row - 1, row + nx + 1, value); }

void set_sum(double* row, const double* one, const double* other, int nx) {
  for (int i = 0; i < nx; ++i) row[i] = one[i] + other[i];
}

// Mirror image at a side: ghost = 2 value - interior (dirichlet) or ghost = interior (neumann).
struct Mirror {
  double factor, offset;
  void row(double* ghost, const double* inside, int nx) const {
    for (int i = -1; i <= nx; ++i) ghost[i] = offset + factor * inside[i];
  }
};

Mirror mirror(Condition condition, double value) {
  if (condition == Condition::dirichlet) return {-1.0, 2.0 * value};
  return {1.0, 0.0};
}

}  // namespace

GhostRules ghost_rules(const Boundaries& boundaries, const ScalarSides& scalar) {
  GhostRules rules;
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      for (int c = 0; c < k_components; ++c)
        rules[c][axis][end] = {boundaries.velocity_condition(c, axis, end),
                               boundaries.velocity(axis, end)[c], c == axis};
      rules[k_pressure][axis][end] = {boundaries.pressure_condition(axis, end), 0.0, false};
      rules[k_scalar][axis][end] = {scalar[axis][end].condition, scalar[axis][end].value, false};
    }
  return rules;
}

Ghosts::Ghosts(const Domain& domain, const pencil::HaloOptions& options,
               const Outflow<Place::host>& outflow, const ScalarSides& scalar)
    : domain_(domain),
      halo_(domain.pencils, domain.boundaries.periodic(1), domain.boundaries.periodic(2), options),
      rules_(ghost_rules(domain.boundaries, scalar)),
      outflow_(outflow) {}

void Ghosts::fill_x(int quantity, double* row) const {
  const int nx = domain_.nx;
  const GhostRule &lower = rule(quantity, 0, 0), &upper = rule(quantity, 0, 1);
  if (lower.condition == Condition::periodic) {
    row[-1] = row[nx - 1];
    row[nx] = row[0];
    return;
  }
  if (lower.on_face) {
    if (lower.condition == Condition::dirichlet) row[-1] = lower.value;
    if (upper.condition == Condition::dirichlet) row[nx - 1] = upper.value;
    return;
  }
  const Mirror below = mirror(lower.condition, lower.value);
  const Mirror above = mirror(upper.condition, upper.value);
  row[-1] = below.offset + below.factor * row[0];
  row[nx] = above.offset + above.factor * row[nx - 1];
}

void Ghosts::fill_y_side(int quantity, Field& field, int k, int end) const {
  if (!domain_.ends(1, end)) return;
  const int nx = domain_.nx, ny = domain_.ny;
  const GhostRule& r = rule(quantity, 1, end);
  if (!r.on_face) {
    const int inside = end == 0 ? 0 : ny - 1, ghost = end == 0 ? -1 : ny;
    mirror(r.condition, r.value).row(field.row(k, ghost), field.row(k, inside), nx);
  } else if (r.condition == Condition::dirichlet) {
    set_row(field.row(k, end == 0 ? -1 : ny - 1), nx, r.value);
  }
}

void Ghosts::fill_y(int quantity, Field& field, int k, int end) const {
  const int last = domain_.ny - 1;
  if (!domain_.boundaries.periodic(1)) fill_y_side(quantity, field, k, end);
  else if (!domain_.is_cut(1)) field.copy_row(k, end == 0 ? -1 : last + 1, end == 0 ? last : 0);
}

void Ghosts::fill_z_sides(int quantity, Field& field) const {
  const int nx = domain_.nx, ny = domain_.ny, nz = domain_.nz;
  for (int end = 0; end < 2; ++end) {
    if (!domain_.ends(2, end)) continue;
    const GhostRule& r = rule(quantity, 2, end);
    for (int j = -1; j <= ny; ++j) {
      if (!r.on_face) {
        const int inside = end == 0 ? 0 : nz - 1, ghost = end == 0 ? -1 : nz;
        mirror(r.condition, r.value).row(field.row(ghost, j), field.row(inside, j), nx);
      } else if (r.condition == Condition::dirichlet) {
        set_row(field.row(end == 0 ? -1 : nz - 1, j), nx, r.value);
      }
    }
  }
}

void Ghosts::fill(std::span<const Ghosted> all) {
  for (const auto& [field, quantity] : all)
    for (int k = domain_.first(quantity, 2); k < domain_.nz; ++k)
      for (int j = domain_.first(quantity, 1); j < domain_.ny; ++j)
        fill_x(quantity, field->row(k, j));
  fill_y_and_z(all);
}

void Ghosts::fill_y_and_z(std::span<const Ghosted> all) {
  std::array<Field*, 8> fields{};
  std::size_t count = 0;
  for (const auto& [field, quantity] : all) {
    fields[count++] = field;
    for (int k = domain_.first(quantity, 2); k < domain_.nz; ++k)
      for (const int end : {0, 1}) fill_y_side(quantity, *field, k, end);
  }
  const std::span<Field* const> exchanged(fields.data(), count);
  // Two fields are exchanged at a time, which limits the memory for messages.
  for (std::size_t first = 0; first < count; first += 2)
    halo_.fill_y(exchanged.subspan(first, std::min<std::size_t>(2, count - first)));
  for (const auto& [field, quantity] : all) {
    Field* one[] = {field};
    halo_.fill_y(one, domain_.first(quantity, 2), 0, 0);
    fill_z_sides(quantity, *field);
  }
  halo_.fill_z(exchanged);
}

void Ghosts::close_x(Field& u, int k, int j, int plane_offset) const {
  const int nx = domain_.nx;
  double* u_row = u.row(k, j, plane_offset);
  const GhostRule &lower = rule(k_u, 0, 0), &upper = rule(k_u, 0, 1);
  if (lower.condition == Condition::periodic) {
    u_row[-1] = u_row[nx - 1];
    return;
  }
  const auto value = [&](const GhostRule& r, int end, int inside) {
    if (r.condition == Condition::dirichlet) return r.value;
    return u_row[inside] + *outflow_.offset(0, end).row(k, j);
  };
  u_row[-1] = value(lower, 0, 0);
  u_row[nx - 1] = value(upper, 1, nx - 2);
}

void Ghosts::close_y(Field& v, int k, int plane_offset, int end) const {
  const int nx = domain_.nx, ny = domain_.ny;
  if (end == 0 && domain_.boundaries.periodic(1) && !domain_.is_cut(1))
    v.copy_row(k, -1, ny - 1, plane_offset);
  if (!domain_.ends(1, end)) return;
  const GhostRule& r = rule(k_v, 1, end);
  const int boundary = end == 0 ? -1 : ny - 1, inside = end == 0 ? 0 : ny - 2;
  double* row = v.row(k, boundary, plane_offset);
  if (r.condition == Condition::dirichlet) set_row(row, nx, r.value);
  else set_sum(row, v.row(k, inside, plane_offset), outflow_.offset(1, end).row(k, 0), nx);
}

void Ghosts::close_z(Field& w, int end, int plane_offset, Range rows) const {
  if (!domain_.ends(2, end)) return;
  const int nx = domain_.nx, nz = domain_.nz;
  const GhostRule& r = rule(k_w, 2, end);
  const int boundary = end == 0 ? -1 : nz - 1, inside = end == 0 ? 0 : nz - 2;
  for (int j = rows.begin; j < rows.end; ++j) {
    double* row = w.row(boundary, j, plane_offset);
    if (r.condition == Condition::dirichlet) set_row(row, nx, r.value);
    else set_sum(row, w.row(inside, j, plane_offset), outflow_.offset(2, end).row(0, j), nx);
  }
}

void Ghosts::exchange_prediction(State& state, int plane_offset) {
  Field* v[] = {&state.v};
  Field* w[] = {&state.w};
  if (domain_.is_cut(1)) halo_.fill_y(v, plane_offset);
  halo_.fill_z(w, plane_offset);
}

void Ghosts::exchange_y(Field& field) {
  Field* one[] = {&field};
  halo_.fill_y(one);
}

void Ghosts::exchange_z(Field& field) {
  Field* one[] = {&field};
  halo_.fill_z(one);
}

namespace {

// New value of entry `to` along an axis: offset + factor times entry `from`.
struct Rewrite {
  int to, from;
  double factor, offset;
};

// Negative zero, which changes no number when added, not even the sign of a zero.
constexpr double k_nothing = -0.0;

Rewrite copied(int to, int from) { return {to, from, 1.0, k_nothing}; }
Rewrite set(int to, double value) { return {to, to, 0.0, value}; }
Rewrite mirrored(int to, int from, const GhostRule& rule) {
  if (rule.condition == Condition::dirichlet) return {to, from, -1.0, 2.0 * rule.value};
  return {to, from, 1.0, 0.0};
}

// Rewrite of entries of a field along an axis, at all points of the other two axes including
// ghosts. One launch processes several rewrites.
struct FieldRewrite {
  FieldView field;
  int axis;
  Rewrite rule;
};

struct RewriteCells {
  double* to;
  const double* from;
  std::ptrdiff_t stride;
  int cells;  // number of points in a row of this field
  double factor, offset;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    if (i < cells) to[i * stride] = factor == 0.0 ? offset : offset + factor * from[i * stride];
  }
};

class Rewriting {
 public:
  void add(const FieldView& field, int axis, const Rewrite& rule) {
    OCTANT_REQUIRE(count_ < k_max_items, "more than {} ghost layers are filled at once",
                   k_max_items);
    items_[count_++] = {field, axis, rule};
    cells_ = std::max(cells_, points_along(field, axis));
    rows_ = std::max(rows_, points_across(field, axis));
    values_ += std::int64_t{points_along(field, axis)} * points_across(field, axis);
  }
  void launch() const {
    if (count_ == 0) return;
    record_kernel_work("dns: ghosts", values_, {16.0, 2.0});
    launch_cells("dns: ghosts", {cells_, rows_, count_}, *this);
  }

  KOKKOS_FUNCTION RewriteCells operator()(int n, int row) const {
    const FieldView& f = items_[n].field;
    const Rewrite& r = items_[n].rule;
    const int axis = items_[n].axis;
    const auto stride = [&](int of) -> std::ptrdiff_t {
      return of == 0 ? 1 : of == 1 ? f.row_stride : f.plane_stride;
    };
    const std::ptrdiff_t own = stride(axis), along = stride(axis == 0 ? 1 : 0);
    const int cells = row < points_across(f, axis) ? points_along(f, axis) : 0;
    double* first = f.first - along + (row - 1) * stride(axis == 2 ? 1 : 2);
    return {first + r.to * own, first + r.from * own, along, cells, r.factor, r.offset};
  }

 private:
  // Numbers of points per row, and of rows, in the plane normal to an axis, including ghosts.
  KOKKOS_FUNCTION static int points_along(const FieldView& f, int axis) {
    return (axis == 0 ? f.ny : f.nx) + 2;
  }
  KOKKOS_FUNCTION static int points_across(const FieldView& f, int axis) {
    return (axis == 2 ? f.ny : f.nz) + 2;
  }

  static constexpr int k_max_items = 8;
  FieldRewrite items_[k_max_items];
  int count_ = 0, cells_ = 0, rows_ = 0;
  std::int64_t values_ = 0;
};

int cells_along(const FieldView& field, int axis) {
  return axis == 0 ? field.nx : axis == 1 ? field.ny : field.nz;
}

}  // namespace

BatchGhosts::BatchGhosts(const Domain& domain, const CommOptions& comm,
                         const Outflow<Place::device>& outflow, const ScalarSides& scalar)
    : domain_(domain),
      rules_(ghost_rules(domain.boundaries, scalar)),
      halo_(domain.pencils,
            {domain.boundaries.periodic(0), domain.boundaries.periodic(1),
             domain.boundaries.periodic(2)},
            comm, domain.orientation),
      outflow_(outflow) {}

// Fills axes in the order x, y, z, so that ghosts at edges and corners are correct.
void BatchGhosts::fill(std::span<const GhostedView> all) {
  std::vector<FieldView> fields;
  for (const auto& [field, quantity] : all) fields.push_back(field);
  for (int axis = 0; axis < 3; ++axis) {
    const bool below = domain_.ends(axis, 0), above = domain_.ends(axis, 1);
    Rewriting rewriting;
    for (const auto& [field, quantity] : all) {
      const auto& [lower, upper] = rules_[quantity][axis];
      const int n = cells_along(field, axis);
      if (lower.condition == Condition::periodic) {
        if (domain_.is_cut(axis)) continue;
        rewriting.add(field, axis, copied(-1, n - 1));
        rewriting.add(field, axis, copied(n, 0));
      } else if (lower.on_face) {
        if (below && lower.condition == Condition::dirichlet)
          rewriting.add(field, axis, set(-1, lower.value));
        if (above && upper.condition == Condition::dirichlet)
          rewriting.add(field, axis, set(n - 1, upper.value));
      } else {
        if (below) rewriting.add(field, axis, mirrored(-1, 0, lower));
        if (above) rewriting.add(field, axis, mirrored(n, n - 1, upper));
      }
    }
    rewriting.launch();
    halo_.fill(fields, axis);
  }
}

void BatchGhosts::close(const VelocityViews& velocity) {
  Rewriting rewriting;
  for (int c = 0; c < k_components; ++c) {
    const auto& [lower, upper] = rules_[c][c];
    const FieldView& field = velocity[c];
    const int n = cells_along(field, c);
    if (lower.condition == Condition::periodic) {
      if (!domain_.is_cut(c)) rewriting.add(field, c, copied(-1, n - 1));
    } else {
      const bool lower_is_set = lower.condition == Condition::dirichlet;
      const bool upper_is_set = upper.condition == Condition::dirichlet;
      if (domain_.ends(c, 0))
        rewriting.add(field, c, lower_is_set ? set(-1, lower.value) : copied(-1, 0));
      if (domain_.ends(c, 1))
        rewriting.add(field, c, upper_is_set ? set(n - 1, upper.value) : copied(n - 1, n - 2));
    }
  }
  rewriting.launch();
  for (int c = 0; c < k_components; ++c)
    for (int end = 0; end < 2; ++end) {
      const FieldView& offset = outflow_.offset(c, end);
      if (!offset.first) continue;
      const int at = end == 0 ? -1 : cells_along(velocity[c], c) - 1;
      add_cells(layers(velocity[c], c, {at, at + 1}), offset);
    }
  for (int c = 0; c < k_components; ++c) halo_.fill({&velocity[c], 1}, c);
}

}  // namespace octant::dns
