#include "commands/check_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <fmt/ranges.h>

#include "run/run_folder.hpp"
#include "run/timers.hpp"

namespace octant {

std::string size_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", std::ceil(1e-3 * bytes));
  return bytes < 1e9 ? fmt::format("{:.3g} MB", 1e-6 * bytes)
                     : fmt::format("{:.1f} GB", 1e-9 * bytes);
}

std::string duration_text(double seconds) {
  return seconds < 10.0 ? fmt::format("{:.2g} s", seconds) : in_words(seconds);
}

void CheckReport::add_end(const std::string& name, const std::string& end, std::int64_t max_steps) {
  const bool limited = max_steps < std::numeric_limits<int>::max() / 4;
  add("end", "{} ({}){}", end, name,
      limited ? fmt::format(", or step {} (time.max_steps)", max_steps) : "");
}

void CheckReport::add_files(const OutputOptions& output, const Files& files) {
  double count = 2.0;  // initial and final state
  for (const double time : files.snapshot_times) count += time > files.begin && time < files.end;
  if (output.snapshot_interval > 0.0 && files.end > files.begin)
    count += std::max(0.0, std::ceil(files.end / output.snapshot_interval) -
                               std::floor(files.begin / output.snapshot_interval) - 1.0);
  const auto of_size = [](double bytes) {
    return bytes > 0.0 ? " of about " + size_text(bytes) : std::string();
  };
  add("files", "{}/: {:.0f} snapshots{} ({})", output.directory, count,
      of_size(files.snapshot_bytes), fmt::join(output.formats, ", "));
  if (output.final_checkpoint || output.checkpoint_interval > 0.0)
    add("", "checkpoints{}; the newest {} are kept", of_size(files.checkpoint_bytes),
        output.checkpoint_keep);
  if (!output.slices.empty()) add("", "slices: {}", fmt::join(output.slices, ", "));
  if (output.coarse_level >= 0) add("", "coarsened snapshots: levels 0 to {}", output.coarse_level);
  add("", "run.toml, log.txt, history.csv, telemetry/");
  if (holds_run(output.directory))
    note(fmt::format(
        "{} already contains a run: --restart latest continues it, --overwrite moves it aside",
        output.directory));
}

void CheckReport::answer_least_memory(const std::string& fields, double bytes) {
  add("memory", "{} alone need {:.0f} MB per rank", fields, 1e-6 * bytes);
  answer = fmt::format("at least {:.0f} MB per rank", 1e-6 * bytes);
}

std::vector<std::string> CheckReport::summary() const {
  constexpr std::size_t k_max_notes = 12;
  std::vector<std::string> all;
  for (const Line& line : lines_) all.push_back(fmt::format("{:<9}{}", line.label, line.text));
  for (std::size_t n = 0; n < std::min(notes_.size(), k_max_notes); ++n) {
    std::string text = notes_[n];
    std::replace(text.begin(), text.end(), '\n', ' ');
    all.push_back("note     " + text);
  }
  return all;
}

void CheckReport::print(const Communicator& communicator, const RunRequest& request,
                        const std::string& resolved, const std::function<void()>& verify) const {
  const std::string prefix = request.all ? "# " : "";
  std::string text = request.all ? resolved + "\n" : "";
  for (const std::string& line : summary()) text += prefix + line + "\n";
  if (request.all) {
    for (const std::string& line : details_) text += prefix + line + "\n";
    std::istringstream rows(table);
    for (std::string row; std::getline(rows, row);) text += prefix + row + "\n";
  }
  if (communicator.is_root()) fmt::print("{}", text);
  if (verify) verify();
  if (communicator.is_root()) fmt::print("{}{} is valid: {}\n", prefix, request.file, answer);
}

}  // namespace octant
