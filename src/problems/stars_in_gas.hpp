// Equilibrium stars, alone or as a binary, in rarefied gas: common parts of initial states, history
// and model files.
#pragma once

#include <string>
#include <vector>

#include "problems/problem.hpp"
#include "problems/self_consistent_field.hpp"

namespace octant::problems {

// Gas of the model in the domain at one time, for use in kernels, and the ambient gas: at rest,
// isothermal, and in equilibrium with the attraction of point masses at the stars' centres.
// (Ambient gas of constant density would fall onto the stars.)
struct StarsInFrame {
  static constexpr int k_most = 2;
  StarProfile stars[k_most] = {};
  double attraction[k_most] = {0.0, 0.0};  // G m of each star over ambient p / rho
  double ambient_density = 0.0;            // density at the surface of the first star and inside
  int count = 1;
  double axis[3] = {0.0, 0.0, 0.0};  // position of the centre of mass
  double cosine = 1.0, sine = 0.0;   // cosine and sine of the rotation angle

  // Mean of the stellar gas over a cell.
  struct Mean {
    double density[k_most] = {0.0, 0.0};  // density of each star
    double pressure = 0.0;
    // Density of both stars.
    KOKKOS_INLINE_FUNCTION double total() const { return density[0] + density[1]; }
  };

  // Cell mean by three-point Gauss quadrature along each axis.
  KOKKOS_INLINE_FUNCTION Mean mean(double x, double y, double z, double size) const {
    Mean mean;
    const double node = 0.5 * 0.7745966692414834 * size;  // sqrt(3 / 5)
    for (int n = 0; n < 27; ++n) {
      const int a = n % 3 - 1, b = n / 3 % 3 - 1, c = n / 9 - 1;
      const double weight = (a ? 5.0 : 8.0) * (b ? 5.0 : 8.0) * (c ? 5.0 : 8.0) / 5832.0;
      add(x + a * node - axis[0], y + b * node - axis[1], z + c * node - axis[2], weight, mean);
    }
    return mean;
  }

  // Ambient density at the centre of a cell.
  KOKKOS_INLINE_FUNCTION double ambient(double x, double y, double z) const {
    const double x_from_axis = x - axis[0], y_from_axis = y - axis[1], dz = z - axis[2];
    const double turned_x = cosine * x_from_axis + sine * y_from_axis,
                 turned_y = cosine * y_from_axis - sine * x_from_axis;
    double height = 0.0;  // potential difference to the surfaces
    for (int s = 0; s < count; ++s) {
      const double dx = turned_x - stars[s].centre, reach = stars[s].size;
      const double r = Kokkos::sqrt(dx * dx + turned_y * turned_y + dz * dz);
      if (r > reach) height += attraction[s] * (1.0 / reach - 1.0 / r);
    }
    return ambient_density * Kokkos::exp(-height);
  }

 private:
  KOKKOS_INLINE_FUNCTION void add(double x, double y, double z, double weight, Mean& mean) const {
    const double turned_x = cosine * x + sine * y, turned_y = cosine * y - sine * x;
    for (int s = 0; s < count; ++s) {
      const double h = stars[s].enthalpy_at(turned_x, turned_y, z);
      if (h <= 0.0) continue;
      mean.density[s] += weight * stars[s].matter.density(h);
      mean.pressure += weight * stars[s].matter.pressure(h);
    }
  }
};

// Base class of problems with equilibrium stars in rarefied gas.
class StarsInGas : public Problem {
 public:
  explicit StarsInGas(std::string problem) : problem_(std::move(problem)) {}

  void declare(ParameterSchema& schema) override;
  void prepare(const ProblemSetup& setup) override;
  std::vector<std::string> notes() const override { return notes_; }
  void keep_files() override { keeps_files_ = true; }
  double begin(const Communicator& communicator) override;
  GasState initial_state(const Position& centre, double cell_size) const override;
  GasState inflow_state(const InflowPoint& place) const override;
  void measure(const ProblemContext& context) override;
  void add_columns(Columns& columns) const override;

 protected:
  // Description stored in a model file; a file with another description is rejected.
  virtual std::string description() const = 0;
  // Computes the model. The matter of the stars is matter().
  virtual StarModel solve(double G) = 0;

  // Matter of a star of this polytropic index, or that of the gas if its equation of state
  // determines the density from the enthalpy. Valid in solve() and later.
  StarMatter matter(double index) const;
  // Throws InputError if a parameter without meaning for the equation of state has another value
  // than its default.
  void forbid(bool is_default, const char* parameter, const char* reason) const;
  // Throws InputError if the file sets a parameter that the model determines to a value that
  // differs from the one found. (A file with all parameters of a run contains the latter.)
  void require_found(const char* parameter, double given, double found) const;
  // True if the parameter file sets a parameter. Valid in prepare() and solve().
  bool was_set(const char* parameter) const { return schema_->was_set(parameter); }

  const StarModel& model() const { return model_; }
  const Position& centre() const { return centre_; }

 private:
  StarsInFrame at_time(double time, const mesh::DeviceArray<const double>* tables) const;
  double specific_pressure() const;
  double pressure(const StarsInFrame::Mean& mean, double ambient) const;
  void check_matter(const ProblemSetup& setup) const;
  void check_size(const mesh::Geometry& geometry);
  void read_or_write_model(const Communicator& communicator);
  void log_model() const;

  std::string problem_;
  Position centre_{0.0, 0.0, 0.0};
  std::array<double, 3> velocity_{};
  double ambient_density_ = 1e-5;
  std::string model_file_;
  bool keeps_files_ = false;
  std::vector<std::string> notes_;
  static constexpr double k_thermal_pressure = 1e-6;
  double thermal_pressure_ = k_thermal_pressure;

  const ParameterSchema* schema_ = nullptr;  // valid until prepare() returns
  hydro::EosOptions eos_;
  double solar_mass_ = 0.0;  // in code units; 0: no physical units
  double G_ = 1.0;
  int spin_ = -1;                // index of the first of hydro::spin_variables(); -1: none
  double frame_rotation_ = 0.0;  // rotation rate of the frame
  StarModel model_;
  std::vector<mesh::DeviceArray<const double>> tables_;  // enthalpy tables of the stars
  struct {
    double angular_momentum[3], centre[3], relative_density_error;
  } measured_{};
};

}  // namespace octant::problems
