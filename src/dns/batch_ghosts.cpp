#include "dns/batch_steps.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "dns/kernel_launch.hpp"

namespace octant::dns {

namespace {

// What becomes of entry `to` along an axis: offset + factor times entry `from`.
struct Rewrite {
  int to, from;
  double factor, offset;
};

// Adding this zero alters no number, not even a zero's sign.
constexpr double k_nothing = -0.0;

Rewrite copied(int to, int from) { return {to, from, 1.0, k_nothing}; }
Rewrite set(int to, double value) { return {to, to, 0.0, value}; }
Rewrite mirrored(int to, int from, const GhostRule& rule) {
  if (rule.condition == Condition::dirichlet) return {to, from, -1.0, 2.0 * rule.value};
  return {to, from, 1.0, 0.0};
}

// One launch rewrites entries of several fields, each along an axis. Points of the other two axes
// are numbered with their ghosts.
struct FieldRewrite {
  FieldView field;
  int axis;
  Rewrite rule;
};

struct RewriteCells {
  double* to;
  const double* from;
  std::ptrdiff_t stride;
  int cells;  // others along the row are none of the field's
  double factor, offset;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    if (i < cells) to[i * stride] = factor == 0.0 ? offset : offset + factor * from[i * stride];
  }
};

class Rewriting {
 public:
  void add(const FieldView& field, int axis, const Rewrite& rule) {
    OCTANT_REQUIRE(count_ < k_most, "more than {} ghosts are filled at once", k_most);
    items_[count_++] = {field, axis, rule};
    cells_ = std::max(cells_, points_along(field, axis));
    rows_ = std::max(rows_, points_across(field, axis));
    values_ += std::int64_t{points_along(field, axis)} * points_across(field, axis);
  }
  void launch() const {
    if (count_ == 0) return;
    announce_kernel("dns: ghosts", values_, {16.0, 2.0});
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
  // In the plane across an axis, with ghosts: in a row, and how many rows.
  KOKKOS_FUNCTION static int points_along(const FieldView& f, int axis) {
    return (axis == 0 ? f.ny : f.nx) + 2;
  }
  KOKKOS_FUNCTION static int points_across(const FieldView& f, int axis) {
    return (axis == 2 ? f.ny : f.nz) + 2;
  }

  static constexpr int k_most = 8;
  FieldRewrite items_[k_most];
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
      halo_(domain.pencils, domain.boundaries.periodic(1), domain.boundaries.periodic(2), comm),
      outflow_(outflow) {}

// Along x, y and z in this order, so that edges and corners are right.
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
