#include <gtest/gtest.h>

#include "pencil/device_field.hpp"

namespace octant::pencil {
namespace {

// Copies of all shapes, empty ones among them, more than one launch takes.
TEST(CopyCells, copies_parts_of_all_shapes_together) {
  const Cells from_shape{7, 5, 6};
  std::vector<Cells> shapes;
  for (int z = 0; z <= 3; ++z)
    for (int y = 0; y <= 2; ++y)
      for (int x = 1; x <= 4; ++x) shapes.push_back({x, y, z});
  std::vector<double> values;
  for (int n = 0; n < from_shape[0] * from_shape[1] * from_shape[2]; ++n) values.push_back(n);
  const auto from = on_device("from", values);
  const FieldView whole = dense_view(from.data(), from_shape);
  std::vector<double> nothing(shapes.size() * 24, -1.0);
  const auto to = on_device("to", nothing);

  std::vector<CellCopy> copies;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    const auto [x, y, z] = shapes[n];
    copies.push_back({part_of(whole, {2, 2 + x}, {1, 1 + y}, {3, 3 + z}),
                      dense_view(to.data() + n * 24, shapes[n])});
  }
  copy_cells(copies);

  const std::vector<double> found = to_vector(TransferKind::tables, to);
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    std::size_t place = 24 * n;
    for (int z = 0; z < shapes[n][2]; ++z)
      for (int y = 0; y < shapes[n][1]; ++y)
        for (int x = 0; x < shapes[n][0]; ++x)
          EXPECT_EQ(found[place++], ((3 + z) * from_shape[1] + 1 + y) * from_shape[0] + 2 + x);
    for (; place < 24 * (n + 1); ++place) EXPECT_EQ(found[place], -1.0);
  }
}

}  // namespace
}  // namespace octant::pencil
