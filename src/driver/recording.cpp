#include "driver/recording.hpp"

#include "comm/clock_alignment.hpp"
#include "core/log.hpp"

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

std::unique_ptr<telemetry::Recorder> make_recorder(const Communicator& communicator,
                                                   const RunSettings& settings,
                                                   const std::string& directory, bool restart) {
  if (!settings.telemetry.enabled) return nullptr;
  if (!telemetry::parquet_is_available()) {
    log::debug("this program was built without telemetry");
    return nullptr;
  }
  const NodePlace place = place_on_node(communicator, settings.debug);
  const Communicator machine = communicator.split_by_node();
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
          [communicator, machine] {
            const ClockOffset own = align_clocks(communicator, machine);
            return telemetry::Alignment{own.offset_ns, communicator.max(own.error_ns)};
          }};
  const telemetry::RunFacts facts{.directory = directory,
                                  .restart = restart,
                                  .model = name_of(settings.model),
                                  .block_size = settings.block_size,
                                  .detail = name_of(settings.telemetry.detail)};
  return std::make_unique<telemetry::Recorder>(settings.telemetry, facts, ranks);
}

}  // namespace octant::driver
