// A periodic box of equal blocks with the tables of its tiles, built by hand: replaces one
// level of the mesh.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "hydro/sweep.hpp"

namespace octant::hydro::test {

using PrimitiveAt = std::function<std::array<double, 5>(double x, double y, double z)>;
using Doubles = Kokkos::View<double*, Kokkos::DefaultHostExecutionSpace>;

template <class T>
mesh::DeviceArray<const T> to_device(const std::vector<T>& values) {
  mesh::DeviceArray<T> array("values", values.size());
  Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                          values.size());
  Kokkos::deep_copy(array, host);
  return array;
}

struct BoxShape {
  std::array<int, 3> cells;
  int block_size, patch;
  double dx = 1.0 / cells[0];
};

class UniformBlocks {
 public:
  UniformBlocks(const HydroOptions& options, const BoxShape& shape)
      : options_(options), shape_(shape), variables_(options.variable_count()) {
    const int N = shape.block_size, M = shape.patch;
    stride_variable_ = N * N * N + 8;
    for (int d = 0; d < 3; ++d) blocks_[d] = shape.cells[d] / N;
    const std::size_t doubles = std::size_t(slots()) * variables_ * stride_variable_;
    for (Doubles* f : {&state_, &next_, &stage_}) *f = Doubles("state", doubles);
    make_boxes();
    tiles_.block_size = N;
    tiles_.log2_block_size = __builtin_ctz(N);
    tiles_.patch = M;
    tiles_.blocks_per_patch = M > N ? M / N : 1;
    tiles_.reach = tiles_.blocks_per_patch + 2;
    for (int z = 0; z < shape.cells[2]; z += M)
      for (int y = 0; y < shape.cells[1]; y += M)
        for (int x = 0; x < shape.cells[0]; x += M) add_tile({x, y, z});
    update_tiles();
    bad_ = mesh::DeviceArray<std::uint8_t>("bad", tiles_.count());
  }

  int slots() const { return blocks_[0] * blocks_[1] * blocks_[2]; }
  int slot_of(int x, int y, int z) const {
    const int N = shape_.block_size;
    const auto wrap = [&](int cell, int d) {
      return (cell + shape_.cells[d]) % shape_.cells[d] / N;
    };
    return (wrap(z, 2) * blocks_[1] + wrap(y, 1)) * blocks_[0] + wrap(x, 0);
  }
  std::size_t offset(int n, int x, int y, int z) const {
    const int N = shape_.block_size;
    return std::size_t(slot_of(x, y, z)) * variables_ * stride_variable_ +
           std::size_t(n) * stride_variable_ + ((z & (N - 1)) * N + (y & (N - 1))) * N +
           (x & (N - 1));
  }
  double& at(int n, int x, int y, int z) { return state_(offset(n, x, y, z)); }
  int tile_index(int x, int y, int z) const {
    const int M = shape_.patch;
    return ((z / M) * (shape_.cells[1] / M) + y / M) * (shape_.cells[0] / M) + x / M;
  }

  template <class Body>
  void for_cells(const Body& body) const {
    for (int z = 0; z < shape_.cells[2]; ++z)
      for (int y = 0; y < shape_.cells[1]; ++y)
        for (int x = 0; x < shape_.cells[0]; ++x) body(x, y, z);
  }

