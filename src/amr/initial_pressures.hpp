// Pressures of an initial state that the equation of state does not have.
#pragma once

#include <cstdint>
#include <optional>

#include "comm/communicator.hpp"
#include "hydro/hydro_options.hpp"
#include "problems/problem.hpp"

namespace octant {

// Compares the pressures of the leaf cells of an initial state with the equation of state: those
// below the cold pressure are raised to it, and cells outside a table are refused.
class InitialPressures {
 public:
  // The options must outlive this object.
  explicit InitialPressures(const hydro::HydroOptions& options)
      : options_(options), gas_(options.gas()) {}

  // True if the equation of state has a cold pressure or is a table.
  bool are_limited() const { return gas_.cold.exists() || options_.eos.table != nullptr; }
  // Adds a leaf cell of this rank.
  void add(const problems::GasState& state, const problems::Position& centre);
  // Throws InputError if cells are outside the table, and logs a note if pressures are raised.
  // Collective.
  void report(const Communicator& communicator) const;

 private:
  struct Cell {
    problems::Position centre;
    double density, pressure;
  };
  void refuse(const Cell& first, std::int64_t cells) const;

  const hydro::HydroOptions& options_;
  hydro::Gas gas_;
  std::int64_t raised_ = 0, outside_ = 0;  // numbers of cells
  double largest_ = 0.0;                   // relative change of a pressure that is raised
  std::optional<Cell> first_outside_;
};

}  // namespace octant
