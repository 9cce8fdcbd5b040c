#include "bench/slab_poisson.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "comm/exchanger.hpp"
#include "comm/reproducible_sum.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::bench {

namespace {

// Decomposition into slabs of whole planes along z, and the time spent in the parts of a solve.
class Slab {
 public:
  Slab(const Communicator& communicator, int cells)
      : communicator_(communicator),
        cells_(cells),
        planes_(pencil::part(cells, communicator.size(), communicator.rank())),
        plan_(make_plan()),
        exchanger_("slab planes", communicator, {.exchange = Backend::p2p}),
        sent_(2 * plane()),
        received_(2 * plane()) {}

  int cells() const { return cells_; }
  int planes() const { return planes_.count(); }
  int first_plane() const { return planes_.begin; }
  std::size_t row() const { return static_cast<std::size_t>(cells_) + 2; }
  std::size_t plane() const { return row() * row(); }

  // Assigns the time since the last call to a part of the solve.
  void restart() { clock_.restart(); }
  void lap(double& part) {
    part += clock_.seconds();
    clock_.restart();
  }

  // Fills the ghost planes from planes that are complete along x and y. Collective.
  void exchange_planes(double* first) {
    lap(compute_seconds);
    double* last = first + (planes() - 1) * plane();
    // In the order of the segments: towards lower ranks first, unless the ring closes.
    const bool wraps = lower() > upper();
    std::copy_n(wraps ? last : first, plane(), sent_.data());
    std::copy_n(wraps ? first : last, plane(), sent_.data() + plane());
    exchanger_.run<double>(plan_, sent_.data(), received_.data(), static_cast<int>(plane()));
    // A rank that is the neighbour on both sides sends its first plane before its last one.
    const bool from_upper = wraps || lower() == upper();
    std::copy_n(received_.data(), plane(), from_upper ? last + plane() : first - plane());
    std::copy_n(received_.data() + plane(), plane(), from_upper ? first - plane() : last + plane());
    lap(exchange_seconds);
  }

  // Sum over all ranks of one term per plane; the same bits on any number of ranks. Collective.
  double sum(const std::vector<double>& terms) {
    lap(compute_seconds);
    const double total = reproducible_sum(communicator_, terms);
    lap(reduction_seconds);
    return total;
  }

  std::int64_t bytes_sent() const {
    std::int64_t bytes = 0;
    for (const ExchangeCount& count : exchanger_.report()) bytes += count.bytes;
    return bytes;
  }

  double compute_seconds = 0.0, exchange_seconds = 0.0, reduction_seconds = 0.0;

 private:
  int lower() const {
    return (communicator_.rank() + communicator_.size() - 1) % communicator_.size();
  }
  int upper() const { return (communicator_.rank() + 1) % communicator_.size(); }

  ExchangePlan make_plan() const {
    std::vector<Segment> partners;
    count_items(partners, std::min(lower(), upper()));
    count_items(partners, std::max(lower(), upper()));
    return {communicator_, partners, partners};
  }

  Communicator communicator_;
  int cells_;
  pencil::Range planes_;
  ExchangePlan plan_;
  Exchanger exchanger_;
  std::vector<double> sent_, received_;
  Clock clock_;
};

// Field on a slab with one ghost cell on all sides.
class SlabField {
 public:
  explicit SlabField(Slab& slab) : slab_(&slab), values_((slab.planes() + 2) * slab.plane(), 0.0) {}

  // Cell 0 of a row; ghosts have the indices -1 and `cells`.
  double* row(int k, int j) { return values_.data() + offset(k, j); }
  const double* row(int k, int j) const { return values_.data() + offset(k, j); }

  // Fills all ghosts periodically. Collective.
  void fill_ghosts() {
    const int n = slab_->cells();
    for (int k = 0; k < slab_->planes(); ++k) {
      for (int j = 0; j < n; ++j) {
        double* cells = row(k, j);
        cells[-1] = cells[n - 1];
        cells[n] = cells[0];
      }
      std::copy_n(row(k, n - 1) - 1, slab_->row(), row(k, -1) - 1);
      std::copy_n(row(k, 0) - 1, slab_->row(), row(k, n) - 1);
    }
    slab_->exchange_planes(values_.data() + slab_->plane());
  }

 private:
  std::size_t offset(int k, int j) const {
    return (k + 1) * slab_->plane() + (j + 1) * slab_->row() + 1;
  }

