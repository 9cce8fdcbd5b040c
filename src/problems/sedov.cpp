// The blast wave of Sedov (1959): energy released in a few cells of a cold uniform gas.
#include "core/parameters.hpp"
#include "mesh/flagging.hpp"
#include "problems/factories.hpp"
#include "problems/lattice_ball.hpp"

namespace octant::problems {

namespace {

class Sedov final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.energy", energy_,
               {.unit = "energy",
                .meaning = "Total blast energy, also where reflecting walls leave only a part of "
                           "the blast in the domain",
                .above = 0.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Ambient density", .above = 0.0});
    schema.add("problem.ambient_pressure", ambient_pressure_,
               {.unit = "pressure", .meaning = "Ambient pressure", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Bulk velocity of the gas"});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the blast"});
    // A ball of this radius holds at least one cell, wherever its centre is.
    schema.add("problem.radius_cells", radius_cells_,
               {.unit = "cells of the finest level",
                .meaning = "Radius of the ball of finest cells that share the blast energy "
                           "equally; 1 selects the eight cells around a node",
                .min = 0.87});
    schema.add("problem.refined_radius", refined_radius_,
               {.unit = "length",
                .meaning = "Radius of the ball around the centre that stays on the finest level; "
                           "0: [refine] decides",
                .min = 0.0});
  }

  void prepare(const Setting& setting) override {
    source_ = LatticeBall(setting.geometry, centre_, radius_cells_);
    blast_pressure_ = (setting.hydro.gamma - 1.0) * energy_ / source_.volume();
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    GasState gas;
    gas.density = density_;
    gas.velocity = velocity_;
    gas.pressure = ambient_pressure_ + blast_pressure_ * source_.fraction(centre, cell_size);
    return gas;
  }

  void flag_cells(const mesh::Mesh& mesh, int level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const override {
    if (refined_radius_ == 0.0) return;
    const mesh::DevicePosition centre{centre_[0], centre_[1], centre_[2]};
    const double radius_squared = refined_radius_ * refined_radius_;
    mesh::flag_where(
        mesh, level, masks, KOKKOS_LAMBDA(const mesh::DevicePosition& position) {
          const double x = position[0] - centre[0], y = position[1] - centre[1],
                       z = position[2] - centre[2];
          return x * x + y * y + z * z < radius_squared;
        });
  }

 private:
  double energy_ = 1.0, density_ = 1.0, ambient_pressure_ = 1e-5;
  std::array<double, 3> velocity_{};
  Position centre_{0.5, 0.5, 0.5};
  double radius_cells_ = 1.0, refined_radius_ = 0.0;

  LatticeBall source_;
  double blast_pressure_ = 0.0;
};

}  // namespace

std::unique_ptr<Problem> make_sedov() { return std::make_unique<Sedov>(); }

}  // namespace octant::problems
