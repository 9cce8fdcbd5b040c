#include "dns/batch_steps.hpp"

#include "dns/kernel_launch.hpp"

namespace octant::dns {

namespace {

struct Addition {
  double* values;
  double amount;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { values[i] += amount; }
};

struct AdditionRows {
  FieldView field;
  double amount;
  KOKKOS_FUNCTION Addition operator()(int k, int j) const { return {field.row(k, j), amount}; }
};

// Adds a multiple of other cells.
struct ScaledAddition {
  double* values;
  const double* others;
  double factor;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const { values[i] += factor * others[i]; }
};

struct ScaledAdditionRows {
  FieldView field, others;
  double factor;
  KOKKOS_FUNCTION ScaledAddition operator()(int k, int j) const {
    return {field.row(k, j), others.row(k, j), factor};
  }
};

}  // namespace

void add_to_cells(const FieldView& field, double amount) {
  if (amount == 0.0) return;
  launch_cells("dns: sources", {field.nx, field.ny, field.nz}, AdditionRows{field, amount});
}

void add_beside(const FieldView& field, int axis, int end, double amount) {
  const int cells[] = {field.nx, field.ny, field.nz};
  const int at = end == 0 ? 0 : cells[axis] - 1;
  add_to_cells(layers(field, axis, {at, at + 1}), amount);
}

void add_cells(const FieldView& field, const FieldView& others, double factor) {
  launch_cells("dns: sources", {field.nx, field.ny, field.nz},
               ScaledAdditionRows{field, others, factor});
}

FieldView layers(const FieldView& field, int axis, Range range) {
  Range cells[] = {{0, field.nx}, {0, field.ny}, {0, field.nz}};
  cells[axis] = range;
  return part_of(field, cells[0], cells[1], cells[2]);
}

BatchDiffusion::BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced,
                               const pencil::BatchedOptions& options)
    : domain_(domain),
      along_all_(diffusion == Diffusion::implicit_all),
      forced_(forced),
      pushed_before_(along_all_ && forced >= 0 &&
                     !(domain.boundaries.periodic(0) && domain.boundaries.periodic(1))) {
  const Grid& grid = domain.grid;
  for (int c = 0; c < k_components; ++c) {
    second_derivative_[c] = velocity_z_matrix(grid, domain.boundaries, c);
    if (along_all_)
      solvers_.emplace_back(domain.pencils, velocity_problem(grid, domain.boundaries, c), options);
    else lines_.emplace_back(domain.pencils, grid.cells[2], domain.boundaries.periodic(2), options);
  }
}

void BatchDiffusion::set_factor(double factor) {
  if (factor == factor_) return;
  factor_ = factor;
  for (int c = 0; c < k_components; ++c) {
    pencil::TridiagonalMatrix matrix = helmholtz(second_derivative_[c], -factor);
    if (c == forced_ && !pushed_before_) response_ = response_to_one(matrix);
    if (along_all_) {
      solvers_[c].set_operator(1.0, -factor);
    } else {
      keep_last_planes(matrix, domain_.grid.cells[2]);
      lines_[c].set_matrix(matrix);
    }
  }
}

void BatchDiffusion::solve(const VelocityViews& predicted, const Outflow<Place::device>& outflow,
                           double push) {
  for (int c = 0; c < k_components; ++c) {
    add_sources(predicted[c], outflow, c);
    if (pushed_before_ && c == forced_) add_to_cells(predicted[c], push);
    if (along_all_) solvers_[c].solve(predicted[c]);
    else lines_[c].solve(predicted[c]);
  }
}

// In the order of BoundarySources, so that edges have its bits.
void BatchDiffusion::add_sources(const FieldView& field, const Outflow<Place::device>& outflow,
                                 int component) const {
  const FieldView unknowns =
      part_of(field, {0, domain_.unknowns(component, 0)}, {0, domain_.unknowns(component, 1)},
              {0, domain_.unknowns(component, 2)});
  for (int end = 0; end < 2; ++end) {
    for (int axis = 2; axis >= (along_all_ ? 0 : 2); --axis)
      add_beside(unknowns, axis, end, factor_ * boundary_source(domain_, component, axis, end));
    const FieldView& offset = outflow.offset(component, end);
    if (!offset.first || (component != k_w && !along_all_)) continue;
    const int at = end == 0 ? 0 : domain_.unknowns(component, component) - 1;
    add_cells(layers(field, component, {at, at + 1}), offset,
              factor_ * outflow_weight(domain_.grid, component, end));
  }
}

pencil::PoissonReport BatchDiffusion::report() const {
  pencil::PoissonReport sum;
  for (const pencil::BatchedPoisson& solver : solvers_) sum += solver.report();
  for (const pencil::BatchedTridiagonal& lines : lines_) sum.z += lines.traffic();
  return sum;
}

}  // namespace octant::dns
