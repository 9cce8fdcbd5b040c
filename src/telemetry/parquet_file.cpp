#include "telemetry/parquet_file.hpp"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "telemetry/parquet_library.hpp"
#include "telemetry/parquet_reader.hpp"

namespace octant::telemetry {

namespace {

#ifdef OCTANT_PARQUET_LIBRARY

// Beside the file that this code is in, where a system has its libraries, or where it was built.
std::array<std::filesystem::path, 3> library_paths() {
  const std::filesystem::path built(OCTANT_PARQUET_LIBRARY);
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&parquet_is_available), &own);
  std::filesystem::path here = own.dli_fname ? own.dli_fname : "";
  if (!here.has_parent_path())  // a program that was found in the PATH
    here = std::filesystem::read_symlink("/proc/self/exe");
  const auto folder = std::filesystem::absolute(here).parent_path();
  return {folder / built.filename(), folder / "../lib" / built.filename(), built};
}

const ParquetLibrary& load() {
  std::string reason;
  for (const std::filesystem::path& path : library_paths()) {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* functions = library ? dlsym(library, "octant_parquet_library") : nullptr;
    if (functions) return *reinterpret_cast<decltype(&octant_parquet_library)>(functions)();
    reason += (reason.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw RunError("the library that writes Parquet cannot be loaded ({})", reason);
}

const ParquetLibrary& library() {
  static const ParquetLibrary& loaded = load();
  return loaded;
}

#else

const ParquetLibrary& library() {
  throw RunError("this program was built without telemetry (OCTANT_TELEMETRY)");
}

#endif

// Runs a step on a file; whatever it throws becomes a RunError that names the file.
template <class Step>
auto on_file(const char* what, const std::string& path, const Step& step) {
  try {
    return step();
  } catch (const std::exception& error) {
    throw RunError(
        "cannot {} the telemetry file '{}': {}; check the space left and the permissions, or run "
        "with telemetry.enabled = false",
        what, path, error.what());
  }
}

}  // namespace

bool parquet_is_available() {
#ifdef OCTANT_PARQUET_LIBRARY
  return true;
#else
  return false;
#endif
}

void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata) {
  on_file("write", path, [&] { library().write(path, columns, metadata); });
}

void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata, std::int64_t rows_of_first) {
  on_file("write", path, [&] { library().merge(inputs, path, metadata, rows_of_first); });
}

Metadata parquet_metadata(const std::string& path) {
  return on_file("read", path, [&] { return library().metadata(path); });
}

std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names) {
  return on_file("read", path, [&] { return library().read(path, names); });
}

}  // namespace octant::telemetry
