#ifdef OCTANT_HDF5

#include "io/hdf5_file.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "scratch.hpp"

namespace octant {
namespace {

const DatasetMeaning k_gas_meaning{"g cm^-3", "made up for a test"};

// The numbers first, first + 1, ... that belong to `count` rows of `row_elements`.
template <class T>
std::vector<T> numbers(std::int64_t first_row, std::int64_t count, std::int64_t row_elements) {
  std::vector<T> values(static_cast<std::size_t>(count * row_elements));
  std::iota(values.begin(), values.end(), static_cast<T>(first_row * row_elements));
  return values;
}

// Rank r owns r rows, so that rank 0 has none.
RowRange uneven_rows(const Communicator& world) {
  const std::int64_t count = world.rank();
  return {world.exclusive_scan(count), count};
}

void write_example(const Communicator& world, const std::string& path) {
  Hdf5Writer writer(world, path);
  writer.group("/header");
  writer.attribute("/header", "time", 0.25);
  const RowRange rows = even_share(17, world.rank(), world.size());
  writer.dataset<double>("/hydro/density", rows, {2, 3}, numbers<double>(rows.begin, rows.count, 6),
                         k_gas_meaning);
  writer.commit();
}

std::string message_of(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

template <class T>
void expect_rows_come_back() {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const RowRange mine = uneven_rows(world);
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    writer.dataset<T>("/deep/group/values", mine, {2, 3}, numbers<T>(mine.begin, mine.count, 6),
                      k_gas_meaning);
    writer.commit();
  }
  const Hdf5Reader reader(world, scratch.path("a.h5"));
  const std::int64_t total = world.sum(mine.count);
  EXPECT_EQ(reader.shape("/deep/group/values"), (std::vector<std::int64_t>{total, 2, 3}));
  const RowRange other = even_share(total, world.size() - 1 - world.rank(), world.size());
  EXPECT_EQ(reader.read<T>("/deep/group/values", other), numbers<T>(other.begin, other.count, 6));
}

TEST(Hdf5File, rows_of_every_type_come_back_to_other_ranks) {
  expect_rows_come_back<double>();
  expect_rows_come_back<float>();
  expect_rows_come_back<std::int32_t>();
  expect_rows_come_back<std::int64_t>();
  expect_rows_come_back<std::uint64_t>();
  expect_rows_come_back<std::uint8_t>();
}

TEST(Hdf5File, attributes_come_back_with_their_types) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    writer.group("/header");
    writer.attribute("/header", "parameters", "[mesh]\nblock_size = 8  # µ\n");
    writer.attribute("/header", "empty", "");
    writer.attribute("/header", "step", 12);
    writer.attribute("/header", "time", 0.1);
    writer.attribute("/header", "upper", std::vector<double>{1.0, 2.0, 0.5});
    writer.attribute("/header", "base_cells", std::vector<std::int64_t>{32, 16, 8});
    writer.commit();
  }
  const Hdf5Reader reader(world, scratch.path("a.h5"));
  EXPECT_EQ(reader.attribute<std::string>("/header", "parameters"),
            "[mesh]\nblock_size = 8  # µ\n");
  EXPECT_EQ(reader.attribute<std::string>("/header", "empty"), "");
  EXPECT_EQ(reader.attribute<std::int64_t>("/header", "step"), 12);
  EXPECT_EQ(reader.attribute<double>("/header", "step"), 12.0);
  EXPECT_EQ(reader.attribute<double>("/header", "time"), 0.1);
  EXPECT_EQ(reader.attribute<std::vector<double>>("/header", "upper"),
            (std::vector<double>{1.0, 2.0, 0.5}));
  EXPECT_EQ(reader.attribute<std::vector<std::int64_t>>("/header", "base_cells"),
            (std::vector<std::int64_t>{32, 16, 8}));
  EXPECT_TRUE(reader.has_attribute("/header", "step"));
  EXPECT_FALSE(reader.has_attribute("/header", "steps"));
  EXPECT_EQ(reader.attribute_names("/header").size(), 6u);
  EXPECT_THROW(reader.attribute<std::string>("/header", "time"), InputError);
  EXPECT_THROW(reader.attribute<double>("/header", "absent"), InputError);
}

