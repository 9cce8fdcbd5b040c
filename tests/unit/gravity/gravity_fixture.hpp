// Small meshes with a gas at rest whose potential is known.
#pragma once

#include <bit>
#include <cmath>

#include "core/observer.hpp"
#include "core/random.hpp"
#include "gravity/gravity.hpp"
#include "mesh/device.hpp"
#include "tests/unit/mesh/mesh_fixture.hpp"

namespace octant::gravity::test {

using mesh::test::Point;
using Function = std::function<double(const Point&)>;

inline mesh::MeshOptions box(std::array<int, 3> cells, int block_size, int max_level = 0,
                             const std::string& boundary = "periodic") {
  mesh::MeshOptions options;
  options.base_cells = cells;
  options.block_size = block_size;
  options.max_level = max_level;
  for (int d = 0; d < 3; ++d) options.upper[d] = static_cast<double>(cells[d]) / cells[0];
  options.boundary.fill(std::vector(2, value_named<mesh::Boundary>(boundary).value()));
  return options;
}

// A mesh of gas.
class Gas {
 public:
  explicit Gas(const mesh::MeshOptions& options,
               const Communicator& communicator = Communicator::world())
      : mesh(mesh::Geometry(options), communicator, CommOptions{},
             {.variables = {{"density"},
                            {.name = "momentum_x", .vector_axis = 0},
                            {.name = "momentum_y", .vector_axis = 1},
                            {.name = "momentum_z", .vector_axis = 2},
                            {"total_energy"}},
              .ghosts = {2}},
             std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()) {}

  // Calls visit(centre, cell offset in the level's fields) for own cells of a level.
  template <class Visit>
  void for_cells(int level, const Visit& visit) const {
    const int N = mesh.layout().block_size;
    const double dx = mesh.geometry().cell_size(level);
    for (const int slot : mesh.blocks(level).own()) {
      const auto corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      for (int c = 0; c < N * N * N; ++c)
        visit(Point{corner[0] + (c % N + 0.5) * dx, corner[1] + (c / N % N + 0.5) * dx,
                    corner[2] + (c / N / N + 0.5) * dx},
              slot * mesh.layout().stride_slot + c);
    }
  }

  void set_density(const Function& density) {
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      double* fields = mesh.fields(level).blocks(mesh::LevelFields::k_now);
      for_cells(level, [&](const Point& x, std::int64_t cell) {
        fields[cell] = density(x);
        for (int n = 1; n < 5; ++n) fields[cell + n * mesh.layout().stride_variable] = 0.0;
      });
    }
    mesh.restrict_all();
  }

  // Refines every octant of a level that has a cell with where(x, level) true.
  void refine(const std::function<bool(const Point&, int)>& where) {
    mesh::FlagMasks flags(mesh.geometry().max_level() + 1);
    const int half = mesh.geometry().octant_size();
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      const int N = 2 * half;
      for_cells(l, [&](const Point& x, std::int64_t at) {
        const std::int64_t slot = at / mesh.layout().stride_slot;
        const auto c = static_cast<int>(at % mesh.layout().stride_slot);
        if (where(x, l))
          flags[l][slot] |= std::uint64_t{1} << ((1 + c % N / half) + 4 * (1 + c / N % N / half) +
                                                 16 * (1 + c / (N * N) / half));
      });
    }
    mesh.regrid(flags);
  }

  mesh::Mesh mesh;
};

// A ball whose density is a Gaussian.
struct GaussianBall {
  Point centre{0.5, 0.5, 0.5};
  double width = 0.06, mass = 1.0;

  double radius(const Point& x) const {
    return std::hypot(x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]);
  }
  double density(const Point& x) const {
    const double s = radius(x) / width;
    return mass * std::exp(-0.5 * s * s) / std::pow(std::sqrt(2.0 * M_PI) * width, 3);
  }
  double potential(const Point& x) const {
    const double r = std::max(radius(x), 1e-12);
    return -mass * std::erf(r / (std::sqrt(2.0) * width)) / r;
  }
  double acceleration(const Point& x, int axis) const {
    const double r = std::max(radius(x), 1e-12), s = r / (std::sqrt(2.0) * width);
    const double inside = std::erf(s) - 2.0 / std::sqrt(M_PI) * s * std::exp(-s * s);
    return -mass * inside / (r * r) * (x[axis] - centre[axis]) / r;
  }
};

// Messages pass through memory of the host, as they may on a GPU.
inline CommOptions staged() {
  CommOptions options;
  options.staging = Staging::always;
  return options;
}

// Adds up the bytes of a cargo that would be copied to and from a GPU while it lives.
class CopiedBytes final : public Observer {
 public:
  explicit CopiedBytes(TransferKind of) : of_(of) { set_current(this); }
  ~CopiedBytes() override { set_current(nullptr); }

  void enter(Phase, std::string_view, int) override {}
  void leave() override {}
  void lap(Phase, std::string_view) override {}
  void count(std::int64_t, std::int64_t) override {}
  void messages(std::string_view, int, std::span<const MessageReport>) override {}
  void copied(TransferKind transfer, TransferDirection, std::int64_t bytes) override {
    if (transfer == of_) total += bytes;
  }

  std::int64_t total = 0;

 private:
  TransferKind of_;
};

// One stored field of own blocks, [block][k][j][i].
inline std::vector<double> read(const Gas& gas, const Gravity& gravity, int level, int field) {
  const mesh::BlockLayout& layout = gravity.stored().layout();
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  std::vector<double> values;
  for (const int slot : gas.mesh.blocks(level).own()) {
    const double* from =
        gravity.stored().data(level) + slot * layout.stride_slot + field * layout.stride_variable;
    values.insert(values.end(), from, from + cells);
  }
  return values;
}

// The sum of all fields' bits as integers: equal only, in practice, where every value is.
inline std::uint64_t fingerprint(const Gas& gas, const Gravity& gravity) {
  std::uint64_t sum = 0;
  for (int level = 0; level <= gas.mesh.finest_level(); ++level)
    for (int field = 0; field < k_fields; ++field)
      for (const double value : read(gas, gravity, level, field))
        sum += std::bit_cast<std::uint64_t>(value) * (2 * field + 1);
  return gas.mesh.communicator().sum(sum);
}

// Gives every block to a rank drawn at random.
inline void scatter_blocks(Gas& gas, std::uint64_t seed) {
  const auto ranks = static_cast<std::uint64_t>(gas.mesh.communicator().size());
  std::vector<std::vector<int>> owners(gas.mesh.geometry().max_level() + 1);
  for (int level = 0; level <= gas.mesh.geometry().max_level(); ++level)
    for (const int slot : gas.mesh.blocks(level).own()) {
      const auto key = static_cast<std::uint64_t>(gas.mesh.blocks(level).key(slot));
      owners[level].push_back(static_cast<int>(RandomStream(seed, 16 * key + level, 0).uniform(0) *
                                               static_cast<double>(ranks)));
    }
  gas.mesh.migrate(owners);
}

}  // namespace octant::gravity::test