  Slab* slab_;
  std::vector<double> values_;
};

// Sum of the six neighbours of cell i.
struct Neighbours {
  const double *centre, *south, *north, *below, *above;
  Neighbours(const SlabField& field, int k, int j)
      : centre(field.row(k, j)),
        south(field.row(k, j - 1)),
        north(field.row(k, j + 1)),
        below(field.row(k - 1, j)),
        above(field.row(k + 1, j)) {}
  double sum(int i) const {
    return centre[i - 1] + centre[i + 1] + south[i] + north[i] + below[i] + above[i];
  }
};

class SlabSolver {
 public:
  SlabSolver(const Communicator& communicator, const SlabCase& slab_case)
      : case_(slab_case),
        slab_(communicator, slab_case.cells),
        phi_(slab_),
        source_(slab_),
        other_(slab_) {
    set_source();
    if (case_.guess == Guess::random) set_random_guess();
    norm_ = std::sqrt(sum_of([&](int k, int j, int i) { return squared(source_.row(k, j)[i]); }));
    phi_.fill_ghosts();
  }

  SlabResult solve(const Communicator& communicator) {
    SlabResult result;
    slab_.compute_seconds = slab_.exchange_seconds = slab_.reduction_seconds = 0.0;
    const std::int64_t bytes_before = slab_.bytes_sent();
    communicator.barrier();
    const Clock clock;
    slab_.restart();
    result.iterations = iterate();
    slab_.lap(slab_.compute_seconds);
    result.seconds = communicator.max(clock.seconds());
    result.bytes_sent = communicator.max(slab_.bytes_sent() - bytes_before);
    result.compute_seconds = communicator.max(slab_.compute_seconds);
    result.exchange_seconds = communicator.max(slab_.exchange_seconds);
    result.reduction_seconds = communicator.max(slab_.reduction_seconds);
    result.residual = std::sqrt(sum_of([&](int k, int j, int i) {
                        return squared(source_.row(k, j)[i] - laplacian(phi_, k, j, i));
                      })) /
                      norm_;
    result.error = communicator.max(largest_error());
    return result;
  }

 private:
  static double squared(double x) { return x * x; }
  double h2() const { return 1.0 / (1.0 * slab_.cells() * slab_.cells()); }
  double coordinate(int n) const { return (n + 0.5) / slab_.cells(); }
  double exact(int k, int j, int i) const {
    constexpr double k_wave = 2.0 * std::numbers::pi;
    return std::sin(k_wave * coordinate(i)) * std::sin(k_wave * coordinate(j)) *
           std::sin(k_wave * coordinate(slab_.first_plane() + k));
  }
  // h^2 times the discrete Laplacian, as the source.
  static double laplacian(const SlabField& field, int k, int j, int i) {
    const Neighbours near(field, k, j);
    return near.sum(i) - 6.0 * near.centre[i];
  }
  // True for one half of the cells, like the fields of a chessboard.
  bool is_red(int k, int j, int i) const { return (slab_.first_plane() + k + j + i) % 2 == 0; }

  template <class Body>
  void for_each_cell(const Body& body) {
    for (int k = 0; k < slab_.planes(); ++k)
      for (int j = 0; j < slab_.cells(); ++j)
        for (int i = 0; i < slab_.cells(); ++i) body(k, j, i);
  }

  // Sum of a term over all cells; the term may change the cell.
  template <class Term>
  double sum_of(const Term& term) {
    const int n = slab_.cells();
    std::vector<double> planes, columns(n);
    for (int k = 0; k < slab_.planes(); ++k) {
      std::fill(columns.begin(), columns.end(), 0.0);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) columns[i] += term(k, j, i);
      double total = 0.0;
      for (const double column : columns) total += column;
      planes.push_back(total);
    }
    return slab_.sum(planes);
  }

  void set_source() {
    const double amplitude = -12.0 * std::numbers::pi * std::numbers::pi * h2();
    for_each_cell([&](int k, int j, int i) { source_.row(k, j)[i] = amplitude * exact(k, j, i); });
  }

  void set_random_guess() {
    const std::int64_t n = slab_.cells();
    for_each_cell([&](int k, int j, int i) {
      const std::int64_t cell = ((slab_.first_plane() + k) * n + j) * n + i;
      phi_.row(k, j)[i] = RandomStream(1, static_cast<std::uint64_t>(cell), 0).uniform(0);
    });
    double mean[2];
    for (const bool red : {false, true})
      mean[red] = sum_of([&](int k, int j, int i) {
                    return is_red(k, j, i) == red ? phi_.row(k, j)[i] : 0.0;
                  }) *
                  2.0 / static_cast<double>(n * n * n);
    for_each_cell([&](int k, int j, int i) { phi_.row(k, j)[i] -= mean[is_red(k, j, i)]; });
  }

