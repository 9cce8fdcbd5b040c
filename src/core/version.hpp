// What this program was built from, with and for. The texts are in a source of their own, which
// CMake writes from cmake/version.cpp.in, so that a commit recompiles nothing else.
#pragma once

namespace octant {

extern const char* const k_version;
extern const char* const k_git_revision;
extern const char* const k_tools;
extern const char* const k_processor;

}  // namespace octant
