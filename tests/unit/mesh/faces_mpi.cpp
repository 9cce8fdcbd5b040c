// Face-centred fields on the octree, on any number of ranks: prolongation, restriction, ghost
// faces, and constrained transport across levels.
#include <bit>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/random.hpp"
#include "mesh/face_transfer.hpp"
#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

constexpr double k_two_pi = 2.0 * std::numbers::pi;
constexpr double k_rounding = 1e-12;

// A component of a vector at a point.
using VectorField = std::function<double(int component, const Point&)>;
using Visit = std::function<void(int slot, int component, const int (&point)[3], const Point&)>;

double potential(int component, const Point& x) {
  const double a = k_two_pi * x[(component + 1) % 3], b = k_two_pi * x[(component + 2) % 3];
  const double along = 1.0 + 0.5 * std::cos(k_two_pi * x[component]);
  return (0.2 + 0.05 * component) * along * std::sin(a + 0.3) * std::cos(b + 0.1) +
         0.1 * std::sin(a + b);
}

double rotation(int component, const Point& x) {
  return std::sin(k_two_pi * x[(component + 1) % 3] + component);
}

// -v x B on edges, upwind along both transverse axes with central slopes. `first` and `second` are
// the velocity's components along the axes that follow the edge's own in cyclic order.
void upwind_forces(const DeviceArray<const OwnBlock>& blocks, const StaggeredView& b,
                   const StaggeredView& first, const StaggeredView& second,
                   const StaggeredView& forces) {
  for_points(
      {"upwind forces"}, blocks, b.layout.cells, Centring::edge,
      KOKKOS_LAMBDA(int slot, int f, const int(&point)[3]) {
        const int d = (f + 1) % 3, e = (f + 2) % 3;
        const auto upwind = [&](int component, int axis, double speed) {
          double value[4];
          for (int n = 0; n < 4; ++n) {
            int at[3] = {point[0], point[1], point[2]};
            at[axis] += n - 2;
            value[n] = b(slot, component, at);
          }
          return speed > 0.0 ? value[1] + 0.25 * (value[2] - value[0])
                             : value[2] - 0.25 * (value[3] - value[1]);
        };
        const double u = first(slot, f, point), v = second(slot, f, point);
        forces(slot, f, point) = v * upwind(d, e, v) - u * upwind(e, d, u);
      });
}

void average(const DeviceArray<double>& now, const DeviceArray<double>& later) {
  for_items(
      {"average forces"}, static_cast<std::int64_t>(now.size()),
      KOKKOS_LAMBDA(std::int64_t n) { now(n) = 0.5 * (now(n) + later(n)); });
}

class FaceMesh {
 public:
  FaceMesh(int base_cells, int block_size, int levels, const std::string& boundary,
           const Communicator& communicator)
      : mesh(geometry(base_cells, block_size, levels, boundary), communicator, CommOptions{},
             {.variables = {{"scalar"}}, .ghosts = {.reach = 2}, .patch = 0, .spares = 1},
             std::make_unique<LimitedLinear<NoLimit>>()),
        transfer(mesh, CommOptions{}) {}

  static Geometry geometry(int base_cells, int block_size, int levels,
                           const std::string& boundary) {
    MeshOptions options;
    options.base_cells.fill(base_cells);
    options.block_size = block_size;
    options.max_level = levels - 1;
    options.boundary.fill(std::vector(2, value_named<Boundary>(boundary).value()));
    return Geometry(options);
  }

  // Refines octants with centres within half an edge length of `centre`; one level more per call.
  bool refine_around(const Point& centre, const std::vector<double>& half_edge) {
    FlagMasks flags(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      if (l >= std::ssize(half_edge)) continue;
      const double size = mesh.geometry().octant_size() * mesh.geometry().cell_size(l);
      for (const int slot : mesh.blocks(l).own()) {
        const Point origin = mesh.geometry().origin(l, morton_decode(mesh.blocks(l).key(slot)));
        for (int octant = 0; octant < 8; ++octant) {
          bool inside = true;
          int bit = 0;
          for (int d = 0, stride = 1; d < 3; ++d, stride *= 4) {
            const int upper = octant >> d & 1;
            inside =
                inside && std::abs(origin[d] + (upper + 0.5) * size - centre[d]) < half_edge[l];
            bit += stride * (1 + upper);
          }
          if (inside) flags[l][slot] |= std::uint64_t{1} << bit;
        }
      }
    }
    return mesh.regrid(flags);
  }
  void refine_fully(const Point& centre, const std::vector<double>& half_edge) {
    while (refine_around(centre, half_edge)) continue;
    transfer.follow({});
  }

