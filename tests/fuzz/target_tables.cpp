// Tables: opacities, stars and functions of expressions as text; equations of state, cooling rates,
// ultraviolet backgrounds and stellar yields as HDF5.
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/expression.hpp"
#include "core/number_file.hpp"
#include "fuzz.hpp"
#include "hydro/eos/eos_table.hpp"
#include "radiation/opacity_table.hpp"
#include "subgrid/cooling/table.hpp"
#include "subgrid/cooling/uv_background.hpp"
#include "subgrid/ionization/stellar_table.hpp"
#include "subgrid/supernovae/population.hpp"

namespace octant {

using fuzz::attempt;

OCTANT_FUZZ(text_tables, text) {
  int accepted = 0;
  const TextReader read = [&](const std::string&) { return std::string(input); };
  accepted += attempt([&] {
    const CodeUnits units{1e18, 1e33, 1e13};
    const radiation::OpacityTable table("table.txt", &units, read);
    table.ranges();
  });
  accepted += attempt([&] {
    const subgrid::ionization::StellarTable table("table.txt", 2, read);
    for (const double age : {-1.0, 0.0, 1e13, 1e15, 1e18})
      for (const double metallicity : {0.0, 0.01, 1.0}) table.photons(0.5 * age, age, metallicity);
  });
  accepted += attempt([&] {
    ExpressionPoint point;
    ExpressionNames names = point.names();
    names.add_table("problem.tables", "profile", "table.txt", read);
    const Expression profile("problem.density", "profile(x)", names);
    for (const double x : {-1e300, 0.0, 0.5, 2.0, 1e300}) {
      point.x = x;
      profile.value();
    }
  });
  if (accepted == 0) throw InputError("no reader accepts the file");
}

OCTANT_FUZZ(hdf5_tables, files) {
  int accepted = 0;
  fuzz::write_files(input);
  const Communicator world = Communicator::world();
  const std::string path = fuzz::folder() + "/file.h5";
  accepted += attempt([&] {
    const auto table = hydro::read_eos_table(world, path, 0.1);
    if (input.size() % 16 != 0) return;  // the next step takes 0.1 s
    const hydro::TabulatedGas gas(table, CodeUnits{1e18, 1e33, 1e13}, 5.0 / 3.0);
    gas.pressures_at(1e-24);
  });
  accepted += attempt([&] {
    const auto table = subgrid::cooling::read_cooling_table(world, path);
    for (const double z : {0.0, 1.0, 1e3})
      if (!table.background_redshift.empty())
        subgrid::cooling::at_redshift(table.background_redshift, table.hydrogen_ionization, z);
  });
  accepted += attempt([&] {
    const auto table = subgrid::cooling::read_uv_background(world, path);
    for (const double z : {0.0, 1.0, 1e3}) table.at(z);
  });
  accepted += attempt([&] {
    const subgrid::PopulationTable table(world, path);
    for (const double age : {0.0, 1.0, 1e4})
      for (const double metallicity : {0.0, 0.01, 1.0}) {
        table.until(age, metallicity);
        table.age_of(0.1, metallicity);
      }
  });
  if (accepted == 0) throw InputError("no reader accepts the file");
}

}  // namespace octant
