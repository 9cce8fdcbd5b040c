// Parquet files of telemetry.
#include <string>
#include <vector>

#include "core/error.hpp"
#include "fuzz.hpp"
#include "telemetry/parquet_file.hpp"

namespace octant {

OCTANT_FUZZ(parquet, binary) {
  const std::string path = fuzz::write_file("table.parquet", input);
  int accepted = 0;
  const auto attempt = [&](const auto& step) {
    try {
      step();
      ++accepted;
    } catch (const RunError&) {
    }
  };
  attempt([&] { telemetry::parquet_metadata(path); });
  for (const std::string name : {"step", "kernel", "seconds", "is_last", "level", "a", "b"})
    attempt([&] { telemetry::read_parquet(path, {&name, 1}); });
  const std::vector<std::string> twice{path, path};
  const std::string merged = fuzz::folder() + "/merged.parquet";
  attempt([&] { telemetry::merge_parquet(twice, merged, {}, 3); });
  attempt([&] { telemetry::join_parquet(twice, merged, {}); });
  if (accepted == 0) throw RunError("no reader accepts the file");
}

}  // namespace octant