  StaggeredField field(Centring centring) const {
    return transfer.make_field({.name = "test field", .centring = centring});
  }

  // Visits the stored points of own blocks with their places. Points that blocks share have the
  // same place, also across periodic boundaries, unless `ghosts` are visited, too.
  void visit_points(int level, Centring centring, int ghosts, const Visit& visit) const {
    const int N = mesh.layout().block_size;
    const double dx = mesh.geometry().cell_size(level);
    const BlockCoordinates extent = mesh.geometry().extent(level);
    for (const int slot : mesh.blocks(level).own()) {
      const BlockCoordinates block = morton_decode(mesh.blocks(level).key(slot));
      for (int c = 0; c < 3; ++c) {
        const auto end = [&](int d) { return N + ghosts + (is_nodal(centring, c, d) ? 1 : 0); };
        for (int k = -ghosts; k < end(2); ++k)
          for (int j = -ghosts; j < end(1); ++j)
            for (int i = -ghosts; i < end(0); ++i) {
              const int point[3] = {i, j, k};
              Point x;
              for (int d = 0; d < 3; ++d) {
                auto index = static_cast<std::int64_t>(block[d]) * N + point[d];
                if (mesh.geometry().periodic(d)) {
                  const std::int64_t cells = std::int64_t{extent[d]} * N;
                  index = (index + cells) % cells;
                }
                const double shift = is_nodal(centring, c, d) ? 0.0 : 0.5;
                x[d] = (static_cast<double>(index) + shift) * dx;
              }
              visit(slot, c, point, x);
            }
      }
    }
  }

  // A view of a level's values on the host.
  static auto values_on_host(const StaggeredField& field, int level) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, field.array(level));
  }

  void set_level(const StaggeredField& field, int level, const VectorField& values) const {
    const auto host = values_on_host(field, level);
    const StaggeredView view{host.data(), field.layout()};
    visit_points(level, field.info().centring, 0,
                 [&](int slot, int c, const int(&point)[3], const Point& x) {
                   view(slot, c, point) = values(c, x);
                 });
    Kokkos::deep_copy(field.array(level), host);
  }
  void set(const StaggeredField& field, const VectorField& values) const {
    for (int l = 0; l <= mesh.finest_level(); ++l) set_level(field, l, values);
  }

  // The curl of a potential, of which coarse edges take the mean of fine ones.
  void set_curl(const StaggeredField& faces, const VectorField& vector_potential) {
    const StaggeredField edges = field(Centring::edge), zero = field(Centring::face);
    set(edges, vector_potential);
    replace_all(edges);
    for (int l = 0; l <= mesh.finest_level(); ++l) transfer.advance(l, faces, zero, edges, -1.0);
    restrict_all(faces);
  }

  void replace_all(const StaggeredField& edges) {
    for (int l = mesh.finest_level(); l > 0; --l) {
      transfer.clear_forces(l);
      transfer.add_forces(l, edges, 1.0);
      transfer.restrict_emfs(l, edges);
    }
  }
  void restrict_all(const StaggeredField& faces) {
    for (int l = mesh.finest_level(); l > 0; --l) transfer.restrict_faces(l, faces);
  }
  void fill_all(const StaggeredField& faces) {
    for (int l = 0; l <= mesh.finest_level(); ++l) transfer.fill_ghosts(l, faces);
  }

  // The largest |div b| dx of any cell, of refined octants, too, over the largest |b|.
  double divergence(const StaggeredField& faces, int ghosts = 0) const {
    double largest = 0.0, scale = 0.0;
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      const auto host = values_on_host(faces, l);
      const StaggeredView view{host.data(), faces.layout()};
      visit_points(l, Centring::cell, ghosts,
                   [&](int slot, int c, const int(&point)[3], const Point&) {
                     if (c > 0) return;
                     double sum = 0.0;
                     for (int d = 0; d < 3; ++d) {
                       int above[3] = {point[0], point[1], point[2]};
                       ++above[d];
                       sum += view(slot, d, above) - view(slot, d, point);
                       scale = std::max(scale, std::abs(view(slot, d, point)));
                     }
                     largest = std::max(largest, std::abs(sum));
                   });
    }
    return mesh.communicator().max(largest) / mesh.communicator().max(scale);
  }

  // A number that any changed bit of a face changes, for any distribution of blocks.
  std::int64_t hash(const StaggeredField& faces, int ghosts = 0) const {
    std::uint64_t sum = 0;
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      const auto host = values_on_host(faces, l);
      const StaggeredView view{host.data(), faces.layout()};
      visit_points(
          l, Centring::face, ghosts, [&](int slot, int c, const int(&point)[3], const Point&) {
            auto bits = std::bit_cast<std::uint64_t>(view(slot, c, point));
            bits ^= static_cast<std::uint64_t>(mesh.blocks(l).key(slot)) * 0x9e3779b97f4aull;
            bits += static_cast<std::uint64_t>(
                (((l * 3 + c) * 64 + point[0] + 8) * 64 + point[1] + 8) * 64 + point[2]);
            bits = (bits ^ bits >> 31) * 0x7fb5d329728ea185ull;
            sum += (bits ^ bits >> 27) * 0x81dadef4bc2dd44dull;
          });
    }
    return mesh.communicator().sum(static_cast<std::int64_t>(sum));
  }

  // The mean of |faces - exact| over all stored faces.
  double mean_error(const StaggeredField& faces, const StaggeredField& exact) const {
    double sum = 0.0;
    std::int64_t count = 0;
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      const auto host = values_on_host(faces, l), exact_host = values_on_host(exact, l);
      const StaggeredView a{host.data(), faces.layout()}, b{exact_host.data(), exact.layout()};
      visit_points(l, Centring::face, 0, [&](int slot, int c, const int(&point)[3], const Point&) {
        sum += std::abs(a(slot, c, point) - b(slot, c, point));
        ++count;
      });
    }
    const auto total = mesh.communicator().sum(std::int64_t{std::llround(sum * 1e9)});
    return 1e-9 * static_cast<double>(total) / static_cast<double>(mesh.communicator().sum(count));
  }

  Mesh mesh;
  FaceTransfer transfer;
};

