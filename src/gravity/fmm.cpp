// Potential of an isolated system by the fast multipole method on the octree of blocks. Every cell
// of every level is a body. A leaf cell is a point mass at its centre; a refined cell has moments
// about its centre of mass. Bodies of a level interact if they are far enough apart and their
// parents are not (gravity/fmm_tree.hpp). Expansions of parents are translated to their children
// (gravity/fmm_arithmetic.hpp). Greengard & Rokhlin (1987, J. Comput. Phys. 73, 325); Dehnen (2000,
// ApJ 536, L39); angular momentum: Marcello (2017, AJ 154, 92).
//
// Every sum runs in the order of positions relative to the target, so that bits do not depend on
// the number of ranks or the size of blocks.
#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "core/parameters.hpp"
#include "gravity/fmm_kernels.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/stored_potential.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

class Fmm final : public PotentialSolver {
 public:
  static constexpr const char* name = "fmm";

  struct Parameters {
    double theta = 0.4;

    void declare(ParameterSchema& schema) {
      schema.add(
          "gravity.theta", theta,
          {.meaning = "Opening parameter of fmm: cells at a distance of n cells interact through "
                      "multipoles if n theta >= 1; smaller values are more accurate and slower. "
                      "Above 0.408, the force on isolated cells in vacuum can be wrong by 30 %",
           .min = 0.34,
           .max = 0.5});
    }
  };

  Fmm(const Parameters& parameters, const SolverSetting& setting);

  bool solves_single_levels() const override { return false; }
  void connect() override;
  SolveReport solve(LevelRange levels, const Sources& sources) override;

 private:
  struct Level {
    fmm::BrickLevel bricks;
    fmm::BrickFields fields;
    DeviceArray<const PatchCopy> sent{}, received{};
    DeviceArray<const std::int32_t> leaving{};
    DeviceArray<const fmm::ChildBrick> children{};
    DeviceArray<double> up{}, arrived{};  // messages to the coarser level, and from the finer one
    Exchanger copies, upward, downward, averages;
  };
  void add_level(fmm::BrickLevel bricks);
  void send_up(Level& level, Level& coarser);
  void send_down(Level& coarser, Level& level);
  void copy_around(Level& level);
  void attract(Level& level);
  void average(Level& level, Level& coarser);
  fmm::StoredCells stored_cells(int level) const;
  Level& mesh_level(int level) { return levels_[mesh_.finest_level() - level]; }

  const mesh::Mesh& mesh_;
  FieldPool& pool_;
  CommOptions comm_options_;
  fmm::Lists lists_;
  std::vector<Level> levels_;  // levels from the finest one of the mesh to the top
};

template <>
std::unique_ptr<PotentialSolverKind> potential_solver_kind<Fmm>() {
  return std::make_unique<SolverKind<Fmm>>();
}

Fmm::Fmm(const Parameters& parameters, const SolverSetting& setting)
    : PotentialSolver(setting),
      mesh_(setting.mesh),
      pool_(setting.pool),
      comm_options_(setting.comm_options),
      lists_(fmm::make_lists(parameters.theta)) {
  const mesh::Geometry& geometry = setting.mesh.geometry();
  if (geometry.periodic(0) || geometry.periodic(1) || geometry.periodic(2))
    throw InputError(
        "gravity.solver = \"fmm\" requires an isolated system: mesh.boundary_x, _y and _z must not "
        "be periodic; expected \"outflow\", or gravity.solver = \"multigrid\"");
  if (geometry.block_size() < fmm::k_side)
    throw InputError("gravity.solver = \"fmm\" requires mesh.block_size >= {}; it is {}",
                     fmm::k_side, geometry.block_size());
}

// --- structure ---------------------------------------------------------------------------------

void Fmm::connect() {
  levels_.clear();
  std::vector<fmm::BrickLevel> bricks;
  for (int level = mesh_.finest_level(); level >= 0; --level)
    bricks.emplace_back(mesh_.tree(), level);
  while (!fmm::is_top(mesh_.geometry(), bricks.back().level()))
    bricks.push_back(fmm::BrickLevel::above(bricks.back()));
  for (std::size_t n = 0; n + 1 < bricks.size(); ++n) bricks[n].join(bricks[n + 1]);
  for (fmm::BrickLevel& level : bricks) {
    level.connect(lists_.reach);
    add_level(std::move(level));
  }
}

void Fmm::add_level(fmm::BrickLevel bricks) {
  const Communicator& communicator = mesh_.communicator();
  const int level = bricks.level();
  const auto exchanger = [&](const char* what) {
    return Exchanger(fmt::format("fmm: {}, {}", what, level), communicator, comm_options_,
                     std::max(level, -1), Buffers::of_device);
  };
  const auto doubles = [](const char* label, std::int64_t count) {
    return mesh::uninitialised<double>(label, count);
  };
  const std::int64_t octets = std::int64_t{fmm::k_up} * fmm::k_octet;
  fmm::BrickFields fields = fmm::make_fields(bricks);
  Level l{.bricks = std::move(bricks),
          .fields = std::move(fields),
          .copies = exchanger("copies"),
          .upward = exchanger("moments"),
          .downward = exchanger("expansions"),
          .averages = exchanger("means")};
  l.sent = mesh::to_device("sent bricks", l.bricks.sent_regions());
  l.received = mesh::to_device("received bricks", l.bricks.received_regions());
  l.leaving = mesh::to_device("leaving bricks", l.bricks.leaving());
  l.children = mesh::to_device("child bricks", l.bricks.children());
  l.up = doubles("fmm moments sent", std::ssize(l.bricks.leaving()) * octets);
  l.arrived = doubles("fmm moments received", std::ssize(l.bricks.children()) * octets);
  levels_.push_back(std::move(l));
}

