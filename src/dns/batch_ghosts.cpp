#include "dns/batch_steps.hpp"

#include "core/error.hpp"
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

// One launch rewrites entries of several fields along one axis. Points of the other two axes are
// numbered with their ghosts.
struct FieldRewrite {
  FieldView field;
  Rewrite rule;
};

struct RewriteCells {
  double* to;
  const double* from;
  std::ptrdiff_t stride;
  double factor, offset;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    to[i * stride] = factor == 0.0 ? offset : offset + factor * from[i * stride];
  }
};

class Rewriting {
 public:
  explicit Rewriting(int axis) : axis_(axis) {}

  void add(const FieldView& field, const Rewrite& rule) {
    OCTANT_REQUIRE(count_ < k_most, "more than {} ghosts are filled at once", k_most);
    items_[count_++] = {field, rule};
  }
  void launch() const {
    if (count_ == 0) return;
    const FieldView& f = items_[0].field;
    const int along = axis_ == 0 ? f.ny : f.nx, across = axis_ == 2 ? f.ny : f.nz;
    launch_cells("dns: ghosts", {along + 2, across + 2, count_}, *this);
  }

  KOKKOS_FUNCTION RewriteCells operator()(int n, int row) const {
    const FieldView& f = items_[n].field;
    const Rewrite& r = items_[n].rule;
    const auto stride = [&](int axis) -> std::ptrdiff_t {
      return axis == 0 ? 1 : axis == 1 ? f.row_stride : f.plane_stride;
    };
    const std::ptrdiff_t own = stride(axis_), along = stride(axis_ == 0 ? 1 : 0);
    double* first = f.first - along + (row - 1) * stride(axis_ == 2 ? 1 : 2);
    return {first + r.to * own, first + r.from * own, along, r.factor, r.offset};
  }

 private:
  static constexpr int k_most = 8;
  FieldRewrite items_[k_most];
  int axis_, count_ = 0;
};

int cells_along(const FieldView& field, int axis) {
  return axis == 0 ? field.nx : axis == 1 ? field.ny : field.nz;
}

}  // namespace

BatchGhosts::BatchGhosts(const Domain& domain, const CommOptions& comm, const ScalarSides& scalar)
    : domain_(domain),
      rules_(ghost_rules(domain.boundaries, scalar)),
      halo_(domain.pencils, domain.boundaries.periodic(1), domain.boundaries.periodic(2), comm) {}

// Along x, y and z in this order, so that edges and corners are right.
void BatchGhosts::fill(std::span<const GhostedView> all) {
  std::vector<FieldView> fields;
  for (const auto& [field, quantity] : all) fields.push_back(field);
  for (int axis = 0; axis < 3; ++axis) {
    const bool below = domain_.ends(axis, 0), above = domain_.ends(axis, 1);
    Rewriting rewriting(axis);
    for (const auto& [field, quantity] : all) {
      const auto& [lower, upper] = rules_[quantity][axis];
      const int n = cells_along(field, axis);
      if (lower.condition == Condition::periodic) {
        if (domain_.is_cut(axis)) continue;
        rewriting.add(field, copied(-1, n - 1));
        rewriting.add(field, copied(n, 0));
      } else if (lower.on_face) {
        if (below && lower.condition == Condition::dirichlet)
          rewriting.add(field, set(-1, lower.value));
        if (above && upper.condition == Condition::dirichlet)
          rewriting.add(field, set(n - 1, upper.value));
      } else {
        if (below) rewriting.add(field, mirrored(-1, 0, lower));
        if (above) rewriting.add(field, mirrored(n, n - 1, upper));
      }
    }
    rewriting.launch();
    halo_.fill(fields, axis);
  }
}

void BatchGhosts::close(const FieldView& field, int component) {
  const auto& [lower, upper] = rules_[component][component];
  const int n = cells_along(field, component);
  Rewriting rewriting(component);
  if (lower.condition == Condition::periodic) {
    if (!domain_.is_cut(component)) rewriting.add(field, copied(-1, n - 1));
  } else {
    const bool lower_is_set = lower.condition == Condition::dirichlet;
    const bool upper_is_set = upper.condition == Condition::dirichlet;
    if (domain_.ends(component, 0))
      rewriting.add(field, lower_is_set ? set(-1, lower.value) : copied(-1, 0));
    if (domain_.ends(component, 1))
      rewriting.add(field, upper_is_set ? set(n - 1, upper.value) : copied(n - 1, n - 2));
  }
  rewriting.launch();
  halo_.fill({&field, 1}, component);
}

}  // namespace octant::dns
