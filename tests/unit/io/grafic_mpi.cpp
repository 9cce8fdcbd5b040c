#include <algorithm>

#include "io/grafic.hpp"
#include "tests/unit/io/grafic_files.hpp"
#include "tests/unit/io/scratch.hpp"

namespace octant {
namespace {

using namespace grafic_files;

class Grafic : public testing::Test {
 protected:
  // A change that only the root makes to a file.
  void spoil(const std::function<void()>& change) const {
    if (world.is_root()) change();
    world.barrier();
  }
  // A coarse level of 4^3 cells and a finer one of 4 x 2 x 4 from cell (2, 4, 2) on.
  void write_zoom(const std::vector<std::string>& fields) const {
    for (const std::string& field : fields) {
      write(world, folder() + "/level_002/" + field, header({4, 4, 4}, 2.0F));
      write(world, folder() + "/level_003/" + field, header({4, 2, 4}, 1.0F, {2.0F, 4.0F, 2.0F}));
    }
  }
  std::string folder() const { return scratch.path("grafic"); }
  void expect_refused(const std::vector<std::string>& words) const {
    expect_input_error([&] { GraficFolder(world, folder()); }, words);
  }

  Communicator world = Communicator::world();
  Scratch scratch{world};
};

TEST_F(Grafic, planes_written_by_all_ranks_are_read_back_by_any) {
  const std::string path = scratch.path("ic_deltab");
  const GraficHeader written = header({5, 3, 7}, 1.5F, {1.0F, 2.0F, 3.0F});
  write(world, path, written);
  const GraficFile file(path);
  EXPECT_EQ(file.header(), written);
  const std::vector<float> planes = file.planes({2, 4});
  ASSERT_EQ(planes.size(), 60);
  for (int n = 0; n < 60; ++n) EXPECT_EQ(planes[n], value(30 + n));
}

TEST_F(Grafic, a_file_that_is_none_is_refused_with_its_reason) {
  const std::string path = scratch.path("ic_deltab");
  const auto refuse = [&](const std::vector<std::string>& words) {
    expect_input_error([&] { GraficFile(path).planes({0, 4}); }, words);
    world.barrier();
  };
  const auto renew = [&] { write(world, path, header({4, 4, 4})); };
  refuse({"ic_deltab", "No such file"});
  renew();
  spoil([&] { swap_bytes(path); });
  refuse({"ic_deltab", "big-endian"});
  renew();
  spoil([&] { overwrite(path, 48, "x"); });
  refuse({"ic_deltab", "not a grafic2 file", "44 bytes"});
  renew();
  spoil([&] { std::filesystem::resize_file(path, 52 + 2 * 72 + 11); });
  refuse({"ic_deltab", "truncated", "2 of 4 planes"});
  spoil([&] { std::filesystem::resize_file(path, 20); });
  refuse({"ic_deltab", "truncated", "20 bytes"});
  renew();
  spoil([&] { std::filesystem::resize_file(path, 400); });
  refuse({"ic_deltab", "400 bytes"});
  renew();
  spoil([&] { overwrite(path, 52 + 72, "y"); });
  refuse({"ic_deltab", "corrupt", "plane 1 of 4", "64 bytes"});
  renew();
  spoil([&] { overwrite(path, 4, std::string(4, '\0')); });
  refuse({"ic_deltab", "0 x 4 x 4"});
}

TEST_F(Grafic, levels_of_a_folder_lie_where_their_headers_say) {
  write_zoom({"ic_velcx", "ic_velcy", "ic_velcz", "ic_pvar_00001"});
  const GraficFolder grafic(world, folder());
  ASSERT_EQ(grafic.levels().size(), 2);
  EXPECT_EQ(grafic.levels()[0].number, 2);
  EXPECT_EQ(grafic.levels()[1].number, 3);
  EXPECT_EQ(grafic.levels()[1].origin, (std::array{2, 4, 2}));
  EXPECT_TRUE(grafic.has("ic_pvar_00001"));
  EXPECT_FALSE(grafic.has("ic_deltab"));
  EXPECT_EQ(grafic.file(1, "ic_velcx"), folder() + "/level_003/ic_velcx");
}

TEST_F(Grafic, a_folder_without_all_files_and_levels_is_refused) {
  expect_refused({"does not exist"});
  spoil([&] { std::filesystem::create_directories(folder()); });
  expect_refused({"contains no grafic levels"});
  spoil([&] { std::filesystem::create_directories(folder() + "/level_002"); });
  expect_refused({"level_002", "contains no grafic files"});

  write_zoom({"ic_velcx", "ic_velcy", "ic_velcz"});
  spoil([&] { std::filesystem::remove(folder() + "/level_003/ic_velcy"); });
  expect_refused({"level_003/ic_velcy", "is missing"});
  spoil([&] { std::filesystem::remove(folder() + "/level_002/ic_velcy"); });
  expect_refused({"ic_velcy", "other components"});
  spoil([&] { std::filesystem::rename(folder() + "/level_003", folder() + "/level_004"); });
  expect_refused({"level_003 is missing"});
  spoil([&] {
    std::filesystem::remove_all(folder() + "/level_002");
    for (const char axis : {'y'})
      std::filesystem::copy(folder() + "/level_004/ic_velcx",
                            folder() + "/level_004/ic_velc" + axis);
  });
  expect_refused({"level_004", "must cover the whole box", "coarser level may be missing"});
}

TEST_F(Grafic, headers_that_do_not_agree_are_refused) {
  const std::vector<std::string> fields{"ic_velcx", "ic_velcy", "ic_velcz"};
  write_zoom(fields);
  write(world, folder() + "/level_003/ic_velcz", header({4, 4, 4}, 1.0F, {2.0F, 4.0F, 2.0F}));
  expect_refused({"level_003/ic_velcz", "4 x 4 x 4", "4 x 2 x 4"});
  GraficHeader other = header({4, 2, 4}, 1.0F, {2.0F, 4.0F, 2.0F});
  other.omega_m = 0.31F;
  write(world, folder() + "/level_003/ic_velcz", other);
  expect_refused({"level_003/ic_velcz", "differ"});
  for (const auto& field : fields) write(world, folder() + "/level_003/" + field, other);
  expect_refused({"level_003", "scale factor or cosmology"});
}

TEST_F(Grafic, levels_that_do_not_fit_into_each_other_are_refused) {
  const std::string field = "ic_deltab";
  const auto refuse = [&](const GraficHeader& fine, const std::vector<std::string>& words) {
    write(world, folder() + "/level_003/" + field, fine);
    expect_refused(words);
  };
  write_zoom({field});
  refuse(header({4, 2, 4}, 1.0F, {2.0F, 4.3F, 2.0F}),
         {"level_003", "at a cell boundary", "along y"});
  refuse(header({4, 2, 4}, 1.0F, {2.0F, 3.0F, 2.0F}),
         {"level_003", "not aligned with the cells", "along y"});
  refuse(header({4, 2, 4}, 1.0F, {6.0F, 2.0F, 2.0F}), {"level_003", "covers only", "along x"});
  refuse(header({4, 2, 4}, 0.7F, {}), {"level_003", "half of 2 Mpc"});
}

}  // namespace
}  // namespace octant
