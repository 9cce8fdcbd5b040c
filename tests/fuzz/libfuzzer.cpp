// Functions that libFuzzer calls. The environment variable FUZZ_TARGET names the target.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "targets.hpp"

using namespace octant;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace {

const fuzz::Target* g_target = nullptr;

std::string_view as_text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const char* name = std::getenv("FUZZ_TARGET");
  g_target = &fuzz::target_named(name == nullptr ? "" : name);
  fuzz::start(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::read_one(*g_target, as_text(bytes, size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const std::string input(as_text(bytes, size));
  const std::string result = fuzz::mutated(*g_target, input, most, seed, LLVMFuzzerMutate);
  std::memcpy(bytes, result.data(), result.size());
  return result.size();
}