// A field that a given velocity advects, with the electromotive force -v x b.
class Advection {
 public:
  Advection(FaceMesh& faces, const VectorField& velocity)
      : m(faces), velocity_(velocity), b(m.field(Centring::face)), old(m.field(Centring::face)) {
    make_edges();
  }

  void follow() {
    StaggeredField* const kept[] = {&b};
    m.transfer.follow(kept);
    old = m.field(Centring::face);
    make_edges();
  }

  // Second-order Runge-Kutta (Heun) with one step for all levels.
  void step(double dt) {
    for (int l = 0; l <= m.mesh.finest_level(); ++l) old.copy_level(l, b);
    find_forces(*forces);
    advance_all(*forces, dt);
    find_forces(*later_forces);
    for (int l = 0; l <= m.mesh.finest_level(); ++l)
      average(forces->array(l), later_forces->array(l));
    advance_all(*forces, dt);
  }

  // Forward Euler; every level takes two steps for one of the coarser level. The steps of a level
  // begin at `theta` and last `share` of the coarser level's.
  void subcycle(int level, double dt, double theta = 0.0, double share = 0.0) {
    m.transfer.fill_ghosts(level, b, old, theta);
    old.copy_level(level, b);
    find_level_forces(level, *forces);
    m.transfer.advance(level, b, old, *forces, dt);
    if (level < m.mesh.finest_level()) {
      m.transfer.fill_ghosts(level, b, old, theta + share);
      m.transfer.clear_forces(level + 1);
      subcycle(level + 1, dt / 2, 0.0, 0.5);
      subcycle(level + 1, dt / 2, 0.5, 0.5);
      m.transfer.restrict_emfs(level + 1, *forces);
      m.transfer.advance(level, b, old, *forces, dt);
      m.transfer.restrict_faces(level + 1, b);
    }
    if (level > 0) m.transfer.add_forces(level, *forces, share);
  }

