// Particles of one kind in uniform gas of a known number of hydrogen nuclei: at places of the
// user's choice, or anywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problems/problem.hpp"

namespace octant::problems {

// For problems to derive from; needs [units].
class SwarmInGas : public Problem {
 public:
  // `word` is a particle's name in parameters, as in problem.star_mass.
  SwarmInGas(std::string problem, particles::Kind kind, std::string word);

  void declare(ParameterSchema& schema) override;
  void prepare(const Setting& setting) override;
  double begin(const Communicator& communicator) override;
  GasState initial_state(const Position& centre, double cell_size) const override;
  std::vector<particles::Kind> particle_kinds() const override { return {kind_}; }
  particles::ParticleBatch initial_particles(const std::string& kind) override;

 protected:
  // Fills what a particle has beside id, place, velocity and mass: row `row` of a batch is particle
  // `number`. Its velocity and mass may be changed.
  virtual void finish(particles::ParticleBatch& batch, std::size_t row,
                      std::size_t number) const = 0;

  std::int64_t count_ = 1;
  double metals_ = 0.02;
  std::vector<double> scalars_;
  std::array<double, 3> velocity_{};
  double solar_mass_ = 1.0;
  Position lower_{}, upper_{};

 private:
  std::string problem_, word_;
  particles::Kind kind_;
  double hydrogen_density_ = 1.0, temperature_over_mu_ = 1e4;
  std::int64_t seed_ = 1;
  std::vector<double> positions_;
  double mass_ = 50.0, speed_ = 0.0;

  double hydrogen_ = 1.0, temperature_ = 1.0;
  std::optional<int> place_of_metals_;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace octant::problems
