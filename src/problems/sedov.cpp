// Sedov blast wave (Sedov 1959): energy released in a few cells of a cold uniform gas.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "mesh/flagging.hpp"
#include "mesh/geometry.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

// Cells of the finest level (mesh.max_level, even if it does not exist yet) whose centres lie
// within a distance of a point. Periodic boundaries use the nearest image. The lattice continues
// beyond other boundaries, so that a sphere cut by a reflecting wall is a part of the whole sphere.
class LatticeBall {
 public:
  LatticeBall() = default;

  // `radius` is in cells of the finest level; from sqrt(3)/2 on the sphere contains at least one
  // cell. Throws InputError if the centre is outside the domain, or the sphere is too large for a
  // periodic domain.
  LatticeBall(const mesh::Geometry& geometry, const std::array<double, 3>& centre, double radius);

  // Volume of the whole sphere.
  double volume() const { return static_cast<double>(cells_) * cell_ * cell_ * cell_; }

  // Volume fraction of a cell, of any level, that belongs to the sphere.
  double fraction(const std::array<double, 3>& cell_centre, double cell_size) const;

 private:
  using Index = std::int64_t;
  struct Range {
    Index begin, end;
  };
  Index count(const std::array<Range, 3>& ranges) const;

  double cell_ = 1.0, radius_ = 0.0;          // radius in cells
  std::array<double, 3> lower_{}, centre_{};  // centre in cells from the lower corner
  std::array<Index, 3> period_{};             // in cells; 0 where not periodic
  std::array<Range, 3> bounds_{};
  Index cells_ = 0;
};

// Moves a coordinate that is a cell face or cell centre up to round-off exactly there, so that
// distances are exact and the sphere is as symmetric as the lattice.
double snapped_to_half(double coordinate) {
  const double nearest = 0.5 * std::round(2.0 * coordinate);
  return std::abs(coordinate - nearest) < 1e-6 ? nearest : coordinate;
}

LatticeBall::LatticeBall(const mesh::Geometry& geometry, const std::array<double, 3>& centre,
                         double radius)
    : cell_(geometry.cell_size(geometry.max_level())), radius_(radius), lower_(geometry.lower()) {
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = geometry.lower()[axis], upper = geometry.upper()[axis];
    if (centre[axis] < lower || centre[axis] > upper)
      throw InputError("problem.centre[{}] = {} is outside the domain, {} to {}", axis,
                       centre[axis], lower, upper);
    centre_[axis] = snapped_to_half((centre[axis] - lower) / cell_);
    bounds_[axis] = {static_cast<Index>(std::floor(centre_[axis] - radius_)),
                     static_cast<Index>(std::ceil(centre_[axis] + radius_)) + 1};
    if (!geometry.periodic(axis)) continue;
    period_[axis] = std::llround((upper - lower) / cell_);
    const double largest = 0.5 * (upper - lower - geometry.cell_size(0)) / cell_;
    if (radius_ > largest)
      throw InputError(
          "problem.radius_cells = {}: in this periodic domain, the radius of a sphere is at most "
          "{} cells of the finest level",
          radius_, largest);
  }
  cells_ = count(bounds_);
}

double LatticeBall::fraction(const std::array<double, 3>& cell_centre, double cell_size) const {
  const Index side = std::llround(cell_size / cell_);
  std::array<Range, 3> ranges;
  for (int axis = 0; axis < 3; ++axis) {
    Index first = std::llround((cell_centre[axis] - 0.5 * cell_size - lower_[axis]) / cell_);
    if (period_[axis] > 0) {
      const double distance =
          static_cast<double>(first) + 0.5 * static_cast<double>(side) - centre_[axis];
      first -= period_[axis] * std::llround(distance / static_cast<double>(period_[axis]));
    }
    ranges[axis] = {std::max(first, bounds_[axis].begin),
                    std::min(first + side, bounds_[axis].end)};
    if (ranges[axis].begin >= ranges[axis].end) return 0.0;
  }
  const auto cells = static_cast<double>(side);
  return static_cast<double>(count(ranges)) / (cells * cells * cells);
}

LatticeBall::Index LatticeBall::count(const std::array<Range, 3>& ranges) const {
  const auto squared_distance = [this](Index index, int axis) {
    const double distance = static_cast<double>(index) + 0.5 - centre_[axis];
    return distance * distance;
  };
  Index inside = 0;
  for (Index k = ranges[2].begin; k < ranges[2].end; ++k)
    for (Index j = ranges[1].begin; j < ranges[1].end; ++j)
      for (Index i = ranges[0].begin; i < ranges[0].end; ++i)
        inside += squared_distance(i, 0) + squared_distance(j, 1) + squared_distance(k, 2) <=
                  radius_ * radius_;
  return inside;
}

class Sedov final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.energy", energy_,
               {.unit = "energy",
                .meaning = "Energy of the complete spherical blast; if reflecting boundaries cut "
                           "the sphere, only the part inside the domain is deposited",
                .above = 0.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Ambient density", .above = 0.0});
    schema.add("problem.ambient_pressure", ambient_pressure_,
               {.unit = "pressure", .meaning = "Ambient pressure", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Bulk velocity of the gas"});
    schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of the blast"});
    // A sphere of the minimum radius contains at least one cell for any centre.
    schema.add("problem.radius_cells", radius_cells_,
               {.unit = "cells of the finest level",
                .meaning = "Radius of the sphere of finest cells over which the blast energy is "
                           "distributed equally; 1: the eight cells around a cell corner",
                .min = 0.87});
    schema.add("problem.refined_radius", refined_radius_,
               {.unit = "length",
                .meaning = "Radius of the sphere around the centre that is always refined to the "
                           "finest level; 0: refinement by [refine] only",
                .min = 0.0});
  }

  void prepare(const ProblemSetup& setup) override {
    source_ = LatticeBall(setup.geometry, centre_, radius_cells_);
    blast_pressure_ = (setup.hydro.gamma - 1.0) * energy_ / source_.volume();
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
