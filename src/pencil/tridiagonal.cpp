#include "pencil/tridiagonal.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "pencil/batched_lines.hpp"
#include "pencil/line_solver.hpp"

namespace octant::pencil {

ThomasFactors::ThomasFactors(const TridiagonalMatrix& matrix, Sweep sweep) {
  OCTANT_REQUIRE(!matrix.periodic, "the Thomas algorithm alone cannot solve periodic systems");
  const int n = matrix.size();
  const PlaneCoefficients coefficients(matrix, {0, n}, sweep, 0.0, 1.0);
  lower.resize(n), reciprocal.resize(n), back.resize(n);
  for (int m = 0; m < n; ++m) {
    const int k = sweep == Sweep::up ? m : n - 1 - m, before = sweep == Sweep::up ? k - 1 : k + 1;
    const double product =
        m == 0 ? 0.0 : coefficients.before[m] * coefficients.after[m - 1] * reciprocal[before];
    lower[k] = coefficients.before[m];
    reciprocal[k] = 1.0 / (coefficients.diagonal[m] - product);
    back[k] = coefficients.after[m] * reciprocal[k];
  }
}

namespace {

// Returns the planes among the first `unknown_planes` of the grid that a rank of the column holds.
Range unknown_planes_of(const PencilGrid& grid, int unknown_planes, int z_index) {
  const Box box = grid.box(Orientation::x, grid.rank_of(grid.y_index(), z_index));
  return intersection(box[2], {0, unknown_planes});
}

}  // namespace

void check_planes(const TridiagonalMatrix& matrix, int cells) {
  const int planes = matrix.size();
  OCTANT_REQUIRE(planes >= (matrix.periodic ? 2 : 1) && planes <= cells,
                 "a matrix of {} planes does not match {} cells along z", planes, cells);
}

void check_ptdma_planes(const PencilGrid& grid, int unknown_planes) {
  const int parts = grid.processes().z;
  if (parts == 1) return;
  for (int n = 0; n < parts; ++n) {
    const int count = unknown_planes_of(grid, unknown_planes, n).count();
    if (count >= 2) continue;
    throw InputError(
        "dns.poisson = \"ptdma\" requires at least 2 planes on every rank along z; with "
        "grid.process_grid = \"{}\" and {} planes, the ranks at position {} along z have {}: use "
        "fewer ranks along z, or \"ftm\"",
        to_string(grid.processes()), unknown_planes, n, count);
  }
}

struct FieldTridiagonal::State {
  int planes;  // number of this rank's unknown planes
  Sweep sweep;
  Communicator column;
  TridiagonalOptions options;
  std::unique_ptr<LineSolver<SharedMatrix>> solver;

