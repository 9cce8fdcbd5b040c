#include "bench/command.hpp"

#include "run/run_request.hpp"

namespace octant::bench {

int run_command(const Command& command, const std::vector<std::string>& words) {
  Options options(command.name, command.meaning);
  std::string json_file;
  command.declare(options);
  options.json(json_file);
  if (!options.read(words)) return k_done;
  const Communicator communicator = Communicator::world();
  Report report(communicator, json_file);
  command.measure(communicator, report);
  report.finish();
  return k_done;
}

}  // namespace octant::bench
