#include "problems/random_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"

namespace octant::problems {

RandomField::RandomField(const std::string& parameter, const std::string& text,
                         const mesh::Geometry& geometry)
    : lower_(geometry.lower()) {
  for (int d = 0; d < 3; ++d)
    wave_number_[d] = 2.0 * M_PI / (geometry.upper()[d] - geometry.lower()[d]);
  add_waves(parse(parameter, text));
  if (waves_.empty())
    throw InputError("{} = \"{}\": the domain has no modes in this range of wavenumbers", parameter,
                     text);
  along_x_.resize(2 * most_[0] + 1);
  row_.fill(std::numeric_limits<double>::quiet_NaN());
}

RandomField::Spectrum RandomField::parse(const std::string& parameter, const std::string& text) {
  Spectrum spectrum;
  const std::pair<std::string, double*> known[] = {{"seed", &spectrum.seed},
                                                   {"from", &spectrum.from},
                                                   {"to", &spectrum.to},
                                                   {"slope", &spectrum.slope},
                                                   {"rms", &spectrum.rms}};
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    std::istringstream words(item);
    std::string name, rest;
    double value = 0.0;
    const bool is_pair = words >> name >> value && !(words >> rest);
    const auto* const found =
        std::ranges::find_if(known, [&](const auto& entry) { return entry.first == name; });
    if (!is_pair || found == std::end(known))
      throw InputError(
          "{}: cannot parse \"{}\"; expected \"seed 1, from 1, to 8, slope -2, rms 0.1\"",
          parameter, item);
    *found->second = value;
  }
  if (!(spectrum.to >= spectrum.from && spectrum.from >= 0.0 && spectrum.to <= 64.0))
    throw InputError("{} = \"{}\": expected wavenumbers 0 <= from <= to <= 64", parameter, text);
  return spectrum;
}

// Adds one wave of each pair k, -k. Random numbers depend on seed and wave numbers alone, so that a
// wider spectrum contains the waves of a narrower one, up to normalisation.
void RandomField::add_waves(const Spectrum& spectrum) {
  const double longest = *std::ranges::min_element(wave_number_);
  std::array<int, 3> most;
  for (int d = 0; d < 3; ++d)
    most[d] = static_cast<int>(spectrum.to * longest / wave_number_[d] + 1e-9);
  double variance = 0.0;
  for (int z = 0; z <= most[2]; ++z)
    for (int y = z == 0 ? 0 : -most[1]; y <= most[1]; ++y)
      for (int x = z == 0 && y == 0 ? 1 : -most[0]; x <= most[0]; ++x) {
        const double k =
            std::hypot(x * wave_number_[0], y * wave_number_[1], z * wave_number_[2]) / longest;
        if (k < spectrum.from - 1e-9 || k > spectrum.to + 1e-9) continue;
        const std::uint64_t key = (static_cast<std::uint64_t>(z) << 32) +
                                  (static_cast<std::uint64_t>(y + 64) << 16) +
                                  static_cast<std::uint64_t>(x + 64);
        const RandomStream random(static_cast<std::uint64_t>(std::llround(spectrum.seed)), key, 0);
        const auto [re, im] = random.normal_pair(0);
        const std::complex<double> amplitude =
            std::pow(k, 0.5 * spectrum.slope) * std::complex<double>(re, im);
        waves_.push_back({{x, y, z}, amplitude});
        variance += 0.5 * std::norm(amplitude);
        for (int d = 0; d < 3; ++d)
          most_[d] = std::max(most_[d], std::abs(waves_.back().number[d]));
      }
  for (Wave& wave : waves_) wave.amplitude *= spectrum.rms / std::sqrt(variance);
}

std::complex<double> RandomField::turn(int axis, int number, double position) const {
  return std::polar(1.0, number * wave_number_[axis] * (position - lower_[axis]));
}

double RandomField::value(const std::array<double, 3>& position) const {
  if (row_[0] != position[1] || row_[1] != position[2]) {
    row_ = {position[1], position[2]};
    std::vector<std::complex<double>> y_turns;
    for (int n = -most_[1]; n <= most_[1]; ++n) y_turns.push_back(turn(1, n, position[1]));
    std::vector<std::complex<double>> z_turns;
    for (int n = 0; n <= most_[2]; ++n) z_turns.push_back(turn(2, n, position[2]));
    std::ranges::fill(along_x_, 0.0);
    for (const auto& [number, amplitude] : waves_)
      along_x_[number[0] + most_[0]] +=
          amplitude * (y_turns[number[1] + most_[1]] * z_turns[number[2]]);
  }
  // Real part of a sum over all wave numbers along x.
  const std::complex<double> first = turn(0, 1, position[0]);
  std::complex<double> sum = along_x_[most_[0]], power = 1.0;
  for (int n = 1; n <= most_[0]; ++n) {
    power *= first;
    sum += along_x_[most_[0] + n] * power + along_x_[most_[0] - n] * std::conj(power);
  }
  return sum.real();
}

}  // namespace octant::problems