 private:
  void make_edges() {
    for (auto* edges : {&first, &second, &forces, &later_forces})
      *edges = std::make_unique<StaggeredField>(m.field(Centring::edge));
    m.set(*first, [this](int f, const Point& x) { return velocity_((f + 1) % 3, x); });
    m.set(*second, [this](int f, const Point& x) { return velocity_((f + 2) % 3, x); });
  }
  void find_level_forces(int level, const StaggeredField& edges) {
    upwind_forces(m.mesh.cells(level).blocks, b.view(level), first->view(level),
                  second->view(level), edges.view(level));
  }
  void find_forces(const StaggeredField& edges) {
    m.fill_all(b);
    for (int l = 0; l <= m.mesh.finest_level(); ++l) find_level_forces(l, edges);
    m.replace_all(edges);
  }
  void advance_all(const StaggeredField& edges, double dt) {
    for (int l = 0; l <= m.mesh.finest_level(); ++l) m.transfer.advance(l, b, old, edges, dt);
    m.restrict_all(b);
  }

  FaceMesh& m;
  VectorField velocity_;
  std::unique_ptr<StaggeredField> first, second, later_forces;

 public:
  StaggeredField b, old;
  std::unique_ptr<StaggeredField> forces;
};

const Point k_centre{0.5, 0.5, 0.5};
const std::vector<double> k_three_levels{0.25, 0.125};

TEST(FaceFields, describe_themselves) {
  const FaceMesh m(16, 4, 1, "periodic", Communicator::world());
  const StaggeredField b =
      m.transfer.make_field({"magnetic_field", "G", "magnetic field", Centring::face});
  EXPECT_EQ(name_of(b.info().centring), "face");
  EXPECT_EQ(b.info().unit, "G");
  EXPECT_EQ(b.layout().ghosts, FaceTransfer::k_ghosts);
  EXPECT_THROW(FaceMesh(16, 2, 1, "periodic", Communicator::world()), InputError);
}

TEST(FaceFields, children_share_the_divergence_of_any_outer_faces) {
  RefinedCell cell;
  RandomStream random(1, 2, 3);
  double* const outer = &cell.outer[0][0][0][0];
  double expected = 0.0;
  for (int n = 0; n < 24; ++n) {
    outer[n] = random.uniform(n);
    expected += (n / 4 % 2 == 1 ? 0.125 : -0.125) * outer[n];
  }
  cell.fill_inner();
  for (int n = 0; n < 8; ++n) {
    const int corner[3] = {n & 1, n >> 1 & 1, n >> 2 & 1};
    double sum = 0.0;
    for (int d = 0; d < 3; ++d)
      sum += (2 * corner[d] - 1) *
             (cell.at_corner(d, corner) -
              cell.inner[d][corner[second_transverse(d)]][corner[first_transverse(d)]]);
    EXPECT_NEAR(sum, expected, 1e-15);
  }
}

class FaceSlopes : public testing::TestWithParam<FaceSlope> {};
INSTANTIATE_TEST_SUITE_P(all, FaceSlopes, testing::Values(FaceSlope::central, FaceSlope::minmod),
                         [](const auto& info) { return name_of(info.param); });

// Solenoidal, with all slopes that a face mean can have.
double linear_field(int component, const Point& x) {
  const double gradient[3][3] = {{1.0, 0.5, -0.25}, {2.0, -3.0, 0.75}, {-0.5, 1.5, 2.0}};
  double value = 1.0 + component;
  for (int d = 0; d < 3; ++d) value += gradient[component][d] * x[d];
  return value;
}

TEST_P(FaceSlopes, of_linear_fields_give_exact_ghosts_and_new_blocks) {
  FaceMesh m(16, 4, 3, "outflow", Communicator::world());
  FaceTransfer transfer(m.mesh, CommOptions{}, GetParam());
  m.refine_around(k_centre, {0.25});
  transfer.follow({});
  StaggeredField b = transfer.make_field({.name = "b", .centring = Centring::face});
  m.set(b, linear_field);
  StaggeredField* const kept[] = {&b};
  m.refine_around(k_centre, k_three_levels);
  transfer.follow(kept);
  ASSERT_EQ(m.mesh.finest_level(), 2);
  for (int l = 0; l <= 2; ++l) {
    transfer.fill_ghosts(l, b);
    const auto host = FaceMesh::values_on_host(b, l);
    const StaggeredView view{host.data(), b.layout()};
    const double margin = 3.0 / 16;  // of what the boundaries reach
    std::int64_t checked = 0;
    m.visit_points(l, Centring::face, FaceTransfer::k_ghosts,
                   [&](int slot, int c, const int(&point)[3], const Point& x) {
                     for (const double coordinate : x)
                       if (coordinate < margin || coordinate > 1.0 - margin) return;
                     ++checked;
                     ASSERT_NEAR(view(slot, c, point), linear_field(c, x), 1e-13);
                   });
    EXPECT_GT(m.mesh.communicator().sum(checked), 1000);
  }
}

