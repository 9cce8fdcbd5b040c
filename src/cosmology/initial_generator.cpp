#include "cosmology/initial_generator.hpp"

#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "cosmology/noise.hpp"

namespace octant::cosmology {

namespace {

void check(const GeneratorOptions& options, const InitialHeader& header) {
  if (!(header.box > 0.0) || !(header.scale_factor > 0.0))
    throw InputError(
        "generated initial conditions need a box and a scale factor, but these are "
        "{} Mpc/h and {}",
        header.box, header.scale_factor);
  if (options.side < 2)
    throw InputError("initial.cells = {} is too few for a generated field", options.side);
}

}  // namespace

GeneratedConditions::GeneratedConditions(const Communicator& communicator,
                                         const GeneratorOptions& options,
                                         const InitialHeader& header, const Expansion& expansion)
    : InitialConditions(communicator) {
  check(options, header);
  growth_ = expansion.growth(header.scale_factor);
  rate_ = velocity_rate(expansion.background(), header.scale_factor);
  const int side = options.side;
  header_ = header;
  levels_.push_back({side, pencil::Box{{pencil::Range{0, side}, pencil::Range{0, side},
                                        pencil::Range{0, side}}}});
  const pencil::Cells cells{side, side, side};
  processes_ = pencil::fitting_process_grid(communicator.size(), cells);

  // The corner of the modes, so that a table that ends before fails on every rank.
  const double largest_k = std::sqrt(3.0) * std::numbers::pi * side / header.box;
  std::optional<LinearPower> power;
  communicator.agree([&] { static_cast<void>(power.emplace(options.spectrum)(largest_k)); });
  const bool takes_part = communicator.rank() < processes_.ranks();
  const Communicator active = communicator.split(takes_part ? 0 : 1);
  if (!takes_part) return;
  const pencil::PencilGrid grid(active, cells, processes_);
  const double volume_per_cell = std::pow(header.box / side, 3);
  const auto overdensity = [&](const pencil::Mode& mode, double k) {
    return noise_mode(options.seed, mode, cells) * std::sqrt((*power)(k) / volume_per_cell);
  };
  fields_.emplace(grid, header.box, overdensity, options.order);
}

bool GeneratedConditions::has(InitialField field) const {
  return field.quantity != InitialQuantity::refinement && field.quantity != InitialQuantity::scalar;
}

std::string GeneratedConditions::missing(InitialField field) const {
  return fmt::format(
      "generated initial conditions hold no {}; files do (initial.kind = \"grafic\")",
      field.quantity == InitialQuantity::scalar ? "passive scalars" : "refinement mask");
}

CellSpread GeneratedConditions::spread(int) const { return {levels_.front().extent, processes_}; }

std::vector<double> GeneratedConditions::compute(int, InitialField field) {
  if (!fields_) return {};
  switch (field.quantity) {
    case InitialQuantity::overdensity: return fields_->overdensity(growth_.first);
    case InitialQuantity::displacement: return fields_->displacement(field.index, growth_);
    default: return fields_->velocity(field.index, growth_, rate_);
  }
}

}  // namespace octant::cosmology
