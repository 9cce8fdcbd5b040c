// The registered targets, for the main programs (private to tests/fuzz).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"

namespace octant::fuzz {

// Fuzz target.
struct Target {
  std::string_view name;
  Form form;
  Read* read;
};

// All targets.
std::vector<Target>& targets();
// Returns a target; ends the program if there is none of this name.
const Target& target_named(std::string_view name);

// Reads one input. Returns false if it is refused. Aborts after an unexpected exception.
bool read_one(const Target& target, std::string_view input);

// General mutation: changes `size` bytes and returns their new number, which is at most `most`.
using Mutate = std::size_t(std::uint8_t* bytes, std::size_t size, std::size_t most);
// Returns a mutation of an input, by the form of the target or by `any`.
std::string mutated(const Target& target, std::string input, std::size_t most, unsigned seed,
                    Mutate* any);

// Initialises MPI and Kokkos, and silences the log.
void start(int& argc, char**& argv);

}  // namespace octant::fuzz
