#include "driver/power_file.hpp"

#include <filesystem>
#include <span>

#include "io/posix_file.hpp"
#include "io/whole_file.hpp"

namespace octant::driver {

void write_power_spectrum(const gravity::PowerSpectrum& spectrum, const Communicator& communicator,
                          const std::string& snapshot_path) {
  const std::filesystem::path snapshot(snapshot_path);
  std::string name = snapshot.stem().string();
  name.replace(0, name.find('_'), "power");
  WholeFile file(communicator, (snapshot.parent_path() / (name + ".csv")).string());
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const std::string text = spectrum.csv();
    PosixFile part(file.part_path(), PosixFile::Mode::create);
    part.write_at(0, std::as_bytes(std::span(text)));
    part.sync();
  });
  file.commit();
}

}  // namespace octant::driver
