#include "bench/fmm_bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/nested_mesh.hpp"
#include "comm/reproducible_sum.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "gravity/fmm_arithmetic.hpp"
#include "gravity/fmm_tree.hpp"
#include "gravity/gravity.hpp"

namespace octant::bench {

namespace {

namespace fmm = gravity::fmm;
using Place = std::array<double, 3>;

// --- mass distribution -------------------------------------------------------------------------

struct Star {
  Place centre;
  double radius, density;
};
constexpr Star k_stars[] = {{{0.41, 0.52, 0.47}, 0.14, 1.0}, {{0.71, 0.57, 0.55}, 0.07, 3.0}};

// The density of every cell is multiplied by a random number.
double density(const Place& x, double h) {
  double rho = 1e-8;
  for (const Star& star : k_stars) {
    double square = 0.0;
    for (int d = 0; d < 3; ++d)
      square += (x[d] - star.centre[d]) * (x[d] - star.centre[d]) / (star.radius * star.radius);
    if (square < 1.0) rho += star.density * std::pow(1.0 - square, 1.5);
  }
  std::uint64_t key = 0;
  for (int d = 0; d < 3; ++d) key = key << 20 | static_cast<std::uint64_t>(x[d] / h);
  return rho * (0.1 + 1.8 * RandomStream(1, key, 0).uniform(0));
}

// Returns true if a cube touches a star, or, on the second level, the core of the larger star.
bool touches_star(int level, const Place& centre, double side) {
  for (const Star& star : k_stars) {
    const double radius = level > 0 && star.radius > 0.1 ? 0.06 : star.radius;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double outside = std::max(0.0, std::abs(star.centre[d] - centre[d]) - 0.5 * side);
      square += outside * outside;
    }
    if (square < radius * radius) return true;
  }
  return false;
}

mesh::MeshOptions fmm_mesh_options(const FmmCase& c) {
  mesh::MeshOptions options;
  const bool uniform = c.name == "uniform";
  const int cells = uniform ? 64 : 32;
  options.base_cells = {cells, cells, cells};
  options.block_size = c.block_size;
  options.max_level = uniform ? 0 : 2;
  options.boundary.fill({mesh::Boundary::outflow, mesh::Boundary::outflow});
  return options;
}

gravity::GravityOptions fmm_gravity_options(double theta) {
  gravity::GravityOptions options;
  ParameterSchema schema;
  declare(schema, options);
  schema.read_text(fmt::format("gravity.solver = \"fmm\"\ngravity.theta = {}", theta),
                   "octant bench fmm");
  return options;
}

// Calls visit(level, index of the cell in its block, slot, centre) for own leaf cells.
template <class Visit>
void for_leaf_cells(const mesh::Mesh& mesh, const Visit& visit) {
  const int N = mesh.layout().block_size;
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const double h = mesh.geometry().cell_size(level);
    for (const int slot : mesh.blocks(level).own()) {
      const Place corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      for (int c = 0; c < N * N * N; ++c) {
        const std::array<int, 3> at{c % N, c / N % N, c / N / N};
        Place x;
        int octant = 0;
        for (int d = 0; d < 3; ++d) {
          x[d] = corner[d] + (at[d] + 0.5) * h;
          octant |= (2 * at[d] >= N) << d;
        }
        if (!(mesh.blocks(level).refined(slot) >> octant & 1)) visit(level, c, slot, x);
      }
    }
  }
}

// Residuals |sum m a| / sum |m a|, and the same for r x m a about the centre.
std::array<double, 2> net_force_and_torque(const mesh::Mesh& mesh,
                                           const gravity::Gravity& gravity) {
  std::array<std::vector<double>, 8> terms;
  const mesh::BlockLayout &gas = mesh.layout(), &stored = gravity.stored().layout();
  for_leaf_cells(mesh, [&](int level, int c, int slot, const Place& x) {
    const double mass =
        mesh.geometry().cell_volume(level) *
        mesh.fields(level).blocks(mesh::LevelFields::k_now)[slot * gas.stride_slot + c];
    const double* g = gravity.stored().data(level) + slot * stored.stride_slot +
                      static_cast<int>(gravity::Field::acceleration_x) * stored.stride_variable + c;
    Place f, r;
    for (int d = 0; d < 3; ++d) f[d] = mass * g[d * stored.stride_variable], r[d] = x[d] - 0.5;
    const Place t{r[1] * f[2] - r[2] * f[1], r[2] * f[0] - r[0] * f[2], r[0] * f[1] - r[1] * f[0]};
    for (int d = 0; d < 3; ++d) terms[d].push_back(f[d]), terms[3 + d].push_back(t[d]);
    terms[6].push_back(std::hypot(f[0], f[1], f[2]));
    terms[7].push_back(std::hypot(t[0], t[1], t[2]));
  });
  std::array<double, 8> sum;
  for (int n = 0; n < 8; ++n) sum[n] = reproducible_sum(mesh.communicator(), terms[n]);
  return {std::hypot(sum[0], sum[1], sum[2]) / sum[6], std::hypot(sum[3], sum[4], sum[5]) / sum[7]};
}

