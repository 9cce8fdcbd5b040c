// Independently cooling cells. Densities, temperatures and metallicities are lists; cell n, counted
// along x, then y, then z, takes the n-th entry of each list; short lists repeat. In a large enough
// domain (mesh.upper), sound waves do not cross a cell during the run.
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

namespace {

class CoolingCell final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.hydrogen_density", hydrogen_density_,
        {.unit = "cm^-3",
         .meaning = "Number density n_H of hydrogen nuclei; the gas density is n_H m_p / 0.76",
         .above = 0.0});
    schema.add(
        "problem.temperature_over_mu", temperature_over_mu_,
        {.unit = "K", .meaning = "Temperature divided by the mean molecular weight", .above = 0.0});
    schema.add("problem.metals", metals_,
               {.meaning = "Metal mass fractions of the cells, one value per cell; a shorter "
                           "list is repeated cyclically; empty: cooling.initial_metallicity",
                .min = 0,
                .max = 1.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Uniform gas velocity"});
  }

  void prepare(const ProblemSetup& setup) override {
    if (hydrogen_density_.empty() || temperature_over_mu_.empty())
      throw InputError(
          "problem.hydrogen_density, problem.temperature_over_mu: expected at least one value for "
          "each");
    const subgrid::GasUnits units(setup.units);
    hydrogen_ = units.hydrogen;
    temperature_ = units.temperature;
    metals_index_ = setup.hydro.variable_index("metals");
    lower_ = setup.geometry.lower();
    upper_ = setup.geometry.upper();
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    std::int64_t place = 0;
    for (int axis = 2; axis >= 0; --axis) {
      const auto cells = std::llround((upper_[axis] - lower_[axis]) / cell_size);
      const auto cell = static_cast<std::int64_t>((centre[axis] - lower_[axis]) / cell_size);
      place = place * cells + cell;
    }
    GasState gas;
    gas.density = at(hydrogen_density_, place) / hydrogen_;
    gas.velocity = velocity_;
    gas.pressure = gas.density * at(temperature_over_mu_, place) / temperature_;
    if (metals_index_ && !metals_.empty())
      gas.others.emplace_back(*metals_index_, at(metals_, place));
    return gas;
  }

 private:
  static double at(const std::vector<double>& list, std::int64_t place) {
    return list[static_cast<std::size_t>(place % std::ssize(list))];
  }

  std::vector<double> hydrogen_density_{0.1}, temperature_over_mu_{1e7}, metals_;
  std::array<double, 3> velocity_{};
  double hydrogen_ = 1.0, temperature_ = 1.0;
  std::optional<int> metals_index_;
  Position lower_{}, upper_{};
};

}  // namespace

std::unique_ptr<Problem> make_cooling_cell() { return std::make_unique<CoolingCell>(); }

}  // namespace octant::problems
