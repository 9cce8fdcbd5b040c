// Dark matter that began as a cubic lattice and was moved since.
#pragma once

#include <functional>

#include "particles/particles.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

// Where the particle of a lattice point is, and how fast it moves.
using LatticeMap =
    std::function<void(const Position& point, Position& position, Position& velocity)>;

// This rank's share of the particles: one for each point of a lattice with `per_cell` points along
// each side of a base cell, all of one mass, `mass` together. Their numbers count the points along
// x first. Positions beyond periodic boundaries are put inside.
particles::ParticleBatch lattice_particles(const mesh::Geometry& geometry, int per_cell,
                                           double mass, const Communicator& communicator,
                                           const LatticeMap& map);

}  // namespace octant::problems
