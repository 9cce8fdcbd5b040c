#include "cosmology/initial_generator.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/random.hpp"
#include "io/input_files.hpp"

namespace octant::cosmology {

namespace {

using Wave = std::array<int, 3>;

// Returns true for the wave of each pair of opposite waves that is drawn; the other is conjugate.
bool is_drawn(const Wave& wave) {
  for (const int component : {wave[2], wave[1], wave[0]})
    if (component != 0) return component > 0;
  return true;
}

std::uint64_t key_of(const Wave& wave) {
  std::uint64_t key = 0;
  for (const int component : wave)
    key = key << 21 | static_cast<std::uint64_t>(component + (1 << 20));
  return key;
}

}  // namespace

std::complex<double> noise_amplitude(std::uint64_t seed, int nx, int ny, int nz) {
  const Wave wave{nx, ny, nz};
  if (wave == Wave{}) return 0.0;
  const bool drawn = is_drawn(wave);
  const RandomStream stream(seed, key_of(drawn ? wave : Wave{-nx, -ny, -nz}), 0);
  const auto [first, second] = stream.normal_pair(0);
  return std::complex(first, drawn ? second : -second) * std::numbers::sqrt2 / 2.0;
}

std::complex<double> noise_mode(std::uint64_t seed, const pencil::Mode& mode,
                                const pencil::Cells& cells) {
  const Wave wave{mode.x, mode.y, mode.z};
  std::array<int, 3> signs;  // number of waves along each axis in the mode
  double share = 1.0;
  for (int axis = 0; axis < 3; ++axis) {
    signs[axis] = 2 * wave[axis] == cells[axis] ? 2 : 1;
    share *= static_cast<double>(cells[axis]) / signs[axis];
  }
  std::complex<double> sum = 0.0;
  for (int n = 0; n < signs[0] * signs[1] * signs[2]; ++n) {
    const int x = n % signs[0] == 0 ? wave[0] : -wave[0];
    const int y = n / signs[0] % signs[1] == 0 ? wave[1] : -wave[1];
    const int z = n / signs[0] / signs[1] == 0 ? wave[2] : -wave[2];
    const double phase = static_cast<double>(x) / cells[0] + static_cast<double>(y) / cells[1] +
                         static_cast<double>(z) / cells[2];
    // the phase is k.(h / 2)
    sum += noise_amplitude(seed, x, y, z) * std::polar(1.0, std::numbers::pi * phase);
  }
  return sum * std::sqrt(share);
}

namespace {

void check(const GeneratorOptions& options, const InitialHeader& header) {
  if (!(header.box > 0.0) || !(header.scale_factor > 0.0))
    throw InputError(
        "box size and scale factor of generated initial conditions must be positive, but they are "
        "{} Mpc/h and {}",
        header.box, header.scale_factor);
  if (options.side < 2)
    throw InputError("initial.cells = {} is too small for generated initial conditions",
                     options.side);
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

  // Largest wave number; a table that ends below it fails here, on every rank.
  const double largest_k = std::sqrt(3.0) * std::numbers::pi * side / header.box;
  const LinearPower power(options.spectrum, reader_on_root(communicator));
  static_cast<void>(power(largest_k));
  const bool takes_part = communicator.rank() < processes_.ranks();
  const Communicator active = communicator.split(takes_part ? 0 : 1);
  if (!takes_part) return;
  const pencil::PencilGrid grid(active, cells, processes_);
  const double volume_per_cell = std::pow(header.box / side, 3);
  const auto overdensity = [&](const pencil::Mode& mode, double k) {
    return noise_mode(options.seed, mode, cells) * std::sqrt(power(k) / volume_per_cell);
  };
  fields_.emplace(grid, header.box, overdensity, options.order);
}

bool GeneratedConditions::has(InitialField field) const {
  return field.quantity != InitialQuantity::refinement && field.quantity != InitialQuantity::scalar;
}

std::string GeneratedConditions::missing(InitialField field) const {
  return fmt::format(
      "generated initial conditions contain no {}; use files (initial.kind = \"grafic\")",
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