  // Difference from the exact solution, whose mean is 0.
  double largest_error() {
    const double mean =
        sum_of([&](int k, int j, int i) { return phi_.row(k, j)[i]; }) / std::pow(slab_.cells(), 3);
    double largest = 0.0;
    for_each_cell([&](int k, int j, int i) {
      largest = std::max(largest, std::abs(phi_.row(k, j)[i] - mean - exact(k, j, i)));
    });
    return largest;
  }

  int iterate() {
    if (case_.method == IterativeMethod::cg) return conjugate_gradients();
    for (int n = 1;; ++n) {
      const double residual = case_.method == IterativeMethod::jacobi ? jacobi() : red_black();
      if (residual <= case_.tolerance * norm_ || n >= case_.max_iterations) return n;
    }
  }

  // One iteration. Returns the norm of the residual before it, which is six times the change.
  double jacobi() {
    const double changes = sum_of([&](int k, int j, int i) {
      const Neighbours near(phi_, k, j);
      const double value = (near.sum(i) - source_.row(k, j)[i]) * (1.0 / 6.0);
      other_.row(k, j)[i] = value;
      return squared(value - near.centre[i]);
    });
    std::swap(phi_, other_);
    phi_.fill_ghosts();
    return 6.0 * std::sqrt(changes);
  }

  // One iteration. Returns the norm of the residual of the red cells before it: that of the black
  // cells vanishes after each iteration.
  double red_black() {
    std::vector<double> planes;
    for (int k = 0; k < slab_.planes(); ++k) planes.push_back(relax(k, true));
    phi_.fill_ghosts();
    for (int k = 0; k < slab_.planes(); ++k) relax(k, false);
    phi_.fill_ghosts();
    return 6.0 * std::sqrt(slab_.sum(planes));
  }

  // Relaxes the cells of one colour in plane k; returns the sum of their squared changes.
  double relax(int k, bool red) {
    double changes = 0.0;
    for (int j = 0; j < slab_.cells(); ++j) {
      const Neighbours near(phi_, k, j);
      const double* f = source_.row(k, j);
      double* values = phi_.row(k, j);
      for (int i = is_red(k, j, 0) == red ? 0 : 1; i < slab_.cells(); i += 2) {
        const double value = (near.sum(i) - f[i]) * (1.0 / 6.0);
        changes += squared(value - values[i]);
        values[i] = value;
      }
    }
    return changes;
  }

  // Conjugate gradients for the negative Laplacian, which is positive semidefinite. Returns the
  // number of iterations.
  int conjugate_gradients() {
    SlabField& residual = other_;
    SlabField direction(slab_), image(slab_);
    double norm2 = sum_of([&](int k, int j, int i) {
      const double r = laplacian(phi_, k, j, i) - source_.row(k, j)[i];
      residual.row(k, j)[i] = direction.row(k, j)[i] = r;
      return squared(r);
    });
    int n = 0;
    while (std::sqrt(norm2) > case_.tolerance * norm_ && n < case_.max_iterations) {
      ++n;
      direction.fill_ghosts();
      const double curvature = sum_of([&](int k, int j, int i) {
        image.row(k, j)[i] = -laplacian(direction, k, j, i);
        return image.row(k, j)[i] * direction.row(k, j)[i];
      });
      const double step = norm2 / curvature;
      const double next = sum_of([&](int k, int j, int i) {
        phi_.row(k, j)[i] += step * direction.row(k, j)[i];
        residual.row(k, j)[i] -= step * image.row(k, j)[i];
        return squared(residual.row(k, j)[i]);
      });
      const double ratio = next / norm2;
      norm2 = next;
      for_each_cell([&](int k, int j, int i) {
        direction.row(k, j)[i] = residual.row(k, j)[i] + ratio * direction.row(k, j)[i];
      });
    }
    phi_.fill_ghosts();
    return n;
  }

  SlabCase case_;
  Slab slab_;
  SlabField phi_, source_, other_;
  double norm_ = 0.0;
};

}  // namespace

void check_slabs(const SlabCase& slab_case, int ranks) {
  if (slab_case.cells % 2 != 0)
    throw InputError("--cells {}: {} requires an even number of cells", slab_case.cells,
                     name_of(slab_case.method));
  if (slab_case.cells < ranks)
    throw InputError("--cells {}: {} ranks require at least as many planes; use fewer ranks",
                     slab_case.cells, ranks);
}

SlabResult solve_slabs(const Communicator& communicator, const SlabCase& slab_case) {
  check_slabs(slab_case, communicator.size());
  return SlabSolver(communicator, slab_case).solve(communicator);
}

}  // namespace octant::bench
