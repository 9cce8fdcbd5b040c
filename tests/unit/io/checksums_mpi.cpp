#ifdef OCTANT_HDF5

#include "io/checksums.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "io/hdf5_file.hpp"
#include "scratch.hpp"

namespace octant {
namespace {

constexpr std::int64_t k_rows = 9001;  // of 24 bytes: batches of 2730 rows
const DatasetMeaning k_meaning{"1", "made up for a test"};

std::vector<double> rows_from(RowRange range) {
  std::vector<double> values(static_cast<std::size_t>(3 * range.count));
  std::iota(values.begin(), values.end(), 3.0 * range.begin);
  return values;
}

// Writes k_rows rows in pieces of `piece` rows, which the ranks take by turns.
void write_in_pieces(const Communicator& world, const std::string& path, std::int64_t piece) {
  Hdf5Writer writer(world, path);
  writer.group("/header");
  writer.attribute("/header", "text", "which HDF5 keeps apart from its own checksums");
  const Hdf5Rows rows = writer.create_dataset<double>("/a/values", k_rows, {3}, k_meaning);
  for (std::int64_t first = 0; first < k_rows; first += piece * world.size()) {
    const std::int64_t begin = std::min(first + piece * world.rank(), k_rows);
    const RowRange range{begin, std::min(piece, k_rows - begin)};
    writer.write_rows<double>(rows, range, rows_from(range));
  }
  const RowRange share = even_share(7, world.rank(), world.size());
  writer.dataset<std::uint8_t>("/a/bytes", share, {}, std::vector<std::uint8_t>(share.count, 5),
                               k_meaning);
  writer.dataset<double>("/none", {}, {2}, {}, k_meaning);
  writer.commit();
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void flip(const Communicator& world, const std::string& path, std::int64_t bit) {
  if (world.is_root()) {
    std::string content = content_of(path);
    content[bit / 8] ^= static_cast<char>(1 << bit % 8);
    std::ofstream(path, std::ios::binary) << content;
  }
  world.barrier();
}

// What reading these rows has to say, on every rank the same.
std::string complaint(const Communicator& world, const std::string& path, RowRange range) {
  try {
    Hdf5Reader(world, path).read<double>("/a/values", range);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_says(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Checksums, do_not_depend_on_who_writes_which_rows) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  write_in_pieces(world, scratch.path("a.h5"), 100);
  write_in_pieces(world, scratch.path("b.h5"), 2731);
  EXPECT_EQ(content_of(scratch.path("a.h5")), content_of(scratch.path("b.h5")));
  const FileCheck check = check_file(world, scratch.path("a.h5"));
  EXPECT_TRUE(check.has_checksums && check.is_whole);
  EXPECT_EQ(check.batches, 4 + 1);
}

TEST(Checksums, name_the_batch_that_is_damaged_whichever_of_its_rows_are_read) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_in_pieces(world, path, 100);
  // A bit of row 2800, the number 8400.0, in the second batch.
  const double value = 8400.0;
  const auto place = content_of(path).find({reinterpret_cast<const char*>(&value), sizeof value});
  flip(world, path, 8 * static_cast<std::int64_t>(place) + 3);

  for (const RowRange range : {RowRange{2800, 1}, RowRange{5400, 10}, RowRange{0, k_rows}})
    expect_says(complaint(world, path, range),
                {path, "is corrupt", "/a/values", "rows 2730 to 5459", "batch 2 of 4"});
  EXPECT_EQ(complaint(world, path, {0, 2730}), "");
  EXPECT_EQ(complaint(world, path, {5460, 3541}), "");
  EXPECT_EQ(complaint(world, path, {2800, 0}), "");
  const FileCheck check = check_file(world, path);
  EXPECT_FALSE(check.is_whole);
  if (world.is_root()) {
    EXPECT_EQ(check.damaged,
              (std::vector<std::string>{"/a/values: rows 2730 to 5459 (batch 2 of 4)"}));
  }
}

TEST(Checksums, tell_every_flipped_bit_of_the_whole_file) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_in_pieces(world, path, 1000);
  const auto bits = 8 * static_cast<std::int64_t>(content_of(path).size());
  world.barrier();
  for (std::int64_t bit = 5; bit < bits; bit += bits / 61) {
    flip(world, path, bit);
    bool told = false;
    try {
      told = !check_file(world, path).is_whole;
    } catch (const InputError&) {
      told = true;
    }
    EXPECT_TRUE(told) << "bit " << bit << " of " << bits;
    flip(world, path, bit);
  }
  EXPECT_TRUE(check_file(world, path).is_whole);
}

TEST(Checksums, that_were_cut_off_are_missed) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_in_pieces(world, path, 1000);
  const std::int64_t bytes = world.max(static_cast<std::int64_t>(content_of(path).size()));
  if (world.is_root()) std::filesystem::resize_file(path, bytes - 8);
  world.barrier();
  const Hdf5Reader reader(world, path);
  EXPECT_FALSE(reader.has_checksums());
  EXPECT_TRUE(reader.lost_checksums());
  EXPECT_THROW(reader.require_unchanged(), InputError);
  EXPECT_THROW(check_file(world, path), InputError);
}

TEST(Checksums, are_not_written_where_rows_are_missing_or_written_twice) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  for (const std::int64_t count : {1, 3}) {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    const Hdf5Rows rows = writer.create_dataset<double>("/values", 2, {}, k_meaning);
    for (std::int64_t n = 0; n < count; ++n)
      writer.write_rows<double>(rows, {n % 2, world.is_root() ? 1 : 0},
                                std::vector<double>(world.is_root() ? 1 : 0));
    EXPECT_THROW(writer.commit(), RunError);
  }
  EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
}  // namespace octant

#endif