// --- operations --------------------------------------------------------------------------------

// Scalar that counts its operations, on the host. Its members are device functions because their
// callers are.
struct Counted {
  double value;
  static inline int operations = 0;

  KOKKOS_FUNCTION Counted(double v = 0.0) : value(v) {}
  KOKKOS_FUNCTION static Counted counted([[maybe_unused]] int n, double v) {
    KOKKOS_IF_ON_HOST((operations += n;))
    return v;
  }
  KOKKOS_FUNCTION friend Counted operator+(Counted a, Counted b) {
    return counted(1, a.value + b.value);
  }
  KOKKOS_FUNCTION friend Counted operator-(Counted a, Counted b) {
    return counted(1, a.value - b.value);
  }
  KOKKOS_FUNCTION friend Counted operator*(Counted a, Counted b) {
    return counted(1, a.value * b.value);
  }
  KOKKOS_FUNCTION friend Counted operator-(Counted a) { return -a.value; }
  KOKKOS_FUNCTION friend Counted fma(Counted a, Counted b, Counted c) {
    return counted(2, a.value * b.value + c.value);
  }
  // Two Newton iterations.
  KOKKOS_FUNCTION friend Counted inverse_root(Counted a) {
    return counted(9, 1.0 / Kokkos::sqrt(a.value));
  }
};
// Returns 1 for every moment of a source, and for every ratio.
struct One {
  KOKKOS_FUNCTION Counted operator()(int) const { return 1.0; }
};

// Interacting pairs of cells per brick of a level: as points, and with a refined target.
struct Pairs {
  double points = 0.0, refined = 0.0, close = 0.0;  // close: part of `refined`
};
Pairs pairs_of(const fmm::BrickLevel& level, double theta) {
  constexpr int P = fmm::k_parents;
  const auto is_near = [&](int x, int y, int z, double factor = 1.0) {
    return (x * x + y * y + z * z) * theta * theta < factor * factor * (1.0 - 1e-12);
  };
  const auto side = [](int i) { return i < 0 ? 0 : i < P ? 1 : 2; };
  Pairs pairs;
  for (int z = -2; z <= 2; ++z)
    for (int y = -2; y <= 2; ++y)
      for (int x = -2; x <= 2; ++x) {
        if (!is_near(x, y, z)) continue;
        int far = 0, close = 0, all = 0;  // of the 64 pairs of children
        for (int s = 0; s < 8; ++s)
          for (int t = 0; t < 8; ++t) {
            const int i = 2 * x + (s & 1) - (t & 1), j = 2 * y + (s >> 1 & 1) - (t >> 1 & 1),
                      k = 2 * z + (s >> 2) - (t >> 2);
            far += !is_near(i, j, k);
            close += !is_near(i, j, k) && is_near(i, j, k, fmm::k_close);
            all += i != 0 || j != 0 || k != 0;
          }
        for (int slot = 0; slot < level.own(); ++slot)
          for (int q = 0; q < P * P * P; ++q) {
            const int I = q % P, J = q / P % P, K = q / (P * P);
            const int octant = (I >> 1) + 2 * (J >> 1) + 4 * (K >> 1);
            const int i = I + x, j = J + y, k = K + z;
            const int from = level.tables()[slot][side(k) * 9 + side(j) * 3 + side(i)];
            if (from < 0) continue;
            const int there = ((i & 3) >> 1) + 2 * ((j & 3) >> 1) + 4 * ((k & 3) >> 1);
            const fmm::BrickCells target = level.cells()[slot], source = level.cells()[from];
            const bool leaf = source.leaves >> there & 1, refined = source.refined >> there & 1;
            if (target.leaves >> octant & 1) pairs.points += leaf ? all : 0;
            if (!(target.refined >> octant & 1) || (!leaf && !refined)) continue;
            pairs.refined += far;
            pairs.close += close;
          }
      }
  return pairs;
}

Pairs count_pairs(const mesh::Mesh& mesh, double theta) {
  const fmm::Lists lists = fmm::make_lists(theta);
  std::vector<fmm::BrickLevel> bricks;
  for (int level = mesh.finest_level(); level >= 0; --level)
    bricks.emplace_back(mesh.tree(), level);
  while (!fmm::is_top(mesh.geometry(), bricks.back().level()))
    bricks.push_back(fmm::BrickLevel::above(bricks.back()));
  for (std::size_t n = 0; n + 1 < bricks.size(); ++n) bricks[n].join(bricks[n + 1]);
  Pairs total;
  for (fmm::BrickLevel& level : bricks) {
    level.connect(lists.reach);
    const Pairs pairs = pairs_of(level, theta);
    total.points += pairs.points;
    total.refined += pairs.refined;
    total.close += pairs.close;
  }
  return total;
}

