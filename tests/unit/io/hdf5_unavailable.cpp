#ifndef OCTANT_HDF5

#include <gtest/gtest.h>

#include "io/hdf5_file.hpp"

namespace octant {
namespace {

TEST(WithoutHdf5, reading_and_writing_are_refused_with_a_remedy) {
  const Communicator world = Communicator::world();
  EXPECT_THROW(Hdf5Writer(world, "a.h5"), InputError);
  try {
    const Hdf5Reader reader(world, "a.h5");
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("OCTANT_HDF5"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace octant

#endif
