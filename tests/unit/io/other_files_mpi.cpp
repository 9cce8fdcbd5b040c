#ifdef OCTANT_HDF5

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "io/hdf5_file.hpp"
#include "scratch.hpp"

namespace octant {
namespace {

// Writes a dataset with the values first, first + 1, ...
void write_values(hid_t file, const char* name, double first, hid_t layout = H5P_DEFAULT) {
  const hsize_t count = 8;
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = first + static_cast<double>(n);
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t set =
      H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Dclose(set);
  H5Sclose(space);
}

void write_files(const Scratch& scratch) {
  const hid_t other =
      H5Fcreate(scratch.path("other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_values(other, "values", 100.0);
  const hid_t group = H5Gcreate2(other, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  write_values(group, "values", 200.0);
  H5Gclose(group);
  H5Fclose(other);
  const hid_t file =
      H5Fcreate(scratch.path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_values(file, "own", 1.0);
  H5Lcreate_soft("/own", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("other.h5", "/values", file, "linked", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("other.h5", "/group", file, "group", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/linked", file, "soft_to_linked", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("missing.h5", "/values", file, "missing", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(layout, scratch.path("raw").c_str(), 0, 64);
  write_values(file, "raw", 300.0, layout);
  H5Pclose(layout);
  const hid_t views = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t count = 8;
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  H5Pset_virtual(views, space, "missing.h5", "/values", space);
  const hid_t view =
      H5Dcreate2(file, "virtual", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, views, H5P_DEFAULT);
  H5Dclose(view);
  H5Sclose(space);
  H5Pclose(views);
  H5Fclose(file);
}

TEST(Hdf5File, values_in_other_files_are_refused) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  if (world.is_root()) write_files(scratch);
  world.barrier();
  const std::string path = scratch.path("a.h5");
  const Hdf5Reader reader(world, path);
  EXPECT_EQ(reader.read<double>("/own", {2, 2}), (std::vector{3.0, 4.0}));
  EXPECT_EQ(reader.read<double>("/soft", {2, 2}), (std::vector{3.0, 4.0}));
  const std::string cases[][2] = {{"/linked", "external link to /values in 'other.h5'"},
                                  {"/soft_to_linked", "external link to /values in 'other.h5'"},
                                  {"/missing", "external link to /values in 'missing.h5'"},
                                  {"/group", "external link to /group in 'other.h5'"},
                                  {"/group/values", "external link to /group in 'other.h5'"},
                                  {"/raw", "external storage"},
                                  {"/virtual", "virtual dataset"}};
  for (const auto& [name, reason] : cases) {
    std::string message;
    try {
      reader.read<double>(name, {2, 2});
    } catch (const InputError& error) {
      message = error.what();
    }
    for (const std::string& part : {path, std::string("lies in another file"), reason})
      EXPECT_NE(message.find(part), std::string::npos) << name << ": " << message;
  }
}

// Creates a dataset of 256 MiB in chunks that are never written.
void create_unwritten(hid_t file, const char* name, hid_t creation) {
  const hsize_t count = hsize_t{1} << 25, chunk = hsize_t{1} << 20;
  H5Pset_chunk(creation, 1, &chunk);
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(creation);
}

TEST(Hdf5File, large_datasets_that_were_never_written_need_a_fill_value) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const std::string path = scratch.path("b.h5");
  if (world.is_root()) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    create_unwritten(file, "empty", H5Pcreate(H5P_DATASET_CREATE));
    const hid_t filled = H5Pcreate(H5P_DATASET_CREATE);
    const double value = 3.0;
    H5Pset_fill_value(filled, H5T_NATIVE_DOUBLE, &value);
    create_unwritten(file, "filled", filled);
    const hid_t reduced = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_scaleoffset(reduced, H5Z_SO_FLOAT_DSCALE, 3);
    create_unwritten(file, "reduced", reduced);
    H5Fclose(file);
  }
  world.barrier();
  const Hdf5Reader reader(world, path);
  const RowRange rows{5, 2};
  EXPECT_EQ(reader.read<double>("/filled", rows), (std::vector{3.0, 3.0}));
  EXPECT_EQ(reader.read<double>("/reduced", rows), (std::vector{0.0, 0.0}));
  EXPECT_THROW(reader.read<double>("/empty", rows), InputError);
}

}  // namespace
}  // namespace octant

#endif
