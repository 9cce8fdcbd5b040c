#include "pencil/batched_lines.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

namespace {

constexpr int k_side_by_side = k_device_is_host ? k_columns : 1;

// Periodic lines on one rank are a partition whose two end rows are the reduced system
// (partition.hpp, reduced_system.hpp): with phi_0 = d_0 + to_first phi_last, the last unknown is
// last_pivot (d_last - from_first d_0 - to_last d_0).
enum Border { k_last_pivot, k_to_last, k_from_first, k_to_first, k_border };

// Values without repetitions, in the order of their first appearance, and where each one went.
struct Distinct {
  explicit Distinct(const std::vector<double>& all) {
    std::map<double, int> known;
    for (const double value : all) {
      const auto [found, is_new] = known.try_emplace(value, static_cast<int>(values.size()));
      if (is_new) values.push_back(value);
      places.push_back(found->second);
    }
  }
  std::vector<double> values;
  std::vector<int> places;
};

struct FactoriseWhole {
  LineMatrices m;
  bool singular;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int l = static_cast<int>(task);
    double r = 0.0;
    for (int n = 0; n < m.planes; ++n) {
      const double diagonal = m.diagonal_of(n, l);
      const double product = n == 0 ? 0.0 : m.before[n] * m.after[n - 1];
      r = pivot_reciprocal(diagonal, product, r);
      const bool is_free = singular && l == 0 && n == m.planes - 1;
      m.reciprocal[m.at(n, l)] = is_free ? 0.0 : r;
    }
  }
};

// Rows 1 .. m - 1 without what couples them to plane 0, then upwards until the rows at both ends
// know each other alone.
struct FactorisePeriodic {
  LineMatrices m;
  bool singular;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int l = static_cast<int>(task), last = m.planes - 1;
    double a = m.before[1], r = 1.0 / m.diagonal_of(1, l);
    keep_row(1, l, a, r);
    for (int n = 2; n <= last; ++n) {
      const double diagonal = m.diagonal_of(n, l), r_before = r;
      a = -m.before[n] * a * r_before;
      r = pivot_reciprocal(diagonal, m.before[n] * m.after[n - 1], r_before);
      keep_row(n, l, a, r);
    }
    const double last_a = m.fill[m.at(last, l)], last_c = m.after[last] * r;
    double first_a = 0.0, first_c = 0.0;
    for (int n = last - 1; n >= 1; --n) {
      const double f = m.fill[m.at(n, l)], C = m.after[n], r_n = m.reciprocal[m.at(n, l)];
      const bool beside_last = n == last - 1;
      first_a = beside_last ? f : f - C * r_n * first_a;
      first_c = beside_last ? C * r_n : -C * r_n * first_c;
    }
    const bool folded = last > 1;
    const double diagonal = m.diagonal_of(0, l);
    const double first_r = 1.0 / (folded ? diagonal - m.after[0] * first_a : diagonal);
    m.reciprocal[m.at(0, l)] = first_r;
    first_c = (folded ? -m.after[0] * first_c : m.after[0]) * first_r;
    first_a = m.before[0] * first_r;
    // The first unknown for a last one of 1, and the last one's own row.
    const double to_first = -first_a + -first_c;
    const double pivot = 1.0 + last_c * to_first + last_a * to_first;
    border(k_to_first, l) = to_first;
    border(k_from_first, l) = last_c;
    border(k_to_last, l) = last_a;
    border(k_last_pivot, l) = singular && l == 0 ? 0.0 : 1.0 / pivot;
  }

 private:
  KOKKOS_FUNCTION void keep_row(int n, int l, double a, double r) const {
    m.reciprocal[m.at(n, l)] = r;
    m.fill[m.at(n, l)] = a * r;
  }
  KOKKOS_FUNCTION double& border(Border which, int l) const { return m.border[m.at(which, l)]; }
};

// Some adjacent lines of a row: task by task all lines of a view.
struct LineTasks {
  FieldView lines;
  int per_row;

