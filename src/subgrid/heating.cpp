// Heating at one rate per mass, and relaxation towards an internal energy per mass u_r, which is
// Newton's law of cooling:
//   du/dt = rate - (u - u_r) / tau.
// Its rate falls as exp(-t / tau), so that u(t) = u(0) + du/dt(0) tau (1 - exp(-t / tau)) exactly:
// n steps of dt / n do the same as one of dt.
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace {

// du/dt, with 0 for 1 / tau where nothing relaxes.
struct HeatingRate {
  double rate, relaxation, energy;
  KOKKOS_INLINE_FUNCTION double operator()(double u) const {
    return rate - relaxation * (u - energy);
  }
};

}  // namespace

class Heating final : public Process {
 public:
  const char* name() const override { return "heating"; }

  void declare(ParameterSchema& schema) override {
    schema.add("heating.rate", rate_,
               {.unit = "energy / (mass time)",
                .meaning = "Uniform heating rate of the gas per unit mass",
                .min = 0});
    schema.add("heating.relaxation_time", relaxation_time_,
               {.unit = "time",
                .meaning = "Relaxation time of the specific internal energy towards "
                           "heating.relaxation_energy (e-folding); 0: no relaxation",
                .min = 0});
    schema.add("heating.relaxation_energy", relaxation_energy_,
               {.unit = "energy / mass",
                .meaning = "Target specific internal energy of the relaxation",
                .min = 0});
    schema.add("heating.largest_change", largest_change_,
               {.meaning = "Maximum relative change of a cell's internal energy per step by "
                           "heating; limits the time step",
                .above = 0.0});
  }

  bool is_wanted() const override { return rate_ > 0.0 || relaxation_time_ > 0.0; }
  std::vector<std::string> accounts() const override { return {"energy"}; }
  double added_energy(const Ledger& ledger) const override { return ledger.total("energy"); }

  void prepare(const Setting& setting) override {
    if (!setting.has_gas) throw InputError("[heating] requires hydro.enabled = true");
    if (setting.expands)
      throw InputError(
          "[heating] is not supported with cosmology.enabled = true, whose unit of specific energy "
          "changes with time");
  }

  double longest_step(const GasLevel& level) const override {
    const HeatingRate heating = law();
    const double fastest = largest_of_leaf_cells(
        level, KOKKOS_LAMBDA(const hydro::GasCell& cell) {
          const double u = cell.internal_energy();
          return std::abs(heating(u)) / u;
        });
    return fastest > 0.0 ? largest_change_ / fastest : std::numeric_limits<double>::infinity();
  }

  bool acts_around_coarse_steps() const override { return true; }
  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    const HeatingRate heating = law();
    const double tau = relaxation_time_;
    const double acting = tau > 0.0 ? -tau * std::expm1(-dt / tau) : dt;  // at the first rate
    ledger["energy"] += change_leaf_cells(
        level, KOKKOS_LAMBDA(const hydro::GasCell& cell) {
          const double u = cell.internal_energy();
          return cell.set_internal_energy(u + acting * heating(u));
        });
  }

 private:
  HeatingRate law() const {
    return {rate_, relaxation_time_ > 0.0 ? 1.0 / relaxation_time_ : 0.0, relaxation_energy_};
  }

  double rate_ = 0.0, relaxation_time_ = 0.0, relaxation_energy_ = 0.0, largest_change_ = 0.1;
};

template <>
std::unique_ptr<Process> make_process<Heating>() {
  return std::make_unique<Heating>();
}

}  // namespace octant::subgrid