TEST(Hdf5File, datasets_say_what_they_are) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  write_example(world, scratch.path("a.h5"));
  const Hdf5Reader reader(world, scratch.path("a.h5"));
  EXPECT_EQ(reader.attribute<std::string>("/hydro/density", "units"), k_gas_meaning.units);
  EXPECT_EQ(reader.attribute<std::string>("/hydro/density", "description"),
            k_gas_meaning.description);
  EXPECT_EQ(reader.children("/"), (std::vector<std::string>{"header", "hydro"}));
  EXPECT_TRUE(reader.exists("/hydro/density"));
  EXPECT_FALSE(reader.exists("/hydro/pressure/x"));
}

TEST(Hdf5File, a_dataset_without_rows_is_legal) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    writer.dataset<double>("/nothing", {}, {8, 8, 8}, {}, k_gas_meaning);
    writer.commit();
  }
  const Hdf5Reader reader(world, scratch.path("a.h5"));
  EXPECT_EQ(reader.shape("/nothing"), (std::vector<std::int64_t>{0, 8, 8, 8}));
  EXPECT_TRUE(reader.read<double>("/nothing", {}).empty());
}

TEST(Hdf5File, a_file_is_absent_until_it_is_committed) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    writer.group("/header");
    EXPECT_FALSE(std::filesystem::exists(scratch.path("a.h5")));
  }
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(Hdf5File, an_older_file_survives_a_writer_that_gives_up) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  write_example(world, scratch.path("a.h5"));
  { const Hdf5Writer gives_up(world, scratch.path("a.h5")); }
  EXPECT_EQ(scratch.files(), 1u);
  const Hdf5Reader reader(world, scratch.path("a.h5"));
  EXPECT_EQ(reader.read<double>("/hydro/density", {0, 17}), numbers<double>(0, 17, 6));
}

TEST(Hdf5File, rows_that_overlap_or_leave_gaps_are_refused_on_all_ranks) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  for (const std::int64_t shift : {-1, 1}) {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    RowRange range{2 * world.rank(), 2};
    if (world.rank() == world.size() - 1) range.begin += shift;
    const auto values = numbers<double>(0, 2, 1);
    EXPECT_THROW(writer.dataset<double>("/values", range, {}, values, k_gas_meaning), RunError);
  }
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(Hdf5File, names_given_twice_and_missing_units_are_refused) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const auto none = std::vector<double>{};
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    EXPECT_THROW(writer.dataset<double>("/values", {}, {}, none, {"", "no unit"}), RunError);
  }
  Hdf5Writer writer(world, scratch.path("a.h5"));
  writer.dataset<double>("/values", {}, {}, none, k_gas_meaning);
  EXPECT_THROW(writer.dataset<double>("/values", {}, {}, none, k_gas_meaning), RunError);
}

TEST(Hdf5File, errors_of_attributes_and_rows_are_thrown_before_the_file_is_renamed) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    writer.attribute("/absent", "name", 1.0);
    EXPECT_THROW(writer.commit(), RunError);
  }
  const std::vector<double> values(2, 1.0);
  for (const bool creates_another : {false, true}) {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    const auto rows = writer.create_dataset<double>("/values", 2, {}, k_gas_meaning);
    const bool is_last = world.rank() == world.size() - 1;
    writer.write_rows<double>(rows, {is_last ? 1 : 0, is_last ? 2 : 0},
                              std::span(values).first(is_last ? 2 : 0));
    const RowRange own{world.rank(), 1};
    if (creates_another)
      EXPECT_THROW(
          writer.dataset<double>("/other", own, {}, std::span(values).first(1), k_gas_meaning),
          RunError);
    else EXPECT_THROW(writer.commit(), RunError);
  }
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(Hdf5File, a_place_that_cannot_be_written_is_one_clear_error) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("no/such/directory/a.h5");
  const std::string message = message_of([&] { Hdf5Writer(world, path); });
  EXPECT_NE(message.find(path), std::string::npos) << message;
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
}

