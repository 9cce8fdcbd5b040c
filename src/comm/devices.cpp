#include "comm/devices.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/gpu_runtime.hpp"

namespace octant {

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)

namespace {

gpu::Properties properties_of(int device) {
  gpu::Properties properties{};
  if (gpu::get_properties(&properties, device) != gpu::k_success) return {};
  return properties;
}

int device_count() {
  int count = 0;
  return gpu::count_devices(&count) == gpu::k_success ? count : 0;
}

#if defined(KOKKOS_ENABLE_CUDA)

__global__ void any_kernel() {}

// 13000 as 13.0.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_none(gpu::Result error) {
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
  return fmt::format(
      "no GPU can be used ({}); is one there (nvidia-smi), and not hidden by "
      "CUDA_VISIBLE_DEVICES?",
      gpu::describe(error));
}

std::string why_unfit() {
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, any_kernel) == gpu::k_success) return "";
  const gpu::Result error = cudaGetLastError();
  if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
    return fmt::format("the GPU cannot be used: {}", gpu::describe(error));
  const gpu::Properties first = properties_of(0);
  return fmt::format(
      "the GPU ({}) has compute capability {}.{}, and this program's kernels are for another: "
      "build it with a Kokkos for that (Kokkos_ARCH_..., OCTANT_KOKKOS)",
      first.name, first.major, first.minor);
}

// What tells one GPU, or part of one, from others.
auto identity_of(const gpu::Properties& own) {
  std::array<char, sizeof own.uuid.bytes> id;
  std::copy_n(own.uuid.bytes, id.size(), id.begin());
  return id;
}

#else

std::string why_none(gpu::Result error) {
  return fmt::format(
      "no GPU: this program's kernels run on one of AMD's, and none can be used ({}); is one there "
      "(rocminfo), and not hidden by ROCR_VISIBLE_DEVICES?",
      gpu::describe(error));
}

std::string why_unfit() { return ""; }

auto identity_of(const gpu::Properties& own) {
  return std::array{own.pciDomainID, own.pciBusID, own.pciDeviceID};
}

#endif

}  // namespace

std::string why_no_device() {
  int count = 0;
  const gpu::Result counted = gpu::count_devices(&count);
  if (counted == gpu::k_success && count > 0) return why_unfit();
  return why_none(counted == gpu::k_success ? gpu::k_no_device : counted);
}

std::optional<int> device_of(int rank_of_node) { return device_of(rank_of_node, device_count()); }

Devices devices_of(const Communicator& node) {
  const gpu::Properties own = properties_of(Kokkos::device_id());
  auto identities = node.gather_to_root(identity_of(own));
  std::sort(identities.begin(), identities.end());
  auto count =
      static_cast<int>(std::unique(identities.begin(), identities.end()) - identities.begin());
  node.broadcast(count);
  return {count, own.name, static_cast<std::int64_t>(own.totalGlobalMem)};
}

#else

std::string why_no_device() { return ""; }
std::optional<int> device_of(int) { return std::nullopt; }
Devices devices_of(const Communicator&) { return {}; }

#endif

}  // namespace octant
