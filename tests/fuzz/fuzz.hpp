// Fuzz targets: functions that read one damaged input each. An InputError or RunError is a correct
// answer; any other exception, a failed OCTANT_REQUIRE, a crash or a report of a sanitizer is a
// fault. docs/developer/quality.md describes how to run them.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace octant::fuzz {

// Function that reads one input.
using Read = void(std::string_view input);

// Form of the inputs of a target, which determines their mutations: `files` is the text of
// write_files(), `binary` consists of words of 1 to 8 bytes.
enum class Form { text, files, binary };

// Adds a target. The result only serves to call this function before main().
bool add_target(const char* name, Form form, Read* read);

// Defines a target: OCTANT_FUZZ(grafic, files) { ...; }, which reads `input`.
#define OCTANT_FUZZ(name, form)                                                   \
  static void read_##name(std::string_view input);                                \
  static const bool k_##name =                                                    \
      ::octant::fuzz::add_target(#name, ::octant::fuzz::Form::form, read_##name); \
  static void read_##name([[maybe_unused]] std::string_view input)

// Calls a function that may refuse the input; the target continues. Returns false if it does.
template <class Step>
bool attempt(const Step& step) {
  try {
    step();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// Folder of this process in memory, for files of the input.
const std::string& folder();
// Writes a file below folder() and returns its path.
std::string write_file(const std::string& name, std::string_view bytes);
// Removes all files below folder().
void clear_folder();

// Writes the files that a text describes, below folder(). A line "%KIND NAME" begins each file;
// lines that are not valid are ignored.
//
//   %text NAME      the following lines are the file; "%long COUNT C" adds a line of so many
//                   characters C
//   %records NAME   each line is a Fortran record: numbers after the letter of their type (i int32,
//                   q int64, f float32, d float64, c int8), "t TEXT", "n COUNT" for repetitions of
//                   the last number, "m LENGTH" for a false leading marker
//   %hdf5 NAME      group PATH | attr PATH NAME TYPE VALUES | data PATH TYPE VALUES | link PATH TO
//                   TYPE is a letter (i q u int32, int64, uint64; f d float32, float64; c uint8;
//                   s t strings of variable and fixed length) with extents such as d[2,3]; values
//                   are repeated as needed. Large datasets are chunked, and then have no values.
//                   "patch OFFSET VALUE" overwrites bytes of the file, and
//                   "sum OFFSET ROWS ROW_BYTES PATH" appends checksums with a valid footer
void write_files(std::string_view text);

// Number of a word, or `fallback`.
long long integer_of(std::string_view word, long long fallback = 0);

}  // namespace octant::fuzz