  explicit LineTasks(const FieldView& view)
      : lines(view), per_row((view.nx + k_side_by_side - 1) / k_side_by_side) {}

  DeviceTasks all() const { return {0, std::int64_t{per_row} * lines.ny}; }
  KOKKOS_FUNCTION int row(std::int64_t task) const { return static_cast<int>(task / per_row); }
  KOKKOS_FUNCTION int begin(std::int64_t task) const {
    return static_cast<int>(task % per_row) * k_side_by_side;
  }
  KOKKOS_FUNCTION int width(int begin) const {
    if constexpr (k_side_by_side == 1) return 1;  // a constant keeps a thread's values in registers
    return lines.nx - begin < k_side_by_side ? lines.nx - begin : k_side_by_side;
  }
};

struct SolveWhole {
  LineTasks tasks;
  LineMatrices m;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    const int* place = m.x_place + begin;
    const int first = m.y_place[j] * m.distinct_x;
    const auto reciprocals = [&](int n) { return m.reciprocal + m.at(n, first); };
    double other[k_side_by_side];  // of the plane before, or after
    for (int i = 0; i < width; ++i) other[i] = tasks.lines.row(0, j)[begin + i];
    for (int n = 0; n < m.planes; ++n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double* r = reciprocals(n);
      const double a = n == 0 ? 0.0 : m.before[n];
      for (int i = 0; i < width; ++i) d[i] = other[i] = eliminated(d[i], a, other[i], r[place[i]]);
    }
    for (int n = m.planes - 2; n >= 0; --n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double* r = reciprocals(n);
      const double c = m.after[n];
      for (int i = 0; i < width; ++i) d[i] = other[i] = substituted(d[i], c, r[place[i]], other[i]);
    }
  }
};

struct SolvePeriodic {
  LineTasks tasks;
  LineMatrices m;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    double first[k_side_by_side], other[k_side_by_side];
    eliminate(j, begin, width, first, other);
    solve_ends(j, begin, width, first, other);
    const int* place = m.x_place + begin;
    for (int n = m.planes - 2; n >= 1; --n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double *r = of_plane(m.reciprocal, n, j), *f = of_plane(m.fill, n, j);
      const double c = m.after[n];
      for (int i = 0; i < width; ++i) {
        const int l = place[i];
        d[i] = other[i] = substituted_between(d[i], c, other[i], r[l], f[l], first[i]);
      }
    }
  }

 private:
  // A plane of factors from the matrices of row j on.
  KOKKOS_FUNCTION const double* of_plane(const double* factors, int n, int j) const {
    return factors + m.at(n, m.y_place[j] * m.distinct_x);
  }

  // `first` gathers what the planes add to the reduced right-hand side of plane 0; `last` is what
  // the last plane becomes.
  KOKKOS_FUNCTION void eliminate(int j, int begin, int width, double* first, double* last) const {
    const int* place = m.x_place + begin;
    double weight[k_side_by_side];
    for (int i = 0; i < width; ++i) {
      first[i] = 0.0, weight[i] = 1.0;
      last[i] = tasks.lines.row(0, j)[begin + i];
    }
    for (int n = 1; n < m.planes; ++n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double *r = of_plane(m.reciprocal, n, j), *r_before = of_plane(m.reciprocal, n - 1, j);
      const double a = n == 1 ? 0.0 : m.before[n];
      const double c = n == m.planes - 1 ? 0.0 : m.after[n - 1];
      for (int i = 0; i < width; ++i) {
        const int l = place[i];
        d[i] = last[i] = eliminated_unscaled(d[i], a, r_before[l], last[i]);
        weight[i] *= -c * r[l];
        first[i] += weight[i] * last[i];
      }
    }
  }

  // The unknowns of the first and the last plane, in `first`, `last` and their planes.
  KOKKOS_FUNCTION void solve_ends(int j, int begin, int width, double* first, double* last) const {
    double *d_first = tasks.lines.row(0, j) + begin,
           *d_last = tasks.lines.row(m.planes - 1, j) + begin;
    for (int i = 0; i < width; ++i) {
      const int l = m.x_place[begin + i];
      const auto border = [&](Border which) { return of_plane(m.border, which, j)[l]; };
      const double d0 = (first[i] + d_first[i]) * of_plane(m.reciprocal, 0, j)[l] + 0.0;
      const double d1 = last[i] * of_plane(m.reciprocal, m.planes - 1, j)[l];
      last[i] = (d1 - border(k_from_first) * d0 - border(k_to_last) * d0) * border(k_last_pivot);
      first[i] = d0 + border(k_to_first) * last[i];
      d_first[i] = first[i], d_last[i] = last[i];
    }
  }
};