  void set(const PrimitiveAt& initial) {
    for_cells([&](int x, int y, int z) {
      const auto w = initial((x + 0.5) * shape_.dx, (y + 0.5) * shape_.dx, (z + 0.5) * shape_.dx);
      at(k_mass, x, y, z) = w[0];
      for (int n = 1; n < 4; ++n) at(n, x, y, z) = w[0] * w[n];
      at(k_energy, x, y, z) =
          w[4] / (options_.gamma - 1) + 0.5 * w[0] * (w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
      for (int n = k_hydro_variables; n < variables_; ++n)
        at(n, x, y, z) = w[0] * (x > shape_.cells[0] / 2 ? n - 4.0 : 0.0);
      if (options_.has_dual_energy())
        at(k_entropy, x, y, z) = w[0] * w[4] / std::pow(w[0], options_.gamma);
    });
  }

  // One sweep from `current` into `next`.
  SweepArguments arguments(const Doubles& current, const Doubles& next, const Stage& stage,
                           double dt) const {
    SweepArguments a;
    a.tiles = tiles_;
    a.current = {{current.data(), current.data(), halo_.data(), nullptr}};
    a.old = state_.data();
    a.next = next.data();
    a.a0 = stage.old_weight, a.a1 = stage.new_weight;
    a.ends_step = stage.last;
    a.dt = dt, a.dx = shape_.dx;
    a.flux_weight = stage.flux_weight * dt;
    a.registers = registers_.data();
    a.bad_tiles = bad_.data();
    a.batches = batches_;
    return a;
  }

  // One step of the scheme; afterwards stable_dt() knows the new signal speed.
  void step(double dt) {
    Doubles current = state_, to = next_, other = stage_;
    for (const Stage& stage : stages(options_.integrator)) {
      result_ = sweep(options_, arguments(current, to, stage, dt));
      current = to;
      std::swap(to, other);
    }
    if (current.data() == stage_.data()) std::swap(stage_, next_);
    std::swap(state_, next_);
    time_ += dt;
  }
  void run_until(double end, double cfl) {
    if (time_ == 0) step(1e-9);
    while (time_ < end * (1 - 1e-12)) step(std::min(stable_dt(cfl), end - time_));
  }
  double stable_dt(double cfl) const { return cfl * shape_.dx / result_.fastest; }

  // Every cell's variables in one order, whatever the blocks.
  std::vector<double> values(int count) {
    std::vector<double> all;
    for (int n = 0; n < count; ++n)
      for_cells([&](int x, int y, int z) { all.push_back(at(n, x, y, z)); });
    return all;
  }

  // Adds a flux request to a tile. Tiles without requests keep an empty range.
  void request(int tile, const mesh::FluxRegisterFaces& request, std::size_t register_size) {
    requests_of_.resize(host_tiles_.size());
    requests_of_[tile].push_back(request);
    requests_.clear();
    for (std::size_t t = 0; t < host_tiles_.size(); ++t) {
      host_tiles_[t].request_begin = static_cast<std::int32_t>(requests_.size());
      requests_.insert(requests_.end(), requests_of_[t].begin(), requests_of_[t].end());
      host_tiles_[t].request_end = static_cast<std::int32_t>(requests_.size());
    }
    registers_ = Doubles("registers", register_size);
    update_tiles();
  }

  // Takes away the boxes of block positions that touch a tile's patch only along an edge or a
  // corner further than any stencil reaches: those beyond corners.
  void forget_corners() {
    const int reach = tiles_.reach;
    const auto end = [&](int b) { return b == 0 || b == reach - 1; };
    for (const mesh::Tile& tile : host_tiles_)
      for (int kb = 0; kb < reach; ++kb)
        for (int jb = 0; jb < reach; ++jb)
          for (int ib = 0; ib < reach; ++ib)
            if (end(ib) && end(jb) && end(kb))
              table_[tile.table + (kb * reach + jb) * reach + ib] = -1;
    update_tiles();
  }
  // Makes a block another rank's: the box is read from a copy in the halo buffer.
  void give_away(int slot) {
    boxes_[slot].buffer = mesh::k_halo;
    halo_ = Doubles("halo", state_.extent(0));
    Kokkos::deep_copy(halo_, state_);
    update_tiles();
  }

  // In that copy.
  double& copy_at(int n, int x, int y, int z) { return halo_(offset(n, x, y, z)); }

  // Sweeps in batches from now on; null: tile by tile.
  void use(BatchBuffer* batches) { batches_ = batches; }

  const HydroOptions& options() const { return options_; }
  const SweepResult& result() const { return result_; }
  mesh::TileSet& tiles() { return tiles_; }
  std::vector<mesh::CellBox>& boxes() { return boxes_; }
  Doubles registers() const { return registers_; }
  Doubles state() const { return state_; }
  Doubles next() const { return next_; }
  mesh::DeviceArray<std::uint8_t> bad() const { return bad_; }
  double time() const { return time_; }

  void update_tiles() {
    tiles_.tiles = to_device(host_tiles_);
    tiles_.table = to_device(table_);
    tiles_.boxes = to_device(boxes_);
    tiles_.requests = to_device(requests_);
  }

 private:
  void make_boxes() {
    const int N = shape_.block_size;
    for (int s = 0; s < slots(); ++s)
      boxes_.push_back({std::int64_t(s) * variables_ * stride_variable_, N, N * N, stride_variable_,
                        mesh::k_own});
  }
  void add_tile(const std::array<int, 3>& first) {
    const int N = shape_.block_size, reach = tiles_.reach;
    mesh::Tile tile{};
    tile.table = static_cast<std::int32_t>(table_.size());
    for (int d = 0; d < 3; ++d) {
      tile.origin[d] = static_cast<std::int16_t>(first[d] % N);
      tile.first[d] = first[d];
    }
    for (int kb = -1; kb < reach - 1; ++kb)
      for (int jb = -1; jb < reach - 1; ++jb)
        for (int ib = -1; ib < reach - 1; ++ib)
          table_.push_back(slot_of(first[0] / N * N + ib * N, first[1] / N * N + jb * N,
                                   first[2] / N * N + kb * N));
    host_tiles_.push_back(tile);
  }

  HydroOptions options_;
  BoxShape shape_;
  int variables_, stride_variable_;
  int blocks_[3];
  mesh::TileSet tiles_;
  std::vector<mesh::Tile> host_tiles_;
  std::vector<std::int32_t> table_;
  std::vector<mesh::CellBox> boxes_;
  std::vector<mesh::FluxRegisterFaces> requests_;
  std::vector<std::vector<mesh::FluxRegisterFaces>> requests_of_;  // [tile]
  Doubles state_, next_, stage_, halo_, registers_;
  mesh::DeviceArray<std::uint8_t> bad_;
  BatchBuffer* batches_ = nullptr;
  SweepResult result_;
  double time_ = 0;
};

// A smooth, fully three-dimensional flow with velocity in every direction.
inline std::array<double, 5> stirred(double x, double y, double z) {
  const double k = 2 * M_PI;
  return {1 + 0.3 * std::sin(k * x) * std::cos(k * y), 0.4 * std::sin(k * (y + z)),
          0.3 * std::cos(k * (x - z)), 0.2 * std::sin(k * (x + y)),
          1 + 0.2 * std::cos(k * (x + z))};
}

// A hot ball in a cold medium, centred on the box.
inline std::array<double, 5> blast(double x, double y, double z) {
  const double r2 = (x - .5) * (x - .5) + (y - .5) * (y - .5) + (z - .5) * (z - .5);
  return {1, 0, 0, 0, r2 < 0.01 ? 100.0 : 0.1};
}

}  // namespace octant::hydro::test
