#include "comm/devices.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

namespace octant {

#ifdef KOKKOS_ENABLE_CUDA

namespace {

__global__ void any_kernel() {}

// 13000 as 13.0.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_no_driver() {
  int served = 0, built_with = 0;
  cudaDriverGetVersion(&served);
  cudaRuntimeGetVersion(&built_with);
  if (served == 0)
    return "no GPU: this program's kernels run on one of NVIDIA's, and this machine has no driver "
           "for it (libcuda.so.1); run it where there is one, or build the preset release";
  if (served < built_with)
    return fmt::format(
        "the NVIDIA driver is too old: it serves CUDA up to {}, and this program was built with "
        "CUDA {}; take a newer driver, or build with the CUDA toolkit {} or older",
        version_text(served), version_text(built_with), version_text(served));
  return "";
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, device);
  return properties;
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace

std::string why_no_device() {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess || count == 0) {
    const std::string driver = why_no_driver();
    if (!driver.empty()) return driver;
    return fmt::format(
        "no GPU can be used ({}); is one there (nvidia-smi), and not hidden by "
        "CUDA_VISIBLE_DEVICES?",
        cudaGetErrorString(counted == cudaSuccess ? cudaErrorNoDevice : counted));
  }
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, any_kernel) == cudaSuccess) return "";
  const cudaError_t error = cudaGetLastError();
  if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
    return fmt::format("the GPU cannot be used: {}", cudaGetErrorString(error));
  const cudaDeviceProp gpu = properties_of(0);
  return fmt::format(
      "the GPU ({}) has compute capability {}.{}, and this program's kernels are for another: "
      "build "
      "it with a Kokkos for that (Kokkos_ARCH_..., OCTANT_KOKKOS)",
      gpu.name, gpu.major, gpu.minor);
}

std::optional<int> device_of(int rank_of_node) { return device_of(rank_of_node, device_count()); }

Devices devices_of(const Communicator& node) {
  const cudaDeviceProp own = properties_of(Kokkos::device_id());
  std::array<char, sizeof own.uuid.bytes> id;
  std::copy_n(own.uuid.bytes, id.size(), id.begin());
  auto ids = node.gather_to_root(id);
  std::sort(ids.begin(), ids.end());
  auto count = static_cast<int>(std::unique(ids.begin(), ids.end()) - ids.begin());
  node.broadcast(count);
  return {count, own.name, static_cast<std::int64_t>(own.totalGlobalMem)};
}

#elif defined(KOKKOS_ENABLE_HIP)

namespace {

hipDeviceProp_t properties_of(int device) {
  hipDeviceProp_t properties{};
  if (hipGetDeviceProperties(&properties, device) != hipSuccess) return {};
  return properties;
}

int device_count() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

}  // namespace

std::string why_no_device() {
  int count = 0;
  const hipError_t counted = hipGetDeviceCount(&count);
  if (counted == hipSuccess && count > 0) return "";
  return fmt::format(
      "no GPU: this program's kernels run on one of AMD's, and none can be used ({}); is one there "
      "(rocminfo), and not hidden by ROCR_VISIBLE_DEVICES?",
      hipGetErrorString(counted == hipSuccess ? hipErrorNoDevice : counted));
}

std::optional<int> device_of(int rank_of_node) { return device_of(rank_of_node, device_count()); }

Devices devices_of(const Communicator& node) {
  const hipDeviceProp_t own = properties_of(Kokkos::device_id());
  auto places = node.gather_to_root(std::array{own.pciDomainID, own.pciBusID, own.pciDeviceID});
  std::sort(places.begin(), places.end());
  auto count = static_cast<int>(std::unique(places.begin(), places.end()) - places.begin());
  node.broadcast(count);
  return {count, own.name, static_cast<std::int64_t>(own.totalGlobalMem)};
}

#else

std::string why_no_device() { return ""; }
std::optional<int> device_of(int) { return std::nullopt; }
Devices devices_of(const Communicator&) { return {}; }

#endif

}  // namespace octant
