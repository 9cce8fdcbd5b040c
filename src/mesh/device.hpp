// Helpers for host vectors and device arrays.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/memory_transfer.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// Copies a host vector to the device, as a table by default.
template <class T>
DeviceArray<const T> to_device(const std::string& label, const std::vector<T>& values,
                               TransferKind transfer = TransferKind::tables) {
  return on_device(transfer, label, values);
}

// Allocates uninitialised device memory for `count` values; empty for 0.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::int64_t count) {
  if (count == 0) return {};
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                        static_cast<std::size_t>(count));
}

// Allocates device memory for `count` values, filled with zeros; empty for 0.
template <class T>
DeviceArray<T> zeros(const std::string& label, std::int64_t count) {
  const auto values = uninitialised<T>(label, count);
  if (count > 0) fill(values, T{});
  return values;
}

// Table that the host writes and kernels read. The table is reallocated only when it grows, and
// only written parts are uploaded. On CPUs, host and device share one memory. No kernel may read
// the table while the host writes it.
template <class T>
class DeviceTable {
 public:
  explicit DeviceTable(std::string label) : label_(std::move(label)) {}

  // Number of entries.
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t n) const { return host_(n); }

  // Returns entry n for writing.
  T& at(std::size_t n) { return *write(n, 1); }
  // Returns `count` consecutive entries for writing.
  T* write(std::size_t begin, std::size_t count) {
    for (std::size_t part = begin / k_part; part * k_part < begin + count; ++part)
      is_written_[part] = true;
    return host_.data() + begin;
  }
  // Appends an entry.
  void push_back(const T& value) {
    resize(size_ + 1);
    at(size_ - 1) = value;
  }

  // Changes the number of entries; existing ones keep their values, new ones are undefined until
  // written.
  void resize(std::size_t size) {
    if (size > host_.extent(0)) move_to(uninitialised<T>(label_, size + size / 4 + 64));
    size_ = size;
  }
  // Removes all entries.
  void clear() { size_ = 0; }

  // Copies the parts written since the last call to the device.
  void upload() {
    const std::size_t parts = (size_ + k_part - 1) / k_part;
    for (std::size_t begin = 0, end = 0; begin < parts; begin = end + 1) {
      for (end = begin; end < parts && is_written_[end];) is_written_[end++] = false;
      const std::pair range(begin * k_part, std::min(end * k_part, size_));
      if (end > begin)
        copy_to_device(TransferKind::tables, Kokkos::subview(device_, range),
                       Kokkos::subview(host_, range));
    }
  }

  // Table in device memory, as last uploaded.
  DeviceArray<const T> on_device() const {
    return Kokkos::subview(device_, std::pair<std::size_t, std::size_t>(0, size_));
  }

 private:
  // number of entries in a part, which is uploaded as a whole
  static constexpr std::size_t k_part = 512;

  void move_to(const DeviceArray<T>& device) {
    const auto host = Kokkos::create_mirror_view(device);
    for (std::size_t n = 0; n < size_; ++n) host(n) = host_(n);
    device_ = device;
    host_ = host;
    is_written_.assign(device.extent(0) / k_part + 1, true);
  }

  std::string label_;
  std::size_t size_ = 0;
  DeviceArray<T> device_;
  typename DeviceArray<T>::HostMirror host_;
  std::vector<bool> is_written_;  // flags by part
};

}  // namespace octant::mesh
