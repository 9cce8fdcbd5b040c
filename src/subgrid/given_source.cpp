#include "subgrid/given_source.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace octant::subgrid {

namespace {

// Maximum number of cells per call of the function, in whole blocks.
constexpr int k_max_cells = 1 << 16;

class GivenSource final : public Process {
 public:
  explicit GivenSource(SourceFunction rates) : rates_(std::move(rates)) {}

  const char* name() const override { return "source"; }
  void declare(ParameterSchema&) override {}
  bool is_wanted() const override { return true; }
  bool supports_cold_curve() const override { return true; }
  void prepare(const ProcessSetup& setup) override { is_balanced_ = setup.is_balanced; }
  std::vector<std::string> accounts() const override { return {"energy"}; }
  double added_energy(const Ledger& ledger) const override { return ledger.total("energy"); }

  bool acts_around_coarse_steps() const override { return true; }
  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    const int at_a_time = std::max(1, k_max_cells / level.cells.cells_per_block());
    for (int first = 0; first < level.cells.count(); first += at_a_time)
      advance(level, first, std::min(at_a_time, level.cells.count() - first), dt, ledger);
  }

 private:
  void advance(const GasLevel& level, int first, int blocks, double dt, Ledger& ledger) const {
    const int cells = level.cells.cells_per_block();
    SourceCells gas;
    gas.level = level.number;
    gas.dt = dt;
    for (int n = 0; n < blocks * cells; ++n) {
      const mesh::Cell cell = cell_of(level, first, n);
      const hydro::GasCell state = level.at(cell);
      const mesh::DevicePosition centre = level.cells.centre(cell);
      for (int d = 0; d < 3; ++d) {
        gas.centre[d].push_back(centre[d]);
        gas.velocity[d].push_back(state.velocity(d));
      }
      gas.density.push_back(state.density());
      gas.internal_energy.push_back(state.internal_energy());
    }
    const SourceRates rates = rates_(gas);
    if (is_balanced_ && !rates.acceleration[0].empty())
      throw RunError(
          "source functions with an acceleration are not supported with hydro.well_balanced, which "
          "only preserves equilibrium under hydro.acceleration; sources are applied between the "
          "sweeps");
    for (int block = 0; block < blocks; ++block) {
      double added = 0.0;
      for (int n = block * cells; n < (block + 1) * cells; ++n) {
        const mesh::Cell cell = cell_of(level, first, n);
        const int octant = level.cells.octant_of(cell.index);
        if (level.cells.blocks(cell.block_index).refined >> octant & 1) continue;
        added += change(level.at(cell), rates, n, dt);
      }
      ledger["energy"] += level.cell_volume * added;
    }
  }

  static mesh::Cell cell_of(const GasLevel& level, int first, int n) {
    const int cells = level.cells.cells_per_block(), place = first + n / cells;
    return {place, level.cells.blocks(place).slot, n % cells};
  }

  // Applies the source terms to a cell. Returns the increase of its energy density.
  static double change(const hydro::GasCell& cell, const SourceRates& rates, int n, double dt) {
    double added = 0.0;
    if (!rates.acceleration[0].empty()) {
      double momentum[3], work = 0.0;
      for (int d = 0; d < 3; ++d) {
        const double kick = dt * rates.acceleration[d][n];
        momentum[d] = cell.density() * kick;
        work += momentum[d] * (cell.velocity(d) + 0.5 * kick);
      }
      added += work + cell.add(0.0, momentum, work);
    }
    if (!rates.heating.empty())
      added += cell.set_internal_energy(cell.internal_energy() + dt * rates.heating[n]);
    return added;
  }

  SourceFunction rates_;
  bool is_balanced_ = false;
};

}  // namespace

std::unique_ptr<Process> make_source(SourceFunction rates) {
  if (!k_device_is_host)
    throw InputError("source functions are not supported on GPUs; use a CPU build");
  return std::make_unique<GivenSource>(std::move(rates));
}

}  // namespace octant::subgrid
