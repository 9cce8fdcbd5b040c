// A worked example of a field on faces: a magnetic field that the gas carries along, without a
// force on the gas,
//   dB/dt = -curl E,  E = -v x B,
// by constrained transport (Evans & Hawley 1988), which keeps div B = 0 to rounding. It begins as
// the curl of a potential and advances by Heun's method, in as many steps per coarse step as the
// finest cells require.
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "hydro/face_velocities.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/face_fields.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

using mesh::Centring;
using mesh::StaggeredField;
using mesh::StaggeredView;

namespace {

// One level, for kernels that compute the electromotive force.
struct InductionLevel {
  StaggeredView magnetic, velocity, force;

  // The component `d` of the magnetic field on an edge, from the upwind side along `axis`.
  KOKKOS_INLINE_FUNCTION double upwind(int slot, int d, const int (&point)[3], int axis,
                                       double speed) const {
    double value[4];
    for (int n = 0; n < 4; ++n) {
      int at[3] = {point[0], point[1], point[2]};
      at[axis] += n - 2;
      value[n] = magnetic(slot, d, at);
    }
    return speed > 0.0 ? value[1] + 0.25 * (value[2] - value[0])
                       : value[2] - 0.25 * (value[3] - value[1]);
  }

  // The mean velocity along `d` of the two faces beside an edge.
  KOKKOS_INLINE_FUNCTION double speed(int slot, int d, const int (&point)[3], int axis) const {
    int below[3] = {point[0], point[1], point[2]};
    --below[axis];
    return 0.5 * (velocity(slot, d, below) + velocity(slot, d, point));
  }

  KOKKOS_INLINE_FUNCTION void set_force(int slot, int edge, const int (&point)[3]) const {
    const int d = (edge + 1) % 3, e = (edge + 2) % 3;
    const double u = speed(slot, d, point, e), v = speed(slot, e, point, d);
    force(slot, edge, point) = v * upwind(slot, d, point, e, v) - u * upwind(slot, e, point, d, u);
  }

  // The sum over axes of the highest speed through the faces of a cell.
  KOKKOS_INLINE_FUNCTION double total_speed(const mesh::CellRange& cells,
                                            const mesh::Cell& cell) const {
    double sum = 0.0;
    for (int d = 0; d < 3; ++d) {
      int at[3];
      for (int axis = 0; axis < 3; ++axis) at[axis] = cells.coordinate(cell.index, axis);
      const double below = Kokkos::abs(velocity(cell.slot, d, at));
      ++at[d];
      sum += Kokkos::max(below, Kokkos::abs(velocity(cell.slot, d, at)));
    }
    return sum;
  }
};

// What a kernel computes stands outside of the class: nvcc takes no KOKKOS_LAMBDA in a private
// function.
void set_forces(const mesh::CellRange& cells, const InductionLevel& level) {
  mesh::for_points(
      {"electromotive forces"}, cells.blocks, cells.block_size(), Centring::edge,
      KOKKOS_LAMBDA(int slot, int edge, const int(&point)[3]) {
        level.set_force(slot, edge, point);
      });
}

double fastest(const mesh::CellRange& cells, const InductionLevel& level) {
  return std::max(0.0, mesh::largest(
                           "speed of induction", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
                             return level.total_speed(cells, cell);
                           }));
}

void average(const mesh::DeviceArray<double>& now, const mesh::DeviceArray<double>& later) {
  mesh::for_items(
      {"average forces"}, static_cast<std::int64_t>(now.size()),
      KOKKOS_LAMBDA(std::int64_t n) { now(n) = 0.5 * (now(n) + later(n)); });
}

// The induction equation on all levels, with a velocity that does not change meanwhile.
class InductionStep {
 public:
  InductionStep(const SyncPoint& sync, const StaggeredField& magnetic)
      : mesh_(sync.mesh),
        fields_(*sync.faces),
        magnetic_(magnetic),
        old_(make("former magnetic field", Centring::face)),
        velocity_(make("face velocity", Centring::face)),
        forces_{make("electromotive force", Centring::edge),
                make("later electromotive force", Centring::edge)} {
    for (std::size_t n = 0; n < sync.levels.size(); ++n) {
      sync.fill_ghosts(n);
      hydro::find_face_velocities(mesh_, sync.levels[n].number,
                                  velocity_.view(sync.levels[n].number));
    }
    fields_.fill_ghosts(velocity_);
  }

