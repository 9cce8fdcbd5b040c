#include "driver/run_control.hpp"

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/own_files.hpp"

namespace octant::driver {

RunControl::RunControl(const RunOptions& options, const std::string& directory,
                       const Communicator& communicator, bool heeds_signals)
    : options_(options),
      control_path_(directory + "/" + options.control_file),
      communicator_(communicator) {
  if (heeds_signals) signals_.emplace(communicator.is_root());
}

void RunControl::read_control_file(News& news) {
  constexpr std::size_t k_most_bytes = 1 << 16;
  const ReadFile file(control_path_, k_most_bytes);
  if (file.identity().empty() || file.identity() == refused_) return;
  ParameterSchema schema;
  bool stop = false, dump = false;
  schema.add("stop", stop, {.meaning = "Request to write a checkpoint and end the run"});
  schema.add("dump", dump, {.meaning = "Request to write a snapshot after the current step"});
  schema.add("snapshot_interval", news.snapshot_interval,
             {.unit = "time", .meaning = "New value of output.snapshot_interval"});
  schema.add("checkpoint_interval", news.checkpoint_interval,
             {.unit = "s", .meaning = "New value of output.checkpoint_interval"});
  try {
    if (!file.is_read()) throw InputError("{}: {}", control_path_, file.reason());
    schema.read_text(file.text(), control_path_);
    news.stop = stop;
    news.dump = dump;
    file.remove();
    log::info("applied control file {}", control_path_);
  } catch (const InputError& error) {
    // A typing error must not end a run of weeks.
    log::warn("{}; the control file is ignored until it changes", error.what());
    refused_ = file.identity();
    news.snapshot_interval = news.checkpoint_interval = -1.0;
  }
}

Wishes RunControl::look(OutputOptions& output, double step_seconds) {
  News news;
  if (communicator_.is_root()) {
    read_control_file(news);
    const double last_moment = options_.walltime - options_.walltime_margin - 2.0 * step_seconds;
    news.by_walltime = options_.walltime > 0.0 && clock_.seconds() > last_moment;
  }
  news.signal = signals_ ? signals_->received() : 0;
  double known[] = {news.stop,
                    news.dump,
                    news.by_walltime,
                    news.signal,
                    news.snapshot_interval,
                    news.checkpoint_interval};
  communicator_.max_in_place(std::span<double>(known));
  news = {known[0], known[1], known[2], known[3], known[4], known[5]};
  if (news.snapshot_interval >= 0.0) output.snapshot_interval = news.snapshot_interval;
  if (news.checkpoint_interval >= 0.0) output.checkpoint_interval = news.checkpoint_interval;

  Wishes wishes{.stop = news.stop + news.by_walltime + news.signal > 0.0,
                .dump = news.dump > 0.0,
                .reason = ""};
  if (news.stop > 0.0) wishes.reason = "the job-control file says so";
  if (news.by_walltime > 0.0) wishes.reason = "the walltime is nearly over";
  if (news.signal > 0.0) wishes.reason = fmt::format("signal {}", static_cast<int>(news.signal));
  return wishes;
}

}  // namespace octant::driver
