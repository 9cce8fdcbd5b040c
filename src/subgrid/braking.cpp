// Removal of angular momentum from the gas at a given rate, which drives the stars of a binary into
// contact (D'Souza et al. 2006, ApJ 643, 381; Marcello et al. 2021, MNRAS 504, 5345).
//
// The tangential momentum about an axis along z decays as
//   d(rho v_phi)/dt = -rate rho v_phi,
// in all cells alike, and the spin within cells with the same rate, so that angular momentum about
// the axis decays as exp(-rate t), and n steps of dt / n equal one of dt. The internal energy does
// not change.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace {

// Brakes a cell. The terms of the sums over the block are the changes of its quantities per volume.
struct BrakedCell {
  enum { angular_momentum, momentum_x, momentum_y, energy, sums };
  static constexpr int count = sums, parts = 1;
  GasLevel level;
  double axis[2];      // x and y of the axis
  double change;       // relative change of the tangential momentum
  double min_density;  // gas of lower density is left alone
  int spin;            // index of the angular momentum within cells; -1: none

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* terms) const {
    for (int n = 0; n < sums; ++n) terms[n] = 0.0;
    const auto place = level.cells.centre(cell);
    const double dx = place[0] - axis[0], dy = place[1] - axis[1], square = dx * dx + dy * dy;
    const hydro::GasCell gas = level.at(cell);
    if (gas.density() < min_density) return;
    if (spin >= 0) {
      const double before = gas[spin];
      gas[spin] = before + change * before;
      terms[angular_momentum] = gas[spin] - before;
    }
    if (!(square > 0.0)) return;
    double &px = gas[hydro::k_momentum_x], &py = gas[hydro::k_momentum_y];
    const double old_x = px, old_y = py;
    const double turn = change * (dx * old_y - dy * old_x) / square;
    px = old_x - turn * dy;
    py = old_y + turn * dx;
    terms[momentum_x] = px - old_x;
    terms[momentum_y] = py - old_y;
    // About the origin of coordinates, as angular_momentum_z of history.csv.
    terms[angular_momentum] += place[0] * terms[momentum_y] - place[1] * terms[momentum_x];
    const double work =
        0.5 * (terms[momentum_x] * (px + old_x) + terms[momentum_y] * (py + old_y)) / gas.density();
    const double before = gas[hydro::k_energy];
    gas[hydro::k_energy] = before + work;
    terms[energy] = gas[hydro::k_energy] - before;
  }
};

}  // namespace

class Braking final : public Process {
 public:
  const char* name() const override { return "braking"; }

  void declare(ParameterSchema& schema) override {
    schema.add(
        "braking.rate", rate_,
        {.unit = "1 / time",
         .meaning = "Rate at which the gas loses angular momentum about an axis along z: its "
                    "tangential velocity decays by exp(-rate t). 0: no loss",
         .min = 0});
    schema.add("braking.end", end_,
               {.unit = "time",
                .meaning = "Time at which the loss of angular momentum ends; 0: never",
                .min = 0});
    schema.add("braking.min_density", min_density_,
               {.unit = "density",
                .meaning = "Density below which the gas loses no angular momentum",
                .min = 0});
    schema.add("braking.centre", centre_,
               {.unit = "length", .meaning = "Point on the axis of the loss of angular momentum"});
  }

  bool is_wanted() const override { return rate_ > 0.0; }
  bool needs_heat() const override { return false; }
  std::vector<std::string> accounts() const override {
    return {"angular_momentum_z", "momentum_x", "momentum_y", "energy"};
  }
  double added_energy(const Ledger& ledger) const override { return ledger.total("energy"); }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[braking] requires hydro.enabled = true");
    if (setup.expands) throw InputError("[braking] is not supported with cosmology.enabled = true");
    if (!setup.gas_moves)
      throw InputError("[braking] requires moving gas; remove hydro.moves = false");
    const auto spin = std::ranges::find(setup.scalars, "spin_z");
    spin_ = spin == setup.scalars.end() ? -1 : setup.variable(*spin);
  }

  bool acts_around_coarse_steps() const override { return true; }
  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    // The time of the level is the middle of the step.
    const double begin = level.step_time.time - 0.5 * dt;
    const double acting = end_ > 0.0 ? std::clamp(end_ - begin, 0.0, dt) : dt;
    const BrakedCell braked{.level = level,
                            .axis = {centre_[0], centre_[1]},
                            .change = std::expm1(-rate_ * acting),
                            .min_density = min_density_,
                            .spin = spin_};
    std::array<ReproducibleSum, BrakedCell::sums> sums;
    mesh::add_totals("braking", level.cells, braked, level.cell_volume, sums);
    const std::vector<std::string> names = accounts();
    for (int n = 0; n < BrakedCell::sums; ++n) ledger[names[n]] += sums[n];
  }

 private:
  double rate_ = 0.0, end_ = 0.0, min_density_ = 0.0;
  std::array<double, 3> centre_{};
  int spin_ = -1;
};

template <>
std::unique_ptr<Process> make_process<Braking>() {
  return std::make_unique<Braking>();
}

}  // namespace octant::subgrid
