// Short form of the fuzz tests, for builds without libFuzzer: reads the seeds of each target and
// mutations of them.
//
//   test_fuzz CORPUS INPUTS [TARGET...]
//
// Prints the target, the number of inputs and the processor time. On a crash, the last input is
// CORPUS/../last_input in the working folder.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "targets.hpp"

using namespace octant;

namespace {

constexpr std::size_t k_most_bytes = 1 << 16;

std::minstd_rand& generator() {
  static std::minstd_rand random(1);
  return random;
}

// Changes, inserts or removes a few bytes.
std::size_t mutate_bytes(std::uint8_t* bytes, std::size_t size, std::size_t most) {
  std::minstd_rand& random = generator();
  const std::size_t at = size > 0 ? random() % size : 0, count = random() % 8 + 1;
  if (random() % 3 == 0 && size + count <= most) {
    std::copy_backward(bytes + at, bytes + size, bytes + size + count);
    for (std::size_t n = 0; n < count; ++n) bytes[at + n] = static_cast<std::uint8_t>(random());
    return size + count;
  }
  if (random() % 3 == 0) {
    const std::size_t end = std::min(at + count, size);
    std::copy(bytes + end, bytes + size, bytes + at);
    return size - (end - at);
  }
  if (size > 0) bytes[at] = static_cast<std::uint8_t>(random());
  return size;
}

std::vector<std::string> seeds_in(const std::string& folder) {
  std::vector<std::string> paths, seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

void run(const fuzz::Target& target, const std::string& corpus, int inputs) {
  const std::clock_t begin = std::clock();
  const std::vector<std::string> seeds = seeds_in(corpus + "/" + std::string(target.name));
  for (const std::string& seed : seeds) fuzz::read_one(target, seed);
  for (int n = 0; n < inputs; ++n) {
    const auto seed = static_cast<unsigned>(generator()());
    std::string input = seeds[seed % seeds.size()];
    for (unsigned k = 0; k <= seed % 3; ++k)
      input = fuzz::mutated(target, std::move(input), k_most_bytes, seed + k, mutate_bytes);
    if (std::getenv("FUZZ_KEEP") != nullptr) std::ofstream("last_input", std::ios::binary) << input;
    fuzz::read_one(target, input);
  }
  const auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%-16s %8d inputs %8.1f s\n", std::string(target.name).c_str(), inputs, seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::start(argc, argv);
  if (argc < 3) return 2;
  const std::vector<std::string_view> wanted(argv + 3, argv + argc);
  for (const fuzz::Target& target : fuzz::targets())
    if (wanted.empty() || std::ranges::find(wanted, target.name) != wanted.end())
      run(target, argv[1], std::atoi(argv[2]));
  fuzz::clear_folder();
  return 0;
}
