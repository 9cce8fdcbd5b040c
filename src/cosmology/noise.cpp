#include "cosmology/noise.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "core/random.hpp"

namespace octant::cosmology {

namespace {

using Wave = std::array<int, 3>;

// Of two opposite waves, the one that is drawn.
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

std::complex<double> noise_wave(std::uint64_t seed, int x, int y, int z) {
  const Wave wave{x, y, z};
  if (wave == Wave{}) return 0.0;
  const bool drawn = is_drawn(wave);
  const RandomStream stream(seed, key_of(drawn ? wave : Wave{-x, -y, -z}), 0);
  const auto [first, second] = stream.normal_pair(0);
  return std::complex(first, drawn ? second : -second) * std::numbers::sqrt2 / 2.0;
}

std::complex<double> noise_mode(std::uint64_t seed, const pencil::Mode& mode,
                                const pencil::Cells& cells) {
  const Wave wave{mode.x, mode.y, mode.z};
  std::array<int, 3> signs;  // how many waves along each axis share the mode
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
    sum += noise_wave(seed, x, y, z) * std::polar(1.0, std::numbers::pi * phase);  // k.(h / 2)
  }
  return sum * std::sqrt(share);
}

}  // namespace octant::cosmology
