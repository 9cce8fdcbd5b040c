// Common names for the CUDA and HIP runtime functions that Octant uses in addition to Kokkos.
#pragma once

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

namespace octant::gpu {

using Result = cudaError_t;
inline constexpr Result k_success = cudaSuccess, k_not_ready = cudaErrorNotReady,
                        k_no_device = cudaErrorNoDevice;
inline const char* describe(Result result) { return cudaGetErrorString(result); }

using Properties = cudaDeviceProp;
inline Result count_devices(int* count) { return cudaGetDeviceCount(count); }
inline Result get_properties(Properties* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}

using Stream = cudaStream_t;
inline Stream kernels_stream() { return Kokkos::Cuda().cuda_stream(); }

using Event = cudaEvent_t;
inline Result create_event(Event* event) { return cudaEventCreate(event); }
inline Result destroy_event(Event event) { return cudaEventDestroy(event); }
inline Result record_event(Event event) { return cudaEventRecord(event, kernels_stream()); }
inline Result query_event(Event event) { return cudaEventQuery(event); }
inline Result await_event(Event event) { return cudaEventSynchronize(event); }
inline Result elapsed(float* ms, Event from, Event to) {
  return cudaEventElapsedTime(ms, from, to);
}

}  // namespace octant::gpu

#elif defined(KOKKOS_ENABLE_HIP)

namespace octant::gpu {

using Result = hipError_t;
inline constexpr Result k_success = hipSuccess, k_not_ready = hipErrorNotReady,
                        k_no_device = hipErrorNoDevice;
inline const char* describe(Result result) { return hipGetErrorString(result); }

using Properties = hipDeviceProp_t;
inline Result count_devices(int* count) { return hipGetDeviceCount(count); }
inline Result get_properties(Properties* properties, int device) {
  return hipGetDeviceProperties(properties, device);
}

using Stream = hipStream_t;
inline Stream kernels_stream() { return Kokkos::HIP().hip_stream(); }

using Event = hipEvent_t;
inline Result create_event(Event* event) { return hipEventCreate(event); }
inline Result destroy_event(Event event) { return hipEventDestroy(event); }
inline Result record_event(Event event) { return hipEventRecord(event, kernels_stream()); }
inline Result query_event(Event event) { return hipEventQuery(event); }
inline Result await_event(Event event) { return hipEventSynchronize(event); }
inline Result elapsed(float* ms, Event from, Event to) { return hipEventElapsedTime(ms, from, to); }

}  // namespace octant::gpu

#endif
