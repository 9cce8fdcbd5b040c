// Control file of a run.
#include "comm/communicator.hpp"
#include "fuzz.hpp"
#include "output/output_options.hpp"
#include "run/run_control.hpp"

namespace octant {

OCTANT_FUZZ(control, text) {
  fuzz::write_file("control.toml", input);
  RunControl control({}, fuzz::folder(), Communicator::world(), false);
  OutputOptions output;
  control.poll(output, 1.0);
  control.poll(output, 1.0);
}

}  // namespace octant
