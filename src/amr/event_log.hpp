// Event logs of processes: Parquet files with a row for each event of a run, such as
// stars_formed.parquet for the births of stars.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/process.hpp"

namespace octant {

// `Event` is StarBirth or HoleMerger; event_log.cpp defines the files.
template <class Event>
class EventLog {
 public:
  // Adds this rank's events of a coarse step.
  void add(const std::vector<Event>& events, std::int64_t step, double time, double scale_factor);

  // Updates the file in a directory, with all events so far in the order of time and ids. A run
  // without events has no file. Throws RunError on all ranks if writing fails. Collective.
  void write(const Communicator& communicator, const std::string& directory);

  // Continues the file in this directory after a restart: keeps events from coarse steps before
  // `step`, since later ones will be repeated. Collective.
  void go_on(const Communicator& communicator, const std::string& directory, std::int64_t step);

 private:
  struct Row {
    Event event;
    std::int64_t step;
    double time, scale_factor;
  };
  static constexpr auto k_all_rows = std::numeric_limits<std::int64_t>::max();
  void write_rows(const std::string& path, std::vector<Row> rows) const;
  void merge(const std::vector<std::string>& parts, const std::string& path);

  std::vector<Row> rows_;                      // of this rank, since the file was last written
  std::string earlier_;                        // file with all earlier rows; "": none
  std::int64_t rows_of_earlier_ = k_all_rows;  // number of its valid rows, from the start
};

extern template class EventLog<subgrid::StarBirth>;
extern template class EventLog<subgrid::HoleMerger>;

}  // namespace octant
