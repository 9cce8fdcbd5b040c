#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"
#include "pencil/batched_fourier.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;

std::vector<double> own_values(const Array& array, const PencilGrid& grid) {
  const Box box = grid.box(Orientation::x);
  std::vector<double> values;
  for (int k = box[2].begin; k < box[2].end; ++k)
    for (int j = box[1].begin; j < box[1].end; ++j)
      for (int i = 0; i < array.cells[0]; ++i) values.push_back(array(i, j, k));
  return values;
}

Field field_of(const std::vector<double>& values, const PencilGrid& grid) {
  Field field(grid.box(Orientation::x));
  auto next = values.begin();
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j, next += field.nx())
      std::copy_n(next, field.nx(), field.row(k, j));
  return field;
}

std::complex<double> direct_sum(const Array& array, const Mode& mode) {
  std::complex<double> sum = 0.0;
  for (int k = 0; k < array.cells[2]; ++k)
    for (int j = 0; j < array.cells[1]; ++j)
      for (int i = 0; i < array.cells[0]; ++i) {
        const double phase = static_cast<double>(mode.x) * i / array.cells[0] +
                             static_cast<double>(mode.y) * j / array.cells[1] +
                             static_cast<double>(mode.z) * k / array.cells[2];
        sum += array(i, j, k) * std::polar(1.0, -2.0 * std::numbers::pi * phase);
      }
  return sum;
}

TEST(PeriodicFourier, GivesEveryModeOnce) {
  for (const Cells& cells : {Cells{6, 5, 8}, Cells{7, 8, 9}})
    for (const ProcessGrid processes : process_grids(world().size(), 5, 8)) {
      const PencilGrid grid(world(), cells, processes);
      PeriodicFourier fourier(grid);
      const Array array = random_array(cells, 1);
      fourier.forward(own_values(array, grid).data());
      std::int64_t modes = 0;
      fourier.for_each_mode([&](const Mode& mode, std::complex<double>& coefficient) {
        modes += mode.weight;
        EXPECT_LE(std::abs(coefficient - direct_sum(array, mode)), 1e-12 * 400);
      });
      EXPECT_EQ(world().sum(modes), std::int64_t{cells[0]} * cells[1] * cells[2]);
    }
}

TEST(PeriodicFourier, SolvesPoissonsEquationWithTheSameBitsOnEveryProcessGrid) {
  const Cells cells{16, 12, 10};
  const Array source = random_array(cells, 2);
  const auto solution = [&](const PencilGrid& grid, TransposeBackend backend) {
    PeriodicFourier fourier(grid, backend);
    std::vector<double> values = own_values(source, grid);
    fourier.forward(values.data());
    fourier.for_each_mode([&](const Mode& mode, std::complex<double>& coefficient) {
      const double k2 = mode.x * mode.x + mode.y * mode.y + mode.z * mode.z;
      coefficient = k2 == 0.0 ? 0.0 : coefficient / -k2;
    });
    fourier.backward(values.data());
    return gathered(field_of(values, grid), grid).values;
  };
  const PencilGrid alone(world().split(world().rank()), cells, {1, 1});
  const auto expected = solution(alone, TransposeBackend::p2p);
  for (const ProcessGrid processes : process_grids(world().size(), 8, 8))
    for (const TransposeBackend backend : k_transpose_backends)
      EXPECT_EQ(solution(PencilGrid(world(), cells, processes), backend), expected)
          << to_string(processes) << " " << name_of(backend);
}

// A product of two padded transforms is the convolution of the arrays, without wrapping around, on
// every process grid with the same bits.
TEST(PeriodicFourier, ConvolvesPaddedArraysWithoutWrappingAround) {
  const Cells cells{6, 5, 4};
  const Array source = random_array(cells, 4);
  // exp(-|i - j|) along each axis, as a sequence that is periodic in twice the cells.
  const auto kernel_mode = [&](int axis, int k) {
    const int n = cells[axis];
    double sum = 0.0;
    for (int i = -n; i < n; ++i)
      sum += std::exp(-std::abs(i)) * std::cos(std::numbers::pi * k * i / n);
    return sum;
  };
  const auto convolved = [&](const PencilGrid& grid, TransposeBackend backend) {
    PeriodicFourier fourier(grid, backend, Padding::doubled);
    std::vector<double> values = own_values(source, grid);
    for (int round = 0; round < 2; ++round) {  // nothing may be left over from a call before
      values = own_values(source, grid);
      fourier.forward(values.data());
      fourier.for_each_mode([&](const Mode& mode, std::complex<double>& coefficient) {
        coefficient *= kernel_mode(0, mode.x) * kernel_mode(1, mode.y) * kernel_mode(2, mode.z);
      });
      fourier.backward(values.data());
    }
    return gathered(field_of(values, grid), grid);
  };
  const PencilGrid alone(world().split(world().rank()), cells, {1, 1});
  const Array expected = convolved(alone, TransposeBackend::p2p);
  for (int z = 0; z < cells[2]; ++z)
    for (int y = 0; y < cells[1]; ++y)
      for (int x = 0; x < cells[0]; ++x) {
        double sum = 0.0;
        for (int k = 0; k < cells[2]; ++k)
          for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i)
              sum +=
                  source(i, j, k) * std::exp(-std::abs(x - i) - std::abs(y - j) - std::abs(z - k));
        EXPECT_NEAR(expected(x, y, z), sum, 1e-13);
      }
  for (const ProcessGrid processes : process_grids(world().size(), 4, 4))
    for (const TransposeBackend backend : k_transpose_backends)
      EXPECT_EQ(convolved(PencilGrid(world(), cells, processes), backend).values, expected.values)
          << to_string(processes) << " " << name_of(backend);
}

