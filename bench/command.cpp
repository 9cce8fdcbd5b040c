#include "bench/command.hpp"

#include "bench/options.hpp"
#include "driver/command_line.hpp"

namespace octant::bench {

int run_command(const Command& command, const std::vector<std::string>& options) {
  CLI::App app(command.title, command.name);
  std::string json_file;
  command.declare(app);
  add_json_option(app, json_file);
  if (!parse(app, options)) return driver::k_done;
  const Communicator communicator = Communicator::world();
  Report report(communicator, json_file);
  command.measure(communicator, report);
  report.finish();
  return driver::k_done;
}

}  // namespace octant::bench
