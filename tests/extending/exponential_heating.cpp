// A worked example of a process: heat that grows with the gas's internal energy,
//   du/dt = u / tau,  u(t) = u(0) exp(t / tau),
// and a scalar that remembers how much of it each piece of gas got.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

class ExponentialHeating final : public Process {
 public:
  const char* name() const override { return "exponential_heating"; }

  void declare(ParameterSchema& schema) override {
    schema.add("exponential_heating.time", time_,
               {.unit = "time",
                .meaning = "Growth time (e-folding) of the internal energy; 0: no heating",
                .min = 0});
  }
  bool is_wanted() const override { return time_ > 0.0; }

  std::vector<GasVariable> variables() const override {
    return {{.name = "heat", .unit = "energy / mass", .description = "heat that the gas got"}};
  }
  std::vector<std::string> accounts() const override { return {"energy"}; }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[exponential_heating] needs hydro.enabled = true");
    heat_ = setup.variable("heat");
  }

  double longest_step(const GasLevel&) const override { return 0.1 * time_; }

  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    const double factor = std::exp(dt / time_);
    const int heat = heat_;
    ledger["energy"] += change_leaf_cells(
        level, KOKKOS_LAMBDA(const hydro::GasCell& cell) {
          const double gained = cell.set_internal_energy(factor * cell.internal_energy());
          cell[heat] += gained;
          return gained;
        });
  }

 private:
  double time_ = 0.0;
  int heat_ = 0;
};

template <>
std::unique_ptr<Process> make_process<ExponentialHeating>() {
  return std::make_unique<ExponentialHeating>();
}

}  // namespace octant::subgrid