// --- times -------------------------------------------------------------------------------------

// Sums the CPU time of scopes by name.
class PartClock final : public Observer {
 public:
  PartClock() { set_current(this); }
  ~PartClock() override { set_current(nullptr); }

  void enter(Phase, std::string_view name, int) override {
    open_.emplace_back(std::string(name), process_cpu_ns());
  }
  void leave() override {
    const auto& [name, began] = open_.back();
    seconds[name] += 1e-9 * static_cast<double>(process_cpu_ns() - began);
    open_.pop_back();
  }
  void lap(Phase, std::string_view) override {}
  void count(std::int64_t, std::int64_t) override {}
  void messages(std::string_view, int, std::span<const MessageReport>) override {}

  std::map<std::string, double> seconds;

 private:
  std::vector<std::pair<std::string, std::int64_t>> open_;
};

// --- the command -------------------------------------------------------------------------------

struct FmmRequest {
  Choice cases{{"uniform", "refined"}, "all"};
  std::vector<int> block_sizes{8, 16};
  double theta = 0.0;  // 0: both values
  int repeats = 5;
};

void declare_fmm(Options& options, FmmRequest& request) {
  options.choice("--case", request.cases,
                 "64^3 cells, or levels of 32^3 to 128^3 around two stars");
  options.counts("--block-size", request.block_sizes, "Block sizes: 8, 16, 32");
  options.number("--theta", request.theta, 0.34, 0.5, "Opening criterion (default: 0.5 and 0.35)");
  options.count("--repeats", request.repeats,
                "Number of solves per case; the shortest time is reported");
}

double share(double operations, const FmmResult& r, const std::string& part, double peak) {
  const auto found = r.parts.find(part);
  return found == r.parts.end() || found->second == 0.0 ? std::numeric_limits<double>::quiet_NaN()
                                                        : operations / found->second / peak;
}

void measure_fmm_cases(const FmmRequest& request, const Communicator& communicator,
                       Report& report) {
  const double peak = multiply_add_peak();
  const auto percent = [](double part) { return fmt::format("{:.0f}%", 100.0 * part); };
  constexpr const char* row = "{:<8} {:>5} {:>5} {:>8} {:>9} {:>8} {:>8} {:>7} {:>7} {:>8} {:>8}";
  report.line(
      fmt::format("{} rank(s) of {} thread(s); multiply-add peak of a core: {:.1f} GFlop/s; "
                  "shortest of {} solves, in\nprocessor time; fractions of that peak include the "
                  "copies of sources that kernels make\n",
                  communicator.size(), Kokkos::DefaultHostExecutionSpace().concurrency(),
                  1e-9 * peak, request.repeats));
  report.line(fmt::format(row, "case", "block", "theta", "cells", "cells/s", "us/cell", "force",
                          "torque", "points", "refined", "both"));
  const std::vector<double> thetas =
      request.theta > 0.0 ? std::vector{request.theta} : std::vector{0.5, 0.35};
  for (const std::string& name : request.cases.selected())
    for (const double theta : thetas)
      for (const int block_size : request.block_sizes) {
        const FmmResult r = measure_fmm(communicator, {name, block_size, theta}, request.repeats);
        const double points = share(r.point_operations, r, "fmm points", peak),
                     refined = share(r.refined_operations, r, "fmm refined cells", peak);
        const double seconds = r.parts.at("fmm points") + r.parts.at("fmm refined cells");
        const double both = (r.point_operations + r.refined_operations) / seconds / peak;
        const double rate = static_cast<double>(r.cells) / r.seconds;
        report.line(fmt::format(
            row, name, block_size, theta, r.cells, fmt::format("{:.2f} M", 1e-6 * rate),
            fmt::format("{:.3f}", 1e6 / rate), fmt::format("{:.0e}", r.force_sum),
            fmt::format("{:.0e}", r.torque_sum), percent(points), percent(refined), percent(both)));
        JsonObject parts;
        for (const auto& [part, part_seconds] : r.parts) parts.add(part, part_seconds);
        report.add(JsonObject()
                       .add("case", name)
                       .add("block_size", block_size)
                       .add("theta", theta)
                       .add("cells_per_second", rate)
                       .add("force_sum", r.force_sum)
                       .add("torque_sum", r.torque_sum)
                       .add("share_of_peak", both)
                       .add("points_share_of_peak", points)
                       .add("refined_share_of_peak", refined)
                       .add("peak", peak)
                       .add("cells", r.cells)
                       .add("ranks", communicator.size())
                       .add("threads", Kokkos::DefaultHostExecutionSpace().concurrency())
                       .add("seconds", r.seconds)
                       .add("parts", parts));
      }
}

}  // namespace

