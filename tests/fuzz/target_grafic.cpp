// Folders of initial conditions in the grafic2 format.
#include <filesystem>

#include "comm/communicator.hpp"
#include "fuzz.hpp"
#include "io/grafic.hpp"

namespace octant {

OCTANT_FUZZ(grafic, files) {
  fuzz::write_files(input);
  const GraficFolder files(Communicator::world(), fuzz::folder());
  for (std::size_t level = 0; level < files.levels().size(); ++level)
    for (const char* field : {"ic_deltab", "ic_velcx", "ic_refmap", "ic_pvar_00001"}) {
      if (!files.has(field)) continue;
      const GraficFile file(files.file(static_cast<int>(level), field));
      const std::int64_t planes = file.header().cells[2];
      file.planes({0, planes / 2});
      file.planes({planes / 2, planes - planes / 2});
    }
}

}  // namespace octant