  // The longest step with which the scheme is stable.
  double longest_step() const {
    constexpr double k_courant = 0.4;
    double rate = 0.0;
    for (int l = 0; l <= mesh_.finest_level(); ++l)
      rate = std::max(rate, fastest(mesh_.cells(l), level(l, 0)) / mesh_.geometry().cell_size(l));
    return k_courant / mesh_.communicator().max(rate);
  }

  void advance(double dt) {
    for (int l = 0; l <= mesh_.finest_level(); ++l) old_.copy_level(l, magnetic_);
    find_forces(0);
    move(dt);
    find_forces(1);
    for (int l = 0; l <= mesh_.finest_level(); ++l)
      average(forces_[0].array(l), forces_[1].array(l));
    move(dt);
  }

 private:
  StaggeredField make(const char* name, Centring centring) const {
    return fields_.transfer().make_field({.name = name, .centring = centring});
  }
  InductionLevel level(int l, int stage) const {
    return {magnetic_.view(l), velocity_.view(l), forces_[stage].view(l)};
  }
  void find_forces(int stage) {
    fields_.fill_ghosts(magnetic_);
    for (int l = 0; l <= mesh_.finest_level(); ++l) set_forces(mesh_.cells(l), level(l, stage));
    fields_.restrict_emfs(forces_[stage]);
  }
  void move(double dt) {
    for (int l = 0; l <= mesh_.finest_level(); ++l)
      fields_.transfer().advance(l, magnetic_, old_, forces_[0], dt);
    fields_.restrict_faces(magnetic_);
  }

  const mesh::Mesh& mesh_;
  mesh::FaceFields& fields_;
  const StaggeredField& magnetic_;
  StaggeredField old_, velocity_, forces_[2];
};

}  // namespace

class Induction final : public Process {
 public:
  const char* name() const override { return "induction"; }

  void declare(ParameterSchema& schema) override {
    schema.add("induction.strength", strength_,
               {.unit = "magnetic field",
                .meaning = "Amplitude of the initial magnetic field; 0: no magnetic field",
                .min = 0});
  }
  bool is_wanted() const override { return strength_ > 0.0; }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[induction] requires hydro.enabled = true");
    for (int d = 0; d < 3; ++d) {
      lower_[d] = setup.geometry.lower()[d];
      wavenumber_[d] = 2.0 * std::numbers::pi / (setup.geometry.upper()[d] - lower_[d]);
    }
  }

  // B_x = strength sin(k_y y), and cyclic.
  std::vector<mesh::SolenoidalField> face_fields() const override {
    const auto potential = [*this](int component, const std::array<double, 3>& position) {
      const int d = (component + 2) % 3;
      return -strength_ / wavenumber_[d] * std::cos(wavenumber_[d] * (position[d] - lower_[d]));
    };
    return {{{.name = "magnetic_field",
              .unit = "magnetic field",
              .description = "magnetic field that the gas carries along",
              .centring = Centring::face},
             potential}};
  }

  bool interact(SyncPoint& sync, Ledger& /*ledger*/) const override {
    if (sync.coarsest > 0) return false;
    InductionStep step(sync, sync.faces->field("magnetic_field"));
    const double dt = sync.steps[0];
    const auto steps = static_cast<int>(std::ceil(dt / step.longest_step()));
    for (int n = 0; n < steps; ++n) step.advance(dt / steps);
    return false;
  }

 private:
  double strength_ = 0.0;
  std::array<double, 3> lower_{}, wavenumber_{};
};

template <>
std::unique_ptr<Process> make_process<Induction>() {
  return std::make_unique<Induction>();
}

}  // namespace octant::subgrid
