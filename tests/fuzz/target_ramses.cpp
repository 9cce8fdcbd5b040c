// Outputs of RAMSES and cuRAMSES: texts, octs, particles and sinks.
#include <algorithm>
#include <filesystem>

#include "comm/communicator.hpp"
#include "fuzz.hpp"
#include "ramses/ramses.hpp"
#include "ramses/source.hpp"

namespace octant {

namespace {

void read_cells(const RamsesFacts& facts, RamsesCells cells, int chunk) {
  const auto source = open_ramses(Communicator::world(), facts, chunk, cells);
  constexpr std::int64_t k_batch = 999;
  int levels = 0;
  for (const RamsesHead& head : source->heads()) levels = std::max(levels, head.levels);
  RamsesOcts octs;
  for (int level = 1; level <= levels; ++level) {
    source->next_level();
    for (int round = 0; round < source->rounds(); ++round)
      for (std::int64_t first = 0, count = source->count(round); first < count; first += k_batch)
        source->read(round, {first, std::min(k_batch, count - first)}, octs);
  }
  if (cells == RamsesCells::forces) return;
  for (int round = 0; round < source->rounds(); ++round) source->particles(round);
  if (facts.has_sinks) source->sinks();
}

void read_output(std::string_view input) {
  fuzz::write_files(input);
  const std::string path = fuzz::folder() + "/output_00001";
  const Communicator world = Communicator::world();
  if (!is_ramses_output(world, path)) return;
  const RamsesFacts facts = read_ramses_facts(world, path);
  read_cells(facts, RamsesCells::gas, 0);
  if (facts.has_forces) read_cells(facts, RamsesCells::forces, 1);
}

}  // namespace

OCTANT_FUZZ(ramses, files) { read_output(input); }

OCTANT_FUZZ(curamses, files) { read_output(input); }

}  // namespace octant
