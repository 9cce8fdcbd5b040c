// What stands in for parquet_file.cpp in a build without Arrow.
#ifndef OCTANT_ARROW

#include "core/error.hpp"
#include "telemetry/parquet_file.hpp"
#include "telemetry/parquet_reader.hpp"

namespace octant::telemetry {

namespace {

[[noreturn]] void fail(const std::string& path) {
  throw RunError("'{}': this program was built without telemetry (OCTANT_TELEMETRY)", path);
}

}  // namespace

bool parquet_is_available() { return false; }

void write_parquet(const std::string& path, std::span<const Column>, const Metadata&) {
  fail(path);
}

void merge_parquet(std::span<const std::string>, const std::string& path, const Metadata&,
                   std::int64_t) {
  fail(path);
}

Metadata parquet_metadata(const std::string& path) { fail(path); }

std::vector<Column> read_parquet(const std::string& path, std::span<const std::string>) {
  fail(path);
}

}  // namespace octant::telemetry

#endif
