// Small grafic files with known values, and ways to spoil them.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "io/grafic.hpp"

namespace octant::grafic_files {

inline GraficHeader header(std::array<int, 3> cells, float spacing = 2.0F,
                           std::array<float, 3> offset = {}) {
  return {cells, spacing, offset, 0.02F, 0.3F, 0.7F, 70.0F};
}

// The value of a cell by its place in the file.
inline float value(std::int64_t n) { return 0.25F * static_cast<float>(n) - 3.0F; }

// Every rank writes its planes. Collective.
inline void write(const Communicator& communicator, const std::string& path,
                  const GraficHeader& header,
                  const std::function<float(std::int64_t)>& value_of = value) {
  if (communicator.is_root())
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  communicator.barrier();
  const RowRange planes = even_share(header.cells[2], communicator.rank(), communicator.size());
  std::vector<float> values;
  for (std::int64_t n = planes.begin * header.plane_cells();
       n < planes.end() * header.plane_cells(); ++n)
    values.push_back(value_of(n));
  write_grafic(communicator, path, header, planes, values);
}

// Replaces bytes of a file.
inline void overwrite(const std::string& path, std::int64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Reverses every four bytes.
inline void swap_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (std::size_t n = 0; n + 4 <= bytes.size(); n += 4)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(n),
                 bytes.begin() + static_cast<std::ptrdiff_t>(n + 4));
  overwrite(path, 0, bytes);
}

// The step throws an InputError on this rank, whose message holds all these words.
inline void expect_input_error(const std::function<void()>& step,
                               const std::vector<std::string>& words) {
  try {
    step();
    ADD_FAILURE() << "no error, but one with \"" << words.front() << "\" was expected";
  } catch (const InputError& error) {
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "\"" << word << "\" is not in: " << error.what();
  }
}

}  // namespace octant::grafic_files