// Plane 0 is the one that is eliminated first.
FieldView in_order_of(Sweep sweep, FieldView lines, int planes) {
  if (sweep == Sweep::up) return lines;
  lines.first = lines.row(planes - 1, 0);
  lines.plane_stride = -lines.plane_stride;
  return lines;
}

}  // namespace

BatchedLines::BatchedLines(const LineShifts& shifts, int planes, bool periodic, bool singular,
                           Sweep sweep)
    : periodic_(periodic), singular_(singular), sweep_(sweep) {
  const Distinct x(shifts.x), y(shifts.y);
  std::vector<int> places = x.places;
  places.insert(places.end(), y.places.begin(), y.places.end());
  std::vector<double> values = x.values;
  values.insert(values.end(), y.values.begin(), y.values.end());
  places_ = on_device("places of lines", places);
  shifts_ = on_device("shifts of lines", values);

  LineMatrices& m = matrices_;
  m.planes = planes;
  m.distinct_x = static_cast<int>(x.values.size());
  m.count = m.distinct_x * static_cast<int>(y.values.size());
  m.x_place = places_.data(), m.y_place = m.x_place + x.places.size();
  m.x_shift = shifts_.data(), m.y_shift = m.x_shift + m.distinct_x;
  planes_ = uninitialised<double>("coefficients of planes", 3 * planes);
  m.before = planes_.data(), m.diagonal = m.before + planes, m.after = m.diagonal + planes;
  const std::size_t size = static_cast<std::size_t>(planes) * m.count;
  factors_ =
      uninitialised<double>("factors of lines", periodic ? 2 * size + k_border * m.count : size);
  m.reciprocal = factors_.data();
  if (periodic) m.fill = m.reciprocal + size, m.border = m.fill + size;
}

void BatchedLines::set_operator(const TridiagonalMatrix& matrix, double identity,
                                double laplacian) {
  LineMatrices& m = matrices_;
  OCTANT_REQUIRE(matrix.size() == m.planes && matrix.periodic == periodic_,
                 "a matrix of {} planes is given to a solver of {}", matrix.size(), m.planes);
  const PlaneCoefficients planes(matrix, {0, m.planes}, sweep_, identity, laplacian);
  std::vector<double> all = planes.before;
  all.insert(all.end(), planes.diagonal.begin(), planes.diagonal.end());
  all.insert(all.end(), planes.after.begin(), planes.after.end());
  copy_to_device(all, planes_);
  m.shift_factor = planes.shift_factor;

  const bool singular = singular_ && planes.homogeneous;
  const DeviceTasks tasks(0, m.count);
  if (periodic_) Kokkos::parallel_for("pencil: factors", tasks, FactorisePeriodic{m, singular});
  else Kokkos::parallel_for("pencil: factors", tasks, FactoriseWhole{m, singular});
}

void BatchedLines::solve(const FieldView& lines) const {
  const LineTasks tasks(in_order_of(sweep_, lines, matrices_.planes));
  if (periodic_)
    Kokkos::parallel_for("pencil: lines", tasks.all(), SolvePeriodic{tasks, matrices_});
  else Kokkos::parallel_for("pencil: lines", tasks.all(), SolveWhole{tasks, matrices_});
}

}  // namespace octant::pencil
