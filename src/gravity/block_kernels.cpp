#include "gravity/block_kernels.hpp"

#include "core/pack.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

using Policy = Kokkos::TeamPolicy<>;

// Calls body(slot, cell) for all cells of the blocks.
template <class Body>
void for_cells(const char* name, const BlockRange& blocks, const Body& body) {
  if (blocks.count() == 0) return;
  const auto slots = blocks.slots;
  const std::int64_t cells = blocks.cells();
  Kokkos::parallel_for(
      name, Policy(blocks.count(), Kokkos::AUTO), KOKKOS_LAMBDA(const Policy::member_type& team) {
        const std::int64_t slot = slots(team.league_rank());
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, cells),
                             [&](std::int64_t cell) { body(slot, cell); });
      });
  Kokkos::fence();
}

}  // namespace

void copy_blocks(const BlockRange& blocks, const BlockField& from, const BlockField& to) {
  for_cells(
      "gravity: copy blocks", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        to.data[slot * to.stride + cell] = from.data[slot * from.stride + cell];
      });
}

void clear_blocks(const BlockRange& blocks, const BlockField& field) {
  for_cells(
      "gravity: clear blocks", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        field.data[slot * field.stride + cell] = 0.0;
      });
}

namespace {

// What a cell's energy may change by beyond its kinetic energy: a share of its internal energy; and
// nothing where less than another share of its energy is internal. The flow through a cell and its
// momentum differ by the error of the scheme, which would overwhelm the temperature of cold gas.
constexpr double k_largest_change = 0.5, k_cold = 0.02;

KOKKOS_FORCEINLINE_FUNCTION double* at(const BlockField& field, std::int64_t slot,
                                       std::int64_t cell) {
  return field.data + slot * field.stride + cell;
}

KOKKOS_FORCEINLINE_FUNCTION double dot(const VectorField& a, const VectorField& b,
                                       std::int64_t slot, std::int64_t cell) {
  const double *x = at(a.x, slot, cell), *y = at(b.x, slot, cell);
  const std::int64_t m = a.stride_component, n = b.stride_component;
  return (x[0] * y[0] + x[m] * y[n]) + x[2 * m] * y[2 * n];
}

// Returns what kinetic energy gains.
KOKKOS_FORCEINLINE_FUNCTION double kick(double dt, const VectorField& acceleration,
                                        const GasFields& gas, std::int64_t slot,
                                        std::int64_t cell) {
  const double rho = *at(gas.density, slot, cell);
  const double* g = at(acceleration.x, slot, cell);
  double* m = at(gas.momentum.x, slot, cell);
  double gain = 0.0;  // times rho
  for (int d = 0; d < 3;
       ++d, g += acceleration.stride_component, m += gas.momentum.stride_component) {
    const double change = dt * rho * *g;
    gain += change * (*m + 0.5 * change);
    *m += change;
  }
  return gain / rho;
}

}  // namespace

void kick_blocks(const BlockRange& blocks, double dt, const VectorField& acceleration,
                 const GasFields& gas) {
  for_cells(
      "gravity: kick", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        *at(gas.energy, slot, cell) += kick(dt, acceleration, gas, slot, cell);
      });
}

void begin_work(const BlockRange& blocks, double dt, const VectorField& acceleration,
                const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: begin work", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        const double gain = kick(dt, acceleration, gas, slot, cell);
        *at(gas.energy, slot, cell) += gain;
        *at(work.owed, slot, cell) = -gain;
        for (int d = 0; d < 3; ++d)
          at(work.flow.x, slot, cell)[d * work.flow.stride_component] = 0.0;
      });
}

void add_half_of_work(const BlockRange& blocks, const VectorField& acceleration,
                      const WorkFields& work) {
  for_cells(
      "gravity: work", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        *at(work.owed, slot, cell) += 0.5 * dot(work.flow, acceleration, slot, cell);
      });
}

void finish_work(const BlockRange& blocks, double dt, const VectorField& acceleration,
                 const WorkFields& work, const GasFields& gas) {
  for_cells(
      "gravity: finish work", blocks, KOKKOS_LAMBDA(std::int64_t slot, std::int64_t cell) {
        double& energy = *at(gas.energy, slot, cell);
        const double kinetic =
            0.5 * dot(gas.momentum, gas.momentum, slot, cell) / *at(gas.density, slot, cell);
        const double gain = kick(dt, acceleration, gas, slot, cell);
        const double due =
            *at(work.owed, slot, cell) + 0.5 * dot(work.flow, acceleration, slot, cell) - gain;
        const double internal = energy - kinetic;
        const double most = internal > k_cold * energy ? k_largest_change * internal : 0.0;
        energy += gain + min(max(due, -most), most);
      });
}

double strongest_of(const BlockRange& blocks, const VectorField& acceleration) {
  const auto slots = blocks.slots;
  const std::int64_t cells = blocks.cells();
  double strongest = 0.0;
  Kokkos::parallel_reduce(
      "gravity: strongest", Kokkos::RangePolicy<>(0, blocks.count()),
      KOKKOS_LAMBDA(const std::int64_t n, double& most) {
        const double* g = acceleration.x.data + slots(n) * acceleration.x.stride;
        const std::int64_t y = acceleration.stride_component, z = 2 * y;
        for (std::int64_t c = 0; c < cells; ++c)
          most = max(most, (absolute(g[c]) + absolute(g[c + y])) + absolute(g[c + z]));
      },
      Kokkos::Max<double>(strongest));
  return max(strongest, 0.0);
}

std::vector<double> binding_of(const BlockRange& blocks, const std::vector<std::uint8_t>& refined,
                               const BlockField& density, double mean,
                               const BlockField& potential) {
  const auto slots = blocks.slots;
  const auto masks = mesh::to_device("refined", refined);
  const auto sums = mesh::uninitialised<double>("binding energies", blocks.count());
  const int N = blocks.block_size, half = N / 2;
  Kokkos::parallel_for(
      "gravity: binding energy", Kokkos::RangePolicy<>(0, blocks.count()),
      KOKKOS_LAMBDA(const std::int64_t n) {
        const double* rho = density.data ? density.data + slots(n) * density.stride : nullptr;
        const double* phi = potential.data + slots(n) * potential.stride;
        double sum = 0.0;
        for (int c = 0; c < N * N * N; ++c) {
          const int octant = (c % N >= half) + 2 * (c / N % N >= half) + 4 * (c / (N * N) >= half);
          if (!(masks(n) >> octant & 1)) sum += ((rho ? rho[c] : 0.0) - mean) * phi[c];
        }
        sums(n) = sum;
      });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sums);
  return {host.data(), host.data() + host.size()};
}

}  // namespace octant::gravity
