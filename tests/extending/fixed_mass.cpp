// A worked example of a potential solver: the field of one mass that nothing moves, softened as
// that of Plummer (1911),  phi = -G M / sqrt(r^2 + s^2).  What moves in it does not attract.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "gravity/gravity_options.hpp"
#include "gravity/stored_potential.hpp"
#include "mesh/cell_loop.hpp"

namespace octant::gravity {

namespace {

// The kernel is in a function outside of the class, because nvcc does not accept KOKKOS_LAMBDA in a
// private member function.
void set_field(const CellRange& cells, const mesh::DevicePosition& place, double square,
               double strength, const BlockField& potential, const VectorField& acceleration) {
  mesh::for_cells(
      "fixed mass", cells, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        mesh::DevicePosition x = cells.centre(cell);
        for (int d = 0; d < 3; ++d) x[d] -= place[d];
        const double r2 = ((x[0] * x[0] + x[1] * x[1]) + x[2] * x[2]) + square;
        const double phi = -strength / std::sqrt(r2);
        *potential.at(cell) = phi;
        for (int d = 0; d < 3; ++d)
          acceleration.at(cell)[d * acceleration.stride_component] = phi / r2 * x[d];
      });
}

}  // namespace

class FixedMass final : public PotentialSolver {
 public:
  static constexpr const char* name = "fixed_mass";

  struct Parameters {
    double mass = 1.0, softening = 0.0;
    std::array<double, 3> position{0.0, 0.0, 0.0};

    void declare(ParameterSchema& schema) {
      schema.add("fixed_mass.mass", mass,
                 {.unit = "mass", .meaning = "Mass that attracts", .min = 0.0});
      schema.add("fixed_mass.softening", softening,
                 {.unit = "length", .meaning = "Softening radius of the mass", .min = 0.0});
      schema.add("fixed_mass.position", position,
                 {.unit = "length", .meaning = "Position of the mass"});
    }
  };

  FixedMass(const Parameters& parameters, const SolverSetting& setting)
      : PotentialSolver(setting), mass_(parameters), mesh_(setting.mesh) {
    for (int axis = 0; axis < 3; ++axis)
      if (setting.mesh.geometry().periodic(axis))
        throw InputError(
            "gravity.solver = \"fixed_mass\": one mass in a periodic domain attracts from all "
            "sides; expected other boundaries along x, y and z");
  }

  bool solves_single_levels() const override { return true; }
  void connect() override {}

  SolveReport solve(LevelRange levels, const Sources& sources) override {
    const mesh::DevicePosition place{mass_.position[0], mass_.position[1], mass_.position[2]};
    const double square = mass_.softening * mass_.softening;
    for (int level = levels.first; level <= levels.last; ++level)
      set_field(mesh_.cells(level), place, square, sources.constant * mass_.mass,
                stored().field(level, Field::potential), stored().acceleration(level));
    return {};
  }

 private:
  Parameters mass_;
  const mesh::Mesh& mesh_;
};

template <>
std::unique_ptr<PotentialSolverKind> potential_solver_kind<FixedMass>() {
  return std::make_unique<SolverKind<FixedMass>>();
}

}  // namespace octant::gravity
