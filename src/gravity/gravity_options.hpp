// Parameters `gravity.*`.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "gravity/potential_solver.hpp"

namespace octant::gravity {

// Solvers of level 0.
enum class BaseSolver { fft, multigrid };
// Names of the values in gravity.base.
constexpr auto names_of(BaseSolver) { return std::array{"fft", "multigrid"}; }

// Laplacian that Fourier transforms invert: the 7-point one of the multigrid solver, or -k^2.
enum class Laplacian { discrete, spectral };
// Names of the values in gravity.laplacian.
constexpr auto names_of(Laplacian) { return std::array{"discrete", "spectral"}; }

// Schedule of the FFTs on the base level: a few lines at a time in the cache of a core (host), or
// all lines at once in the memory of Kokkos' default execution space (device), as always on a GPU.
// With the host FFT library both give the same bits.
enum class FourierSchedule { host, device };

// Methods for the work of gravity on the gas.
enum class Work { forces, potential };
// Names of the values in gravity.work.
constexpr auto names_of(Work) { return std::array{"forces", "potential"}; }

// Matter beyond reflecting boundaries. The gas is mirrored, but no solver includes image masses, so
// a run with symmetry planes is rejected unless the outside is declared to be vacuum.
enum class BeyondWalls { refused, vacuum };
// Names of the values in gravity.beyond_walls.
constexpr auto names_of(BeyondWalls) { return std::array{"refused", "vacuum"}; }

// Parameters of gravity and derived options.
struct GravityOptions {
  bool enabled = false;
  std::string solver = "multigrid";
  std::optional<BaseSolver> base = std::nullopt;  // solver of level 0; unset: fft if possible
  Laplacian laplacian = Laplacian::discrete;
  std::string transfer = "";  // path of the file of a TransferTable; empty: no transfer function
  double tolerance = 1e-4;
  int max_cycles = 200;
  double constant = 1.0;  // G in code units
  int gradient_order = 4;
  Work work = Work::forces;
  BeyondWalls beyond_walls = BeyondWalls::refused;
  // Kinds of `solver`, each with its own parameters.
  std::vector<std::unique_ptr<PotentialSolverKind>> solvers = potential_solver_kinds();
};

// Declares the parameters `gravity.*`. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, GravityOptions& options);

}  // namespace octant::gravity
