// Which parameters a run may change when it goes on from a checkpoint.
#pragma once

#include <string>

namespace octant::driver {

// Compares the parameters that wrote the checkpoint `path` with those of this run, both as TOML.
// Those that decide how, where and how long it is computed, and what is written, may differ, and
// the log tells them. Throws InputError that names all others that do: they are what the state is a
// state of.
void require_same_run(const std::string& path, const std::string& stored, const std::string& given);

}  // namespace octant::driver
