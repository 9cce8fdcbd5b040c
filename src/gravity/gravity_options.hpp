// The parameters `gravity.*`.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "gravity/potential_solver.hpp"

namespace octant::gravity {

// What solves level 0.
enum class BaseSolver { fft, multigrid };
constexpr auto names_of(BaseSolver) { return std::array{"fft", "multigrid"}; }

// Which Laplacian Fourier transforms invert: the 7-point one of the multigrid solver, or -k^2.
enum class Laplacian { discrete, spectral };
constexpr auto names_of(Laplacian) { return std::array{"discrete", "spectral"}; }

// Where the base level is transformed: by the library of hosts, lines at a time through a core's
// cache, or all lines at once in the memory of Kokkos' default execution space, as a GPU always
// does. With the library of hosts both give the same bits.
enum class FourierSchedule { host, device };

// What the work on the gas is found from.
enum class Work { forces, potential };
constexpr auto names_of(Work) { return std::array{"forces", "potential"}; }

// What attracts beyond reflecting sides of the domain, where the gas is mirrored: no solver mirrors
// mass, so that a run is refused unless there is meant to be nothing.
enum class BeyondWalls { refused, vacuum };
constexpr auto names_of(BeyondWalls) { return std::array{"refused", "vacuum"}; }

struct GravityOptions {
  bool enabled = false;
  std::string solver = "multigrid";
  std::optional<BaseSolver> base = std::nullopt;  // none: fft where it can be
  Laplacian laplacian = Laplacian::discrete;
  std::string transfer = "";  // file of a TransferTable; none if empty
  double tolerance = 1e-4;
  int max_cycles = 200;
  double constant = 1.0;  // G in code units
  int gradient_order = 4;
  Work work = Work::forces;
  BeyondWalls beyond_walls = BeyondWalls::refused;
  // The choices of `solver`, with parameters of their own.
  std::vector<std::unique_ptr<PotentialSolverKind>> solvers = potential_solver_kinds();
};

void declare(ParameterSchema& schema, GravityOptions& options);

}  // namespace octant::gravity
