// Transport of radiation on the tiles of a level, and its exchange with the gas.
#pragma once

#include <cstdint>

#include "mesh/tiles.hpp"
#include "radiation/radiating_gas.hpp"

namespace octant::radiation {

// Sides of the domain beyond which there is no radiation, but the gas of the ghost cells, which
// hinders radiation from leaving where it is opaque: coordinates of their faces in cells of the
// level; by default none.
struct VacuumSides {
  static constexpr std::int64_t k_far = std::int64_t{1} << 60;
  std::int64_t lower[3] = {-k_far, -k_far, -k_far}, upper[3] = {k_far, k_far, k_far};
};

// Arguments of one stage of a substep: next = a0 old + a1 (current + dt L(current)), followed by
// the implicit exchange between gas and radiation over a1 dt. The two stages of a substep, (a0, a1)
// = (0, 1) and (1/2, 1/2), are the scheme IMEX PD-ARS of He, Wibking & Krumholz (2024): of second
// order for free streaming, and correct in the limit of diffusion. Arrays are in device memory and
// hold all variables of the mesh; the four moments begin at variable `first`.
struct TransportStage {
  mesh::TileSet tiles;
  mesh::FieldPointers current;  // state from which fluxes are computed, ghost cells included
  const double* old = nullptr;  // own blocks at the beginning of the substep; read if a0 != 0
  double* next = nullptr;       // new state; may be `old`
  double a0 = 0.0, a1 = 1.0;
  double dt = 0.0, dx = 1.0;    // length of the substep; cell size
  double flux_weight = 0.0;     // factor of fluxes added to `registers`
  double* registers = nullptr;  // flux registers of the level
  int first = 0;                // index of the radiation energy among the variables
  RadiatingGas matter;
  VacuumSides vacuum = {};
  // counter of the cells whose exchange had no solution, see exchange(); may be null
  std::int64_t* unsolved = nullptr;
};

// Advances the radiation of the own cells of all tiles by one stage, and the gas if it absorbs or
// scatters. Results do not depend on tiles, blocks or threads. Local.
void advance(const TransportStage& stage);

// Number of ghost cells that advance() reads across faces.
inline constexpr int k_reach = 2;

}  // namespace octant::radiation