TEST(FaceFields, take_the_mean_of_fine_faces_in_every_block_that_stores_the_face) {
  FaceMesh m(16, 4, 2, "periodic", Communicator::world());
  m.refine_fully(k_centre, {0.25});
  const StaggeredField b = m.field(Centring::face);
  m.set_level(b, 1, linear_field);
  m.transfer.restrict_faces(1, b);
  const auto host = FaceMesh::values_on_host(b, 0);
  const StaggeredView view{host.data(), b.layout()};
  const int half = m.mesh.geometry().octant_size();
  m.visit_points(0, Centring::face, 0, [&](int slot, int c, const int(&point)[3], const Point& x) {
    bool is_covered = false;
    for (int octant = 0; octant < 8; ++octant) {
      bool inside = (m.mesh.blocks(0).refined(slot) >> octant & 1) != 0;
      for (int d = 0; d < 3; ++d) {
        const int begin = (octant >> d & 1) * half;
        inside = inside && point[d] >= begin && point[d] < begin + half + (d == c ? 1 : 0);
      }
      is_covered = is_covered || inside;
    }
    // Faces that only the neighbour's octant covers are not told apart here, but by the hash below.
    if (is_covered || view(slot, c, point) != 0.0) {
      ASSERT_NEAR(view(slot, c, point), linear_field(c, x), 1e-13);
    }
  });
  const std::int64_t hash = m.hash(b);
  m.transfer.fill_ghosts(0, b);
  EXPECT_EQ(m.hash(b), hash);
}

TEST(FaceFields, new_blocks_are_solenoidal_and_leave_old_faces_alone) {
  FaceMesh m(16, 4, 4, "periodic", Communicator::world());
  m.refine_fully(k_centre, k_three_levels);
  StaggeredField b = m.field(Centring::face);
  m.set_curl(b, potential);
  EXPECT_LT(m.divergence(b), k_rounding);
  const auto before = FaceMesh::values_on_host(b, 1);
  const std::vector<Key> keys = [&] {
    std::vector<Key> list;
    for (int slot = 0; slot < m.mesh.blocks(1).slots(); ++slot)
      list.push_back(m.mesh.blocks(1).key(slot));
    return list;
  }();
  StaggeredField* const kept[] = {&b};
  // The refined region moves and grows: blocks beside old ones, and on a new level.
  for (int round = 0; round < 3; ++round) {
    m.refine_around({0.4375, 0.5, 0.5625}, {0.3, 0.19, 0.08});
    m.transfer.follow(kept);
    EXPECT_LT(m.divergence(b), k_rounding);
  }
  ASSERT_EQ(m.mesh.finest_level(), 3);
  // Restriction of prolongation is the identity, to rounding.
  const auto after = FaceMesh::values_on_host(b, 1);
  const StaggeredView now{after.data(), b.layout()},
      then{const_cast<double*>(before.data()), b.layout()};
  double largest = 0.0;
  m.visit_points(1, Centring::face, 0, [&](int slot, int c, const int(&point)[3], const Point&) {
    if (slot < std::ssize(keys) && keys[slot] == m.mesh.blocks(1).key(slot))
      largest = std::max(largest, std::abs(now(slot, c, point) - then(slot, c, point)));
  });
  EXPECT_LT(largest, 1e-14);
  const std::int64_t hash = m.hash(b);
  m.fill_all(b);
  EXPECT_EQ(m.hash(b), hash);  // all copies of a face are equal
  EXPECT_LT(m.divergence(b, FaceTransfer::k_ghosts), k_rounding);
}

TEST(FaceFields, ghosts_beyond_walls_are_mirrored) {
  FaceMesh m(8, 4, 2, "reflecting", Communicator::world());
  m.refine_fully({0.2, 0.2, 0.2}, {0.2});
  StaggeredField b = m.field(Centring::face);
  const auto even = [](int component, const Point& x) {
    double value = 1.0;
    for (int d = 0; d < 3; ++d)
      value *= d == component ? std::sin(k_two_pi * x[d]) : std::cos(k_two_pi * x[d]);
    return value;
  };
  m.set(b, even);
  m.fill_all(b);
  const auto host = FaceMesh::values_on_host(b, 0);
  const StaggeredView view{host.data(), b.layout()};
  m.visit_points(0, Centring::face, FaceTransfer::k_ghosts,
                 [&](int slot, int c, const int(&point)[3], const Point& x) {
                   ASSERT_NEAR(view(slot, c, point), even(c, x), 1e-14);
                 });
}