void expect_input_error(const std::string& path, const std::string& reason) {
  const Communicator world = Communicator::world();
  try {
    const Hdf5Reader reader(world, path);
    ADD_FAILURE() << path << " was opened";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
}

TEST(Hdf5File, missing_foreign_and_truncated_files_are_input_errors_on_all_ranks) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  expect_input_error(scratch.path("absent.h5"), "No such file");
  expect_input_error(scratch.path("."), "is a directory");
  if (world.is_root()) std::ofstream(scratch.path("text.h5")) << "this is a text\n";
  world.barrier();
  expect_input_error(scratch.path("text.h5"), "not an HDF5 file");

  write_example(world, scratch.path("cut.h5"));
  const auto full = std::filesystem::file_size(scratch.path("cut.h5"));
  for (const auto part : {0.99, 0.5, 0.1}) {
    world.barrier();
    if (world.is_root()) {
      const auto length = static_cast<std::uintmax_t>(part * static_cast<double>(full));
      std::filesystem::resize_file(scratch.path("cut.h5"), length);
    }
    world.barrier();
    expect_input_error(scratch.path("cut.h5"), "corrupt or incomplete");
  }
}

// A file as left by programs without checksums.
void remove_checksums(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_GE(H5Adelete(file, "checksums"), 0);
  H5Fclose(file);
}

// Positions of a file's references to its global heaps of texts, and of these heaps.
std::vector<std::size_t> places_of_texts(const std::string& bytes) {
  std::vector<std::size_t> places;
  const auto for_each = [&](std::string_view text, const auto& visit) {
    for (auto at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1))
      visit(at);
  };
  for_each("GCOL\1", [&](std::size_t heap) {
    const std::uint64_t address = heap;
    char text[sizeof address];
    std::memcpy(text, &address, sizeof address);
    // Length, address and number of a text.
    for_each({text, sizeof text}, [&](std::size_t at) { places.push_back(at - 4); });
    for (std::size_t n = 0; n < 64; n += 16) places.push_back(heap + n);
  });
  return places;
}

void read_all_texts(const Communicator& world, const std::string& path) {
  const Hdf5Reader reader(world, path);
  for (const char* object : {"/", "/header", "/hydro", "/hydro/density"})
    for (const std::string& name : reader.attribute_names(object))
      reader.attribute_value(object, name);
}

// HDF5's own reader of heaps leaves its memory. On several ranks one reads the description.
TEST(Hdf5File, damaged_references_to_texts_are_input_errors) {
  const Communicator world = Communicator::world();
  if (world.size() > 1) return;
  const Scratch scratch(world);
  const std::string path = scratch.path("texts.h5");
  write_example(world, path);
  remove_checksums(path);
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto places = places_of_texts(whole);
  ASSERT_GT(places.size(), 6U);
  read_all_texts(world, path);
  int refused = 0;
  for (const std::size_t place : places)
    for (std::size_t at = place; at < std::min(place + 16, whole.size()); ++at)
      for (const unsigned flipped : {0x01U, 0x80U, 0xffU}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flipped);
        std::ofstream(path, std::ios::binary) << damaged;
        try {
          read_all_texts(world, path);
        } catch (const InputError&) {
          ++refused;
        }
      }
  EXPECT_GT(refused, 100);
}

TEST(Hdf5File, objects_that_are_not_there_are_input_errors_that_name_them) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("a.h5");
  write_example(world, path);
  const Hdf5Reader reader(world, path);
  const auto expect = [&](const std::function<void()>& attempt, const std::string& part) {
    EXPECT_THROW(attempt(), InputError);
    const std::string message = message_of(attempt);
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect([&] { reader.shape("/hydro/pressure"); }, "/hydro/pressure");
  expect([&] { reader.shape("/hydro"); }, "not a dataset");
  expect([&] { reader.children("/hydro/density"); }, "not a group");
  expect([&] { reader.read<std::int64_t>("/hydro/density", {}); }, "unexpected type");
  // Rows that only one rank requests in vain.
  const RowRange range{0, world.is_root() ? 18 : 17};
  expect([&] { reader.read<double>("/hydro/density", range); }, "17 rows");
}

}  // namespace
}  // namespace octant

#endif
