#include "driver/recording.hpp"

#include <fmt/format.h>

#include "comm/clock_alignment.hpp"
#include "core/log.hpp"
#include "core/version.hpp"

namespace octant::driver {

NodePlace place_on_node(const Communicator& communicator, const DebugOptions& debug) {
  const int rank = communicator.rank();
  if (debug.ranks_per_node > 0) {
    const int number = rank / debug.ranks_per_node;
    return {communicator.split(number), number, debug.ranks_per_node};
  }
  const Communicator ranks = communicator.split_by_node();
  std::int32_t number = communicator.exclusive_scan(std::int32_t{ranks.is_root() ? 1 : 0});
  ranks.broadcast(number);
  return {ranks, number, communicator.max(ranks.size())};
}

namespace {

telemetry::Metadata circumstances_of(const Machine& machine) {
  return {{"octant.machine", machine.name},
          {"octant.processor", machine.processor},
          {"octant.gpu", machine.devices.name},
          {"octant.processors_per_node", fmt::to_string(machine.processors)},
          {"octant.processors_per_rank", fmt::to_string(machine.processors_per_rank)},
          {"octant.threads_per_rank", fmt::to_string(machine.threads_per_rank)},
          {"octant.version", fmt::format("{} ({})", k_version, k_git_revision)},
          {"octant.built_with", k_tools},
          {"octant.built_for", k_processor}};
}

}  // namespace

std::unique_ptr<telemetry::Recorder> make_recorder(const Communicator& communicator,
                                                   const RunSettings& settings,
                                                   const std::string& directory, bool restart,
                                                   const Machine& machine) {
  if (!settings.telemetry.enabled) return nullptr;
  const NodePlace place = place_on_node(communicator, settings.debug);
  const Communicator neighbours = communicator.split_by_node();
  const telemetry::Ranks ranks{
      .rank = communicator.rank(),
      .size = communicator.size(),
      .node = place.number,
      .ranks_per_node = place.ranks_per_node,
      .writes = place.ranks.is_root(),
      .gather = [node = place.ranks](
                    std::span<const std::byte> rows) { return node.gather_to_root(rows); },
      .agree = [communicator](const std::function<void()>& step) { communicator.agree(step); },
      .max = [communicator](double value) { return communicator.max(value); },
      .broadcast = [communicator](std::string& text) { communicator.broadcast(text); },
      .align_clocks =
          [communicator, neighbours] {
            const ClockOffset own = align_clocks(communicator, neighbours);
            return telemetry::Alignment{own.offset_ns, communicator.max(own.error_ns)};
          }};
  const telemetry::RunFacts facts{.directory = directory,
                                  .restart = restart,
                                  .model = name_of(settings.model),
                                  .block_size = settings.block_size,
                                  .detail = name_of(settings.telemetry.detail),
                                  .circumstances = circumstances_of(machine)};
  return std::make_unique<telemetry::Recorder>(settings.telemetry, facts, ranks);
}

}  // namespace octant::driver