  static Planes planes_of(Field& field, int plane_offset) {
    return {field.row(0, 0, plane_offset), field.plane_stride()};
  }
  int sweep_number(int k) const { return sweep == Sweep::up ? k : planes - 1 - k; }
};

LineProblem<SharedMatrix> field_lines(const PencilGrid& grid, int unknown_planes, bool periodic,
                                      const TridiagonalOptions& options) {
  const Box box = grid.box(Orientation::x);
  const FieldLayout field(box);
  const auto planes_of = [grid, unknown_planes](int z_index) {
    return unknown_planes_of(grid, unknown_planes, z_index);
  };
  const std::vector<double> zeros(unknown_planes);
  return {grid.column(),
          planes_of,
          {{box[0], box[1], planes_of(grid.z_index())},
           {1, field.row_stride, field.plane_stride},
           std::max(field.nx, 1),
           0},
          {field.ny, field.nx, field.row_stride, field.plane_stride},
          {},
          [](Range, Range) { return SharedMatrix{}; },
          {zeros, zeros, zeros, periodic},
          false,
          options,
          options.memory ? options.memory : std::make_shared<SolverMemory>()};
}

FieldTridiagonal::FieldTridiagonal(const PencilGrid& grid, int unknown_planes, bool periodic,
                                   const TridiagonalOptions& options) {
  if (options.method == TridiagonalMethod::ptdma) check_ptdma_planes(grid, unknown_planes);
  const int planes = unknown_planes_of(grid, unknown_planes, grid.z_index()).count();
  state_.reset(new State{planes, options.sweep, grid.column(), options,
                         make_line_solver(field_lines(grid, unknown_planes, periodic, options))});
}

FieldTridiagonal::~FieldTridiagonal() = default;
FieldTridiagonal::FieldTridiagonal(FieldTridiagonal&&) noexcept = default;
FieldTridiagonal& FieldTridiagonal::operator=(FieldTridiagonal&&) noexcept = default;

void FieldTridiagonal::set_matrix(const TridiagonalMatrix& matrix) {
  state_->solver->set_operator(matrix, 0.0, 1.0);
}

void FieldTridiagonal::forward(const Team& team, Field& field, int k, int plane_offset) {
  if (k < state_->planes)
    state_->solver->forward(team, State::planes_of(field, plane_offset), state_->sweep_number(k),
                            field.row(k, 0, plane_offset));
}

void FieldTridiagonal::exchange(Field& field, int plane_offset) {
  state_->solver->exchange(State::planes_of(field, plane_offset));
}

void FieldTridiagonal::backward(const Team& team, Field& field, int k, int plane_offset,
                                int to_offset) {
  double* target = field.row(k, 0, to_offset);
  if (k < state_->planes) {
    const double* after = field.row(state_->sweep == Sweep::up ? k + 1 : k - 1, 0, to_offset);
    state_->solver->backward(team, State::planes_of(field, plane_offset), state_->sweep_number(k),
                             target, after, target);
    return;
  }
  const double* plane = field.row(k, 0, plane_offset);
  if (plane == target) return;
  const std::ptrdiff_t stride = field.row_stride();
  const Range rows = team.share(field.ny());
  for (int j = rows.begin; j < rows.end; ++j)
    std::copy_n(plane + j * stride, field.nx(), target + j * stride);
}

void FieldTridiagonal::solve(Field& field, int plane_offset, int to_offset) {
  const bool up = state_->sweep == Sweep::up;
  const int nz = field.nz();
  in_team("pencil: eliminate", [&](const Team& team) {
    for (int n = 0; n < nz; ++n) forward(team, field, up ? n : nz - 1 - n, plane_offset);
  });
  exchange(field, plane_offset);
  in_team("pencil: substitute", [&](const Team& team) {
    for (int n = 0; n < nz; ++n)
      backward(team, field, up ? nz - 1 - n : n, plane_offset, to_offset);
  });
}

TransposeTraffic FieldTridiagonal::traffic() const { return state_->solver->traffic(); }

FieldTridiagonals::FieldTridiagonals(std::span<FieldTridiagonal> solvers) : solvers_(solvers) {
  const FieldTridiagonal::State& any = *solvers.front().state_;
  if (!JoinedLines::fits(any.options, any.column)) return;
  std::vector<ReducedLines*> reduced;
  for (const FieldTridiagonal& solver : solvers)
    reduced.push_back(solver.state_->solver->reduced());
  joined_ = std::make_unique<JoinedLines>(any.column, reduced, any.options.backend);
}

FieldTridiagonals::~FieldTridiagonals() = default;

void FieldTridiagonals::exchange(std::span<Field* const> fields, int plane_offset) {
  if (!joined_) {
    for (std::size_t n = 0; n < solvers_.size(); ++n)
      solvers_[n].exchange(*fields[n], plane_offset);
    return;
  }
  std::vector<Planes> planes;
  for (Field* field : fields)
    planes.push_back(FieldTridiagonal::State::planes_of(*field, plane_offset));
  joined_->exchange(planes);
}

TransposeTraffic FieldTridiagonals::traffic() const {
  TransposeTraffic sum;
  for (const FieldTridiagonal& solver : solvers_) sum += solver.traffic();
  if (joined_) sum += joined_->traffic();
  return sum;
}

// --- all planes at once --------------------------------------------------------------------------

CommOptions options_of_batches(TransposeBackend backend, const CommOptions& comm) {
  CommOptions options = comm;
  switch (backend) {
    case TransposeBackend::alltoall: options.exchange = Backend::alltoall; break;
    case TransposeBackend::ksection: options.exchange = Backend::ksection; break;
    default: options.exchange = Backend::p2p;
  }
  return options;
}

BatchedOptions with_memory(BatchedOptions options) {
  if (!options.memory) options.memory = std::make_shared<BatchedMemory>();
  return options;
}

BatchedLinesProblem problem_of_lines(const PencilGrid& grid, int planes, bool periodic,
                                     bool singular, const LineShifts& shifts,
                                     const BatchedOptions& options) {
  if (options.method == TridiagonalMethod::ptdma) check_ptdma_planes(grid, planes);
  const auto planes_of = [grid, planes](int z_index) {
    return unknown_planes_of(grid, planes, z_index);
  };
  return {grid.column(), planes_of,      planes,        periodic,     singular,
          shifts,        options.method, options.sweep, options.comm, options.memory};
}

namespace {

// Returns the problem of whole lines in z_direct pencils, which needs no other rank.
BatchedLinesProblem problem_of_whole_lines(const PencilGrid& grid, int planes, bool periodic,
                                           const LineShifts& shifts,
                                           const BatchedOptions& options) {
  const Communicator& all = grid.communicator();
  return {all.split(all.rank()),
          [planes](int) {
            return Range{0, planes};
          },
          planes,
          periodic,
          false,
          shifts,
          options.method,
          options.sweep,
          options.comm,
          options.memory};
}

}  // namespace

BatchedTridiagonal::BatchedTridiagonal(const PencilGrid& grid, int planes, bool periodic,
                                       const BatchedOptions& given) {
  const BatchedOptions options = with_memory(given);
  const Cells own = grid.box(options.fields).shape();
  const LineShifts none{std::vector<double>(own[0]), std::vector<double>(own[1])};
  const bool whole = options.fields == Orientation::z_direct;
  lines_ = make_batched_line_solver(
      whole ? problem_of_whole_lines(grid, planes, periodic, none, options)
            : problem_of_lines(grid, planes, periodic, false, none, options));
}

BatchedTridiagonal::~BatchedTridiagonal() = default;
BatchedTridiagonal::BatchedTridiagonal(BatchedTridiagonal&&) noexcept = default;
BatchedTridiagonal& BatchedTridiagonal::operator=(BatchedTridiagonal&&) noexcept = default;

void BatchedTridiagonal::set_matrix(const TridiagonalMatrix& matrix) {
  lines_->set_operator(matrix, 0.0, 1.0);
}

void BatchedTridiagonal::solve(const FieldView& field) { lines_->solve(field); }

TransposeTraffic BatchedTridiagonal::traffic() const { return lines_->traffic(); }

}  // namespace octant::pencil
