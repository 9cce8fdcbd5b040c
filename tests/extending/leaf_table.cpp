#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "decomp/key_order.hpp"
#include "io/files.hpp"
#include "output/contents.hpp"
#include "output/format.hpp"

namespace octant {

namespace {

constexpr std::size_t k_header = 128;  // bytes

std::string npy_header(std::int64_t rows, std::int64_t columns) {
  std::string text =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  text.resize(k_header - 11, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + '\n';
}

std::vector<std::int64_t> leaf_counts(const MeshContents& contents, const BlockLevel& level) {
  const std::int64_t octant_cells = std::lround(std::pow(contents.geometry.octant_size(), 3));
  std::vector<std::int64_t> counts;
  for (const std::uint8_t refined : level.refined)
    counts.push_back((8 - std::popcount(refined)) * octant_cells);
  return counts;
}

// A row for every leaf cell of this rank's n-th block: centre, size and fields.
std::vector<double> leaf_rows(const MeshContents& contents, const BlockLevel& level,
                              std::size_t n) {
  const int N = contents.geometry.block_size(), half = N / 2;
  const double size = contents.geometry.cell_size(level.number);
  const auto origin = contents.geometry.origin(level.number, morton_decode(level.keys[n]));
  std::vector<std::vector<double>> fields;
  for (const MeshField& field : contents.fields)
    fields.push_back(field.values(level.number, {&level.slots[n], 1}));
  std::vector<double> rows;
  for (int cell = 0; cell < N * N * N; ++cell) {
    const int i = cell % N, j = cell / N % N, k = cell / (N * N);
    const int octant = i / half + 2 * (j / half) + 4 * (k / half);
    if (level.refined[n] >> octant & 1) continue;
    for (const double value : {origin[0] + (i + 0.5) * size, origin[1] + (j + 0.5) * size,
                               origin[2] + (k + 0.5) * size, size})
      rows.push_back(value);
    for (const auto& field : fields) rows.push_back(field[cell]);
  }
  return rows;
}

}  // namespace

// Leaf cells as a NumPy array, in the order of levels, blocks and cells, whatever ranks write them.
class LeafTable final : public MeshFormat {
 public:
  std::string name() const override { return "leaf_table"; }

  std::string write(const MeshContents& given, const std::string& stem) const override {
    const MeshContents contents = cell_centred(given);
    const Communicator& communicator = contents.communicator;
    WholeFile whole(communicator, stem + ".npy");
    std::optional<PosixFile> part;
    communicator.collective_try([&] { part.emplace(whole.part_path(), PosixFile::Mode::update); });
    const std::int64_t columns = 4 + std::ssize(contents.fields);
    std::int64_t rows = 0;
    for (const BlockLevel& level : contents.levels) {
      const auto counts = leaf_counts(contents, level);
      const auto first = rows_in_key_order(communicator, level.keys, counts);
      communicator.collective_try([&] {
        for (std::size_t n = 0; n < level.keys.size(); ++n) {
          const std::vector<double> values = leaf_rows(contents, level, n);
          part->write_at(k_header + (rows + first[n]) * columns * sizeof(double),
                         std::as_bytes(std::span(values)));
        }
      });
      rows += communicator.sum(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    }
    communicator.collective_try([&] {
      const std::string header = npy_header(rows, columns);
      if (communicator.is_root()) part->write_at(0, std::as_bytes(std::span(header)));
      part->sync();
    });
    whole.commit();
    return whole.path();
  }
};

template <>
std::unique_ptr<MeshFormat> make_mesh_format<LeafTable>() {
  return std::make_unique<LeafTable>();
}

}  // namespace octant
