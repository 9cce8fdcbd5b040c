#include "driver/power_file.hpp"

#include <cmath>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "io/posix_file.hpp"
#include "io/whole_file.hpp"

namespace octant::driver {

namespace {

std::string table_of(const gravity::PowerSpectrum& spectrum, const SpectrumUnits& units) {
  const double volume = std::pow(units.length, 3);
  std::string text = fmt::format("k [{0}],power [{1}],corrected [{1}],modes,shot_noise [{1}]\n",
                                 units.wave_number, units.volume);
  for (const gravity::SpectrumBin& bin : spectrum.bins)
    text += fmt::format("{},{},{},{},{}\n", bin.k / units.length, volume * bin.power,
                        volume * bin.corrected, bin.modes, volume * spectrum.shot_noise);
  return text;
}

}  // namespace

void write_power_spectrum(const gravity::PowerSpectrum& spectrum, const SpectrumUnits& units,
                          const Communicator& communicator, const std::string& snapshot_path) {
  const std::filesystem::path snapshot(snapshot_path);
  std::string name = snapshot.stem().string();
  name.replace(0, name.find('_'), "power");
  WholeFile file(communicator, (snapshot.parent_path() / (name + ".csv")).string());
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const std::string text = table_of(spectrum, units);
    PosixFile part(file.part_path(), PosixFile::Mode::create);
    part.write_at(0, std::as_bytes(std::span(text)));
    part.sync();
  });
  file.commit();
}

}  // namespace octant::driver