TEST(Advection, keeps_the_divergence_at_rounding_on_all_levels) {
  FaceMesh m(16, 4, 3, "periodic", Communicator::world());
  m.refine_fully(k_centre, k_three_levels);
  ASSERT_EQ(m.mesh.finest_level(), 2);
  Advection advection(m, rotation);
  m.set_curl(advection.b, potential);
  for (int n = 0; n < 20; ++n) advection.step(0.005);
  EXPECT_LT(m.divergence(advection.b), k_rounding);
  const std::int64_t hash = m.hash(advection.b);
  m.fill_all(advection.b);
  EXPECT_EQ(m.hash(advection.b), hash);  // all copies of a face are equal
}

TEST(Advection, keeps_the_divergence_with_two_steps_for_one_of_the_coarser_level) {
  FaceMesh m(16, 4, 3, "periodic", Communicator::world());
  m.refine_fully(k_centre, k_three_levels);
  Advection advection(m, rotation);
  m.set_curl(advection.b, potential);
  m.fill_all(advection.b);
  for (int l = 0; l <= 2; ++l) advection.old.copy_level(l, advection.b);
  for (int n = 0; n < 10; ++n) advection.subcycle(0, 0.01);
  EXPECT_LT(m.divergence(advection.b), k_rounding);
  const std::int64_t hash = m.hash(advection.b);
  m.fill_all(advection.b);
  EXPECT_EQ(m.hash(advection.b), hash);
}

// A run with a moving refined region, of which blocks change owners where there are several.
std::int64_t hash_of_run(const Communicator& communicator, bool moves_blocks) {
  FaceMesh m(16, 4, 3, "periodic", communicator);
  m.refine_fully(k_centre, k_three_levels);
  Advection advection(m, rotation);
  m.set_curl(advection.b, potential);
  for (int n = 0; n < 4; ++n) {
    advection.step(0.005);
    m.refine_around({0.5 + 0.0625 * n, 0.5, 0.5 - 0.0625 * n}, k_three_levels);
    advection.follow();
    if (!moves_blocks) continue;
    std::vector<std::vector<int>> owners(3);
    for (int l = 0; l < 3; ++l)
      for (const int slot : m.mesh.blocks(l).own())
        owners[l].push_back(
            static_cast<int>((m.mesh.blocks(l).key(slot) * 7 + l + n) % communicator.size()));
    m.mesh.migrate(owners);
    advection.follow();
  }
  EXPECT_LT(m.divergence(advection.b), k_rounding);
  m.fill_all(advection.b);
  return m.hash(advection.b, FaceTransfer::k_ghosts);
}

TEST(Advection, has_the_same_bits_on_any_ranks) {
  const Communicator world = Communicator::world();
  const std::int64_t alone = hash_of_run(world.split(world.rank()), false);
  EXPECT_EQ(hash_of_run(world, false), alone);
  EXPECT_EQ(hash_of_run(world, true), alone);
}

double advection_error(int base_cells) {
  const double velocity[3] = {1.0, 0.5, -0.75}, end = 0.0625;
  FaceMesh m(base_cells, 4, 3, "periodic", Communicator::world());
  m.refine_fully(k_centre, k_three_levels);
  Advection advection(m, [&](int component, const Point&) { return velocity[component]; });
  m.set_curl(advection.b, potential);
  const int steps = base_cells;
  for (int n = 0; n < steps; ++n) advection.step(end / steps);
  const StaggeredField exact = m.field(Centring::face);
  m.set_curl(exact, [&](int component, Point x) {
    for (int d = 0; d < 3; ++d) x[d] -= velocity[d] * end;
    return potential(component, x);
  });
  return m.mean_error(advection.b, exact);
}

TEST(Advection, converges_at_second_order_across_levels) {
  const double coarse = advection_error(8), fine = advection_error(16);
  EXPECT_LT(fine, 0.3 * coarse) << "errors " << coarse << " and " << fine;
}

}  // namespace
}  // namespace octant::mesh::test
