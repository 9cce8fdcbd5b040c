// Build information of this program. The strings are in a separate source file, which CMake
// generates from cmake/version.cpp.in, so that a commit recompiles nothing else.
#pragma once

namespace octant {

extern const char* const k_version;
extern const char* const k_git_revision;
extern const char* const k_tools;
extern const char* const k_processor;

}  // namespace octant
