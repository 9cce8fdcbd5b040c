// Checks of a run's parameters before it begins, and when it goes on.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "output/file_header.hpp"
#include "output/output_options.hpp"

namespace octant {

namespace {

template <class Step>
std::string refusal(const Step& step) {
  try {
    step();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_in(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\" lacks " << part;
}

TEST(RestartParameters, that_make_the_state_must_be_the_same) {
  const std::string stored = "[mesh]\nblock_size = 8\n[time]\nend = 1.0\n[hydro]\ngamma = 1.4\n";
  require_same_run("c.h5", stored, stored);
  // How long, and what is written, may differ.
  require_same_run("c.h5", stored,
                   "[mesh]\nblock_size = 8\n[time]\nend = 2.0\n[hydro]\ngamma = 1.4\n");
  const std::string message = refusal([&] {
    require_same_run("c.h5", stored,
                     "[mesh]\nblock_size = 16\n[time]\nend = 2.0\n[hydro]\ngamma = 1.5\n");
  });
  expect_in(message, "c.h5: the checkpoint was written with ");
  expect_in(message, "mesh.block_size = 8, but this run has 16");
  expect_in(message, "hydro.gamma = 1.4, but this run has 1.5");
  EXPECT_EQ(message.find("time.end"), std::string::npos);
  EXPECT_EQ(message.find("stored_flow"), std::string::npos);
}

TEST(RestartParameters, may_have_other_paths_of_files_that_are_compared_or_not_read_again) {
  const std::string stored = "[hydro]\neos_table = \"a.h5\"\neos_table_tolerance = 0.02\n";
  const std::string given = "[hydro]\neos_table = \"b/a.h5\"\neos_table_tolerance = 0.03\n";
  require_same_run("c.h5", stored, given, {"hydro.eos_table"});
  expect_in(refusal([&] { require_same_run("c.h5", stored, given); }), "hydro.eos_table = ");
  for (const std::string name : {"path", "particle_table", "model_file"})
    require_same_run("c.h5", "[problem]\n" + name + " = \"a\"\n",
                     "[problem]\n" + name + " = \"b\"\n");
  require_same_run("c.h5", "[grid]\nstretching_file = \"a\"\n",
                   "[grid]\nstretching_file = \"b\"\n");
}

TEST(RestartParameters, of_another_grid_lead_to_the_stored_flow) {
  const std::string message = refusal([&] {
    require_same_run("c.h5", "[grid]\ncells = [8, 8, 8]\n", "[grid]\ncells = [8, 8, 16]\n");
  });
  expect_in(message, "grid.cells");
  expect_in(message, "problem.name = \"stored_flow\"");
}

OutputOptions some_output() {
  OutputOptions output;
  output.fields = {"density"};
  output.slices = {"z = 1/2", " x=-1e-1 "};
  return output;
}

std::string refused_output(const OutputOptions& output) {
  return refusal([&] { output.check({"density", "pressure"}, {-1.0, 0.0, 0.0}, {1.0, 1.0, 1.0}); });
}

TEST(OutputOptions, name_fields_and_planes_that_there_are) {
  const OutputOptions output = some_output();
  EXPECT_EQ(refused_output(output), "");
  const auto planes = output.planes();
  ASSERT_EQ(planes.size(), 2u);
  EXPECT_EQ(planes[0].name(), "z0.5");
  EXPECT_EQ(planes[1].axis, Axis::x);
  EXPECT_EQ(planes[1].position, -0.1);
  EXPECT_EQ(planes[1].stem("out", 12), "out/slice_x-0.1_00012");
  EXPECT_TRUE(output.has_cutouts());
  EXPECT_FALSE(OutputOptions().has_cutouts());
}

TEST(OutputOptions, of_which_there_is_no_such_thing_are_refused) {
  OutputOptions output = some_output();
  output.fields = {"densty"};
  expect_in(refused_output(output),
            "no field \"densty\"; did you mean density; expected density, pressure");
  output.fields = {"density", "density"};
  expect_in(refused_output(output), "output.fields");
  output = some_output();
  output.formats.clear();
  expect_in(refused_output(output), "output.formats is empty");
  output.formats = {"octant", "octant"};
  expect_in(refused_output(output), "output.formats");
  for (const char* plane : {"w = 0.5", "z", "z = half", "z = 1e", "z = 0.5 0.6"}) {
    output = some_output();
    output.slices = {plane};
    expect_in(refused_output(output), fmt::format("output.slices: \"{}\" is not a plane", plane));
  }
  output.slices = {"y = -0.5"};
  expect_in(refused_output(output),
            "output.slices: y = -0.5 lies outside the domain, which extends from 0 to 1");
  output.slices = {"y = 0.5", "y = 5e-1"};
  expect_in(refused_output(output), "two slices would have the same file name \"y0.5\"");
}

}  // namespace

}  // namespace octant
