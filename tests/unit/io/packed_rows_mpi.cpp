#ifdef OCTANT_HDF5

#include "io/packed_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "io/hdf5_file.hpp"
#include "scratch.hpp"

namespace octant {
namespace {

constexpr std::int64_t k_packed = 70001;  // rows of 24 bytes: seven chunks, the last one not full
const DatasetMeaning k_packed_meaning{"1", "made up for a test"};

// Smooth, then as random as can be.
double element(std::int64_t n) {
  return n < k_packed ? std::floor(std::sin(1e-3 * static_cast<double>(n)) * 1e3)
                      : std::sin(1e9 * static_cast<double>(n));
}

std::vector<double> elements(RowRange range) {
  std::vector<double> values;
  for (std::int64_t n = 3 * range.begin; n < 3 * range.end(); ++n) values.push_back(element(n));
  return values;
}

void write_packed(const Communicator& world, const std::string& path, std::int64_t piece,
                  Compression compression) {
  Hdf5Writer writer(world, path, compression);
  const Hdf5Rows rows = writer.create_dataset<double>("/a/values", k_packed, {3}, k_packed_meaning);
  const RowRange few = even_share(7, world.rank(), world.size());
  writer.dataset<std::uint8_t>("/a/few", few, {}, std::vector<std::uint8_t>(few.count, 5),
                               k_packed_meaning);
  for (std::int64_t first = 0; first < k_packed; first += piece * world.size()) {
    const std::int64_t begin = std::min(first + piece * world.rank(), k_packed);
    const RowRange range{begin, std::min(piece, k_packed - begin)};
    writer.write_rows<double>(rows, range, elements(range));
  }
  const RowRange whole{0, world.is_root() ? 5000 : 0};
  writer.dataset<float>("/b", world.is_root() ? whole : RowRange{5000, 0}, {4},
                        std::vector<float>(static_cast<std::size_t>(4 * whole.count), 1.5f),
                        k_packed_meaning);
  writer.commit();
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void flip_bit_of(const Communicator& world, const std::string& path, std::int64_t bit) {
  if (world.is_root()) {
    std::string content = bytes_of_file(path);
    content[bit / 8] ^= static_cast<char>(1 << bit % 8);
    std::ofstream(path, std::ios::binary) << content;
  }
  world.barrier();
}

TEST(PackedRows, are_the_rows_that_were_written_in_less_space) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_packed(world, path, 1000, Compression::deflate);
  write_packed(world, scratch.path("plain.h5"), 1000, Compression::none);
  EXPECT_EQ(scratch.files(), 2u);
  EXPECT_LT(std::filesystem::file_size(path),
            0.7 * std::filesystem::file_size(scratch.path("plain.h5")));
  const Hdf5Reader reader(world, path);
  EXPECT_TRUE(reader.has_checksums());
  EXPECT_EQ(reader.shape("/a/values"), (std::vector<std::int64_t>{k_packed, 3}));
  EXPECT_EQ(reader.attribute<std::string>("/a/values", "units"), "1");
  for (const RowRange range : {RowRange{0, k_packed}, RowRange{69999, 2}, RowRange{10921, 3},
                               even_share(k_packed, world.rank(), world.size())})
    EXPECT_EQ(reader.read<double>("/a/values", range), elements(range));
  EXPECT_EQ(reader.read<float>("/b", {4999, 1}), std::vector<float>(4, 1.5f));
  EXPECT_EQ(reader.read<std::uint8_t>("/a/few", {0, 7}), std::vector<std::uint8_t>(7, 5));
  EXPECT_TRUE(check_file(world, path).is_whole);
}

TEST(PackedRows, have_the_same_bytes_whoever_writes_them) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  write_packed(world, scratch.path("a.h5"), 100, Compression::deflate);
  write_packed(world, scratch.path("b.h5"), 12347, Compression::deflate);
  const std::string content = bytes_of_file(scratch.path("a.h5"));
  EXPECT_EQ(content, bytes_of_file(scratch.path("b.h5")));
  // One rank alone writes them, too.
  const Communicator self = world.split(world.rank());
  const std::string own = scratch.path("own" + std::to_string(world.rank()) + ".h5");
  write_packed(self, own, 5000, Compression::deflate);
  EXPECT_EQ(content, bytes_of_file(own));
  world.barrier();
}

TEST(PackedRows, tell_every_flipped_bit) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_packed(world, path, 20000, Compression::deflate);
  const auto bits = 8 * static_cast<std::int64_t>(std::filesystem::file_size(path));
  world.barrier();
  for (std::int64_t bit = 7; bit < bits; bit += bits / 41) {
    flip_bit_of(world, path, bit);
    bool is_told = false;
    try {
      is_told = !check_file(world, path).is_whole;
    } catch (const InputError&) {
      is_told = true;
    }
    EXPECT_TRUE(is_told) << "bit " << bit << " of " << bits;
    flip_bit_of(world, path, bit);
  }
  EXPECT_TRUE(check_file(world, path).is_whole);
  // In the middle of the file there are rows: those who read them are told.
  flip_bit_of(world, path, bits / 2);
  EXPECT_THROW(Hdf5Reader(world, path).read<double>("/a/values", {0, k_packed}), InputError);
}

TEST(PackedRows, are_not_written_where_some_are_missing_or_written_twice) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  for (const std::int64_t count : {1, 3}) {
    Hdf5Writer writer(world, scratch.path("a.h5"), Compression::deflate);
    const Hdf5Rows rows = writer.create_dataset<double>("/values", 20000, {}, k_packed_meaning);
    for (std::int64_t n = 0; n < count; ++n)
      writer.write_rows<double>(rows, {n % 2 * 10000, world.is_root() ? 10000 : 0},
                                std::vector<double>(world.is_root() ? 10000 : 0));
    EXPECT_THROW(writer.commit(), RunError);
  }
  EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
}  // namespace octant

#endif
