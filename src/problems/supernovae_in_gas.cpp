// Stars in uniform gas, which explode when [supernovae] says so: a single one, or a swarm.
#include "problems/factories.hpp"
#include "problems/swarm_in_gas.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::problems {

namespace {

class SupernovaeInGas final : public SwarmInGas {
 public:
  SupernovaeInGas() : SwarmInGas("supernovae", subgrid::stars(), "star") {}

 protected:
  void finish(particles::ParticleBatch& batch, std::size_t row, std::size_t) const override {
    const auto add = [&](const char* column, double value) {
      std::get<std::vector<double>>(batch.columns[column]).push_back(value);
    };
    add("metallicity", metals_);
    add("initial_mass", batch.mass[row]);
  }
};

}  // namespace

std::unique_ptr<Problem> make_supernovae() { return std::make_unique<SupernovaeInGas>(); }

}  // namespace octant::problems
