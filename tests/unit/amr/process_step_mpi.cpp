// When processes are called within a step.
#include "amr/process_step.hpp"

#include <gtest/gtest.h>

#include "amr/amr_simulation.hpp"

namespace octant {
namespace {

// Counts its calls.
class Witness final : public subgrid::Process {
 public:
  explicit Witness(std::vector<std::string>& calls) : calls_(calls) {}
  const char* name() const override { return "witness"; }
  void declare(ParameterSchema&) override {}
  bool is_wanted() const override { return true; }
  void advance(const subgrid::GasLevel&, double, subgrid::Ledger&) const override {
    calls_.push_back("advance");
  }
  bool interact(subgrid::SyncPoint& sync, subgrid::Ledger&) const override {
    calls_.push_back("interact at " + std::to_string(sync.coarsest));
    return false;
  }

 private:
  std::vector<std::string>& calls_;
};

TEST(ProcessStep, lets_processes_interact_in_runs_without_particles) {
  AmrOptions options = AmrOptions::from_text(
      "problem.name = \"sedov\"\nmesh.base_cells = [8, 8, 8]\nmesh.block_size = 4\n"
      "mesh.max_level = 0\n",
      "a test", {});
  std::vector<std::string> calls;
  options.processes.push_back(std::make_unique<Witness>(calls));
  AmrSimulation simulation(Communicator::world(), options);
  ASSERT_FALSE(simulation.matter().has_particles());
  simulation.initialise();
  simulation.measure();
  simulation.step(simulation.stable_dt());
  EXPECT_EQ(calls, (std::vector<std::string>{"advance", "interact at 0"}));
}

}  // namespace
}  // namespace octant