double multiply_add_peak() {
  constexpr int chains = 12;
  using fmm::Wide;
  double best = 0.0;
  Wide sum[chains];
  for (int n = 0; n < chains; ++n) sum[n] = Wide{} + (1.0 + 1e-3 * n);
  Wide factor = Wide{} + 0.999999, term = Wide{} + 1e-7;
  for (int run = 0; run < 5; ++run) {
    constexpr std::int64_t steps = 2'000'000;
    const std::int64_t began = process_cpu_ns();
    for (std::int64_t k = 0; k < steps; ++k) {
      for (int n = 0; n < chains; ++n) sum[n] = fmm::fma(sum[n], factor, term);
#if !defined(OCTANT_GPU_COMPILER)
      asm volatile("" : "+x"(factor), "+x"(term));  // prevents evaluation at compile time
#endif
    }
    const double seconds = 1e-9 * static_cast<double>(process_cpu_ns() - began);
    best = std::max(best, 2.0 * steps * chains * fmm::k_simd_width / seconds);
  }
  double lanes[fmm::k_simd_width];
  volatile double used = 0.0;
  for (int n = 0; n < chains; ++n) {
    fmm::store(lanes, sum[n]);
    used = used + lanes[0];
  }
  return best;
}

int operations_per_interaction(bool is_close) {
  Counted terms[fmm::k_terms];
  const Counted x(1.0), y(2.0), z(3.0);
  Counted::operations = 6;  // separation vector
  if (is_close) fmm::interact<true, Counted>(One{}, One{}, x, y, z, terms);
  else fmm::interact<false, Counted>(One{}, One{}, x, y, z, terms);
  return Counted::operations;
}

FmmResult measure_fmm(const Communicator& communicator, const FmmCase& fmm_case, int repeats) {
  mesh::Mesh mesh(mesh::Geometry(fmm_mesh_options(fmm_case)), communicator, CommOptions{},
                  {.variables = {{.name = "density"},
                                 {.name = "momentum_x", .vector_axis = 0},
                                 {.name = "momentum_y", .vector_axis = 1},
                                 {.name = "momentum_z", .vector_axis = 2},
                                 {.name = "total_energy"}},
                   .ghosts = {2}},
                  std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>());
  const auto rule = [&](int level, const Place& centre) {
    return touches_star(level, centre,
                        mesh.geometry().cell_size(level) * mesh.geometry().octant_size());
  };
  for (int level = 0; level < mesh.geometry().max_level(); ++level)
    mesh.regrid(flag_octants(mesh, rule));
  mesh.migrate(equal_parts(mesh));
  FmmResult result{.fmm_case = fmm_case};
  std::int64_t cells = 0;
  for_leaf_cells(mesh, [&](int level, int c, int slot, const Place& x) {
    mesh.fields(level).blocks(mesh::LevelFields::k_now)[slot * mesh.layout().stride_slot + c] =
        density(x, mesh.geometry().cell_size(level));
    ++cells;
  });
  result.cells = communicator.sum(cells);
  const Pairs pairs = count_pairs(mesh, fmm_case.theta);
  result.point_operations = 8.0 * pairs.points;
  result.refined_operations = operations_per_interaction(true) * pairs.close +
                              operations_per_interaction(false) * (pairs.refined - pairs.close);

  gravity::Gravity gravity(fmm_gravity_options(fmm_case.theta), mesh, CommOptions{});
  gravity.adapt_to_mesh();
  for (int n = 0; n <= repeats; ++n) {  // the first one is a warm-up
    PartClock clock;
    communicator.barrier();
    const std::int64_t before = process_cpu_ns();
    gravity.solve({0, mesh.finest_level()}, 0.0);
    const double seconds = 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - before));
    if (n == 0) continue;
    if (n == 1 || seconds < result.seconds) result.seconds = seconds;
    for (const auto& [part, of_part] : clock.seconds) {
      double& least = result.parts[part];
      least = n == 1 ? of_part : std::min(least, of_part);
    }
  }
  const auto [force, torque] = net_force_and_torque(mesh, gravity);
  result.force_sum = force;
  result.torque_sum = torque;
  return result;
}

int fmm_bench(const std::vector<std::string>& words) {
  return run_command<FmmRequest>("fmm", "Speed and conservation of the fast multipole method",
                                 declare_fmm, measure_fmm_cases, words);
}

}  // namespace octant::bench