// --- solving -----------------------------------------------------------------------------------

void Fmm::send_up(Level& level, Level& coarser) {
  const Observed scope(Phase::compute, "fmm moments", std::max(level.bricks.level(), 0));
  fmm::pack_moments(level.fields, level.leaving, level.up.data());
  level.upward.run<double>(level.bricks.upward(), level.up.data(), coarser.arrived.data(),
                           fmm::k_up * fmm::k_octet);
  fmm::unpack_moments(coarser.fields, coarser.children, coarser.arrived.data());
}

void Fmm::copy_around(Level& level) {
  if (mesh_.communicator().size() == 1) return;
  const ExchangePlan& plan = level.bricks.copies();
  const auto sent = pool_.allocate("fmm copies sent", plan.items_sent());
  const auto received = pool_.allocate("fmm copies received", plan.items_received());
  const bool with_children = level.bricks.has_coarse_fine_boundary();
  fmm::pack_copies(level.fields, with_children, level.sent, sent.data());
  level.copies.run<double>(plan, sent.data(), received.data(), 1);
  fmm::unpack_copies(level.fields, with_children, level.received, received.data());
}

void Fmm::attract(Level& level) {
  const auto observed = [&](const char* what, const auto& kernel) {
    const Observed scope(Phase::compute, what, std::max(level.bricks.level(), 0));
    kernel(level.fields, lists_);
  };
  observed("fmm points", fmm::attract_points);
  observed("fmm refined cells", fmm::attract_refined);
  if (!level.bricks.has_coarse_fine_boundary()) return;
  observed("fmm leaf cells", fmm::attract_leaves);
  observed("fmm level jumps", fmm::attract_across);
}

void Fmm::send_down(Level& coarser, Level& level) {
  const Observed scope(Phase::compute, "fmm expansions", std::max(level.bricks.level(), 0));
  const bool jumps = coarser.bricks.has_coarse_fine_boundary();
  const std::int64_t doubles = fmm::down_doubles(lists_, jumps);
  const auto sent =
      pool_.allocate("fmm expansions sent", std::ssize(coarser.bricks.children()) * doubles);
  const auto received =
      pool_.allocate("fmm expansions received", std::ssize(level.bricks.leaving()) * doubles);
  fmm::pack_expansions(coarser.fields, lists_, jumps, coarser.children, sent.data());
  level.downward.run<double>(level.bricks.upward(), sent.data(), received.data(),
                             static_cast<int>(doubles), Direction::reverse);
  fmm::unpack_expansions(level.fields, lists_, jumps, level.leaving, level.up.data(),
                         received.data());
}

fmm::StoredCells Fmm::stored_cells(int level) const {
  return {mesh_.cells(level), stored().field(level, Field::potential),
          stored().acceleration(level)};
}

// Restriction: sets refined cells of the coarser level to the mean of their children.
void Fmm::average(Level& level, Level& coarser) {
  const std::int64_t octets = 4 * fmm::k_octet;
  const auto sent = pool_.allocate("fmm means", std::ssize(level.bricks.leaving()) * octets);
  const auto received = pool_.allocate("fmm means", std::ssize(coarser.bricks.children()) * octets);
  fmm::pack_averages(stored_cells(level.bricks.level()), level.leaving, sent.data());
  level.averages.run<double>(level.bricks.upward(), sent.data(), received.data(),
                             static_cast<int>(octets));
  fmm::unpack_averages(stored_cells(coarser.bricks.level()), coarser.children, received.data());
}

SolveReport Fmm::solve(LevelRange levels, const Sources& sources) {
  const mesh::Geometry& geometry = mesh_.geometry();
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const Level& l = mesh_level(level);
    fmm::set_masses(l.bricks, l.fields, mesh_.cells(level), sources.density(level).field,
                    std::ldexp(1.0, -3 * level));
  }
  for (std::size_t n = 0; n + 1 < levels_.size(); ++n) send_up(levels_[n], levels_[n + 1]);
  for (Level& level : levels_) {
    copy_around(level);
    attract(level);
  }
  for (std::size_t n = levels_.size() - 1; n > 0; --n) send_down(levels_[n], levels_[n - 1]);
  const double unit = sources.constant * geometry.cell_volume(0);
  for (int level = levels.first; level <= levels.last; ++level) {
    const Level& l = mesh_level(level);
    const double h = geometry.cell_size(level);
    fmm::store_leaves(l.bricks, l.fields, stored_cells(level), -unit / h, unit / (h * h));
  }
  for (int level = levels.last; level > levels.first; --level)
    average(mesh_level(level), mesh_level(level - 1));
  return {};
}

}  // namespace octant::gravity
