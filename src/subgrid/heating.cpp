// Heating at a constant rate per mass, and relaxation towards an internal energy per mass u_r
// (Newton's law of cooling):
//   du/dt = rate - (u - u_r) / tau.
// The right-hand side decays as exp(-t / tau), so u(t) = u(0) + du/dt(0) tau (1 - exp(-t / tau))
// exactly, and n steps of dt / n are equivalent to one step of dt.
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace {

// Rate du/dt. `relaxation` is 1 / tau, or 0 without relaxation; `energy` is u_r.
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
                .meaning = "E-folding time on which the specific internal energy relaxes to "
                           "heating.relaxation_energy; 0: no relaxation",
                .min = 0});
    schema.add("heating.relaxation_energy", relaxation_energy_,
               {.unit = "energy / mass",
                .meaning = "Specific internal energy towards which the gas is relaxed",
                .min = 0});
    schema.add("heating.largest_change", largest_change_,
               {.meaning = "Maximum relative change in the internal energy of a cell per step due "
                           "to heating; limits the time step",
                .above = 0.0});
  }

  bool is_wanted() const override { return rate_ > 0.0 || relaxation_time_ > 0.0; }
  bool supports_cold_curve() const override { return true; }
  std::vector<std::string> accounts() const override { return {"energy"}; }
  double added_energy(const Ledger& ledger) const override { return ledger.total("energy"); }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[heating] requires hydro.enabled = true");
    if (setup.expands)
      throw InputError(
          "[heating] is not supported with cosmology.enabled = true, because the unit of specific "
          "energy then changes with time");
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
    const double acting = tau > 0.0 ? -tau * std::expm1(-dt / tau) : dt;  // du / (du/dt)(0)
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
