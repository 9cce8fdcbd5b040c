// Short form of the fuzz tests, for builds without libFuzzer: reads the seeds of each target and
// mutations of them.
//
//   test_fuzz CORPUS INPUTS SECONDS [TARGET...]
//
// Reads at most INPUTS mutations within SECONDS of processor time for each target. Seeds named
// refused_* must be refused, and all others accepted. Prints the target, the number of inputs and
// the processor time. With FUZZ_KEEP=1, the file last_input is the last mutation.
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

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Reads a seed, which must be accepted, or refused if its name says so.
void check_seed(const fuzz::Target& target, const std::filesystem::path& path) {
  const bool is_refused = path.filename().string().starts_with("refused_");
  if (fuzz::read_one(target, content_of(path)) != is_refused) return;
  std::fprintf(stderr, "%s: the seed must be %s; FUZZ_SHOW=1 prints the error\n", path.c_str(),
               is_refused ? "refused" : "accepted");
  std::exit(1);
}

// Reads all seeds, then at most `inputs` mutations within `limit` seconds of processor time.
void run(const fuzz::Target& target, const std::string& corpus, int inputs, double limit) {
  const std::clock_t begin = std::clock();
  const auto seconds = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  std::vector<std::string> seeds;
  for (const auto& path : files_in(corpus + "/" + std::string(target.name))) {
    check_seed(target, path);
    seeds.push_back(content_of(path));
  }
  int done = 0;
  for (; done < inputs && seconds() < limit; ++done) {
    const auto seed = static_cast<unsigned>(generator()());
    std::string input = seeds[seed % seeds.size()];
    for (unsigned k = 0; k <= seed % 3; ++k)
      input = fuzz::mutated(target, std::move(input), k_most_bytes, seed + k, mutate_bytes);
    if (std::getenv("FUZZ_KEEP") != nullptr) std::ofstream("last_input", std::ios::binary) << input;
    fuzz::read_one(target, input);
  }
  std::printf("%-16s %8d inputs %8.1f s\n", std::string(target.name).c_str(), done, seconds());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::start(argc, argv);
  if (argc < 4) return 2;
  const std::vector<std::string_view> wanted(argv + 4, argv + argc);
  for (const fuzz::Target& target : fuzz::targets())
    if (wanted.empty() || std::ranges::find(wanted, target.name) != wanted.end())
      run(target, argv[1], std::atoi(argv[2]), std::atof(argv[3]));
  fuzz::clear_folder();
  return 0;
}
