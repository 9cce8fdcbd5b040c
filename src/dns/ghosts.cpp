#include "dns/ghosts.hpp"

#include <algorithm>

namespace octant::dns {

namespace {

// Applies an operation to a whole row, ghosts included, or to all rows of a plane.
void set_row(double* row, int nx, double value) { std::fill(row - 1, row + nx + 1, value); }

void set_sum(double* row, const double* one, const double* other, int nx) {
  for (int i = 0; i < nx; ++i) row[i] = one[i] + other[i];
}

// ghost = 2 value - inside, or = inside.
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
        rules[c][axis][end] = {boundaries.of_velocity(c, axis, end),
                               boundaries.velocity(axis, end)[c], c == axis};
      rules[k_pressure][axis][end] = {boundaries.of_pressure(axis, end), 0.0, false};
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
  // Rows lie in messages twice over, sent and received: two fields at a time take half of that.
  for (std::size_t first = 0; first < count; first += 2)
    halo_.fill_y(exchanged.subspan(first, std::min<std::size_t>(2, count - first)));
  for (const auto& [field, quantity] : all) {
    Field* one[] = {field};
    halo_.fill_y(one, domain_.first(quantity, 2), 0, 0);
    fill_z_sides(quantity, *field);
  }
  halo_.fill_z(exchanged);
}

void Ghosts::close_x(Field& u, int k, int j, int slide) const {
  const int nx = domain_.nx;
  double* u_row = u.row(k, j, slide);
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

void Ghosts::close_y(Field& v, int k, int slide, int end) const {
  const int nx = domain_.nx, ny = domain_.ny;
  if (end == 0 && domain_.boundaries.periodic(1) && !domain_.is_cut(1))
    v.copy_row(k, -1, ny - 1, slide);
  if (!domain_.ends(1, end)) return;
  const GhostRule& r = rule(k_v, 1, end);
  const int boundary = end == 0 ? -1 : ny - 1, inside = end == 0 ? 0 : ny - 2;
  double* row = v.row(k, boundary, slide);
  if (r.condition == Condition::dirichlet) set_row(row, nx, r.value);
  else set_sum(row, v.row(k, inside, slide), outflow_.offset(1, end).row(k, 0), nx);
}

void Ghosts::close_z(Field& w, int end, int slide, Range rows) const {
  if (!domain_.ends(2, end)) return;
  const int nx = domain_.nx, nz = domain_.nz;
  const GhostRule& r = rule(k_w, 2, end);
  const int boundary = end == 0 ? -1 : nz - 1, inside = end == 0 ? 0 : nz - 2;
  for (int j = rows.begin; j < rows.end; ++j) {
    double* row = w.row(boundary, j, slide);
    if (r.condition == Condition::dirichlet) set_row(row, nx, r.value);
    else set_sum(row, w.row(inside, j, slide), outflow_.offset(2, end).row(0, j), nx);
  }
}

void Ghosts::exchange_prediction(State& state, int slide) {
  Field* v[] = {&state.v};
  Field* w[] = {&state.w};
  if (domain_.is_cut(1)) halo_.fill_y(v, slide);
  halo_.fill_z(w, slide);
}

void Ghosts::exchange_y(Field& field) {
  Field* one[] = {&field};
  halo_.fill_y(one);
}

void Ghosts::exchange_z(Field& field) {
  Field* one[] = {&field};
  halo_.fill_z(one);
}

}  // namespace octant::dns