double factor_of(const Mode& mode) {
  return 1.0 / (1 + mode.x * mode.x + 2 * mode.y * mode.y + 3 * mode.z * mode.z);
}

Array multiplied_by_planes(const Array& array, const PencilGrid& grid, Padding padding) {
  PeriodicFourier fourier(grid, TransposeBackend::p2p, padding);
  std::vector<double> values = own_values(array, grid);
  fourier.forward(values.data());
  fourier.for_each_mode(
      [](const Mode& mode, std::complex<double>& value) { value *= factor_of(mode); });
  fourier.backward(values.data());
  return gathered(field_of(values, grid), grid);
}

Array multiplied_in_batches(const Array& array, const PencilGrid& grid, Padding padding) {
  CommOptions staged;
  staged.staging = Staging::always;
  BatchedFourier fourier(grid, padding, staged);
  const DeviceArray<double> factors = fourier.factors(factor_of);
  Field field = local_part(array, grid);
  DeviceField device(field.box());
  device.copy_from(field);
  for (int round = 0; round < 2; ++round) {  // nothing may be left over from a call before
    fourier.clear();
    copy_cells(device.view(), fourier.values());
    fourier.multiply_modes(factors);
  }
  copy_cells(fourier.values(), device.view(), fourier.scale());
  device.copy_to(field);
  return gathered(field, grid);
}

TEST(BatchedFourier, HasTheBitsOfPeriodicFourierOnEveryProcessGrid) {
  for (const Padding padding : {Padding::none, Padding::doubled})
    for (const Cells& cells : {Cells{12, 10, 9}, Cells{3, 8, 8}}) {
      const Array array = random_array(cells, 5);
      const PencilGrid alone(world().split(world().rank()), cells, {1, 1});
      const Array expected = multiplied_by_planes(array, alone, padding);
      for (const ProcessGrid processes : process_grids(world().size(), 8, 8)) {
        const PencilGrid grid(world(), cells, processes);
        const Array found = multiplied_in_batches(array, grid, padding);
        if (k_device_is_host) EXPECT_EQ(found.values, expected.values) << to_string(processes);
        else EXPECT_LE(largest_difference(found, expected), 1e-13) << to_string(processes);
      }
    }
}

TEST(PeriodicFourier, KeepsParsevalsSumReproducibly) {
  const Cells cells{8, 9, 10};
  const PencilGrid grid(world(), cells, fitting_process_grid(world().size(), cells, 1));
  PeriodicFourier fourier(grid);
  const Array array = random_array(cells, 3);
  fourier.forward(own_values(array, grid).data());
  ReproducibleSum power[1];
  fourier.for_each_mode([&](const Mode& mode, std::complex<double>& coefficient) {
    power[0] += mode.weight * std::norm(coefficient);
  });
  reproducible_sum(world(), power);
  double squares = 0.0;
  for (const double value : array.values) squares += value * value;
  EXPECT_NEAR(power[0].to_double() / (squares * 8 * 9 * 10), 1.0, 1e-13);
}

TEST(FittingProcessGrid, UsesNoMoreRanksThanTheArrayIsWorth) {
  EXPECT_EQ(fitting_process_grid(1, {8, 8, 8}), (ProcessGrid{1, 1}));
  EXPECT_EQ(fitting_process_grid(64, {8, 8, 8}), (ProcessGrid{2, 2}));
  EXPECT_EQ(fitting_process_grid(64, {64, 64, 64}), (ProcessGrid{8, 8}));
  EXPECT_EQ(fitting_process_grid(7, {4, 4, 4}), (ProcessGrid{1, 1}));
}

}  // namespace
}  // namespace octant::pencil
