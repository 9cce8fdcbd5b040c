#include "comm/runtime.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "comm/communicator.hpp"
#include "comm/mpi_layer.hpp"
#include "core/device_memory.hpp"
#include "core/error.hpp"
#include "core/gpu_runtime.hpp"
#include "core/guarded_memory.hpp"
#include "core/memory.hpp"

namespace octant {

namespace {

// Returns an error message if there are more threads than entries in Kokkos' fixed-length table,
// beyond whose end Kokkos would write; otherwise empty.
std::string about_too_many_threads() {
#ifdef KOKKOS_ENABLE_OPENMP
  constexpr int k_most = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;
  const int threads = omp_get_max_threads();
  if (threads > k_most)
    return fmt::format(
        "OMP_NUM_THREADS: {} threads per rank; at most {} are supported, and more threads than "
        "processors per rank slow the run down; set OMP_NUM_THREADS, or use ./octant -t",
        threads, k_most);
#endif
  return "";
}

// Ends the program with the exit code of bad input if there are too many threads for Kokkos.
void refuse_more_threads_than_kokkos_holds() {
  const std::string message = about_too_many_threads();
  if (message.empty()) return;
  if (mpi::rank(*mpi::world()) == 0) fmt::print(stderr, "{}\n", message);
  mpi::finalize();
  std::exit(2);
}

// Detects a launcher that is incompatible with the MPI library and has started many independent
// one-rank runs in one directory. Ends the program with the exit code of bad input.
void check_launcher() {
  if (mpi::size(*mpi::world()) > 1) return;
  for (const char* variable :
       {"SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* started = std::getenv(variable);
    if (started == nullptr || std::strtol(started, nullptr, 10) <= 1) continue;
    fmt::print(stderr,
               "{} ranks were started ({}), but MPI reports one: the launcher does not match the "
               "MPI library of this program; with srun, try --mpi=pmix (or SLURM_MPI_TYPE=pmix), "
               "or use mpirun\n",
               started, variable);
    mpi::finalize();
    std::exit(2);
  }
}

std::string g_why_no_kernels;

// Returns the message of the first rank without a usable GPU; empty if all have one.
std::string why_a_rank_has_no_device() {
  std::string message = why_no_device();
  const Communicator world = Communicator::world();
  const int first = world.min(message.empty() ? world.size() : world.rank());
  if (first < world.size()) world.broadcast(message, first);
  return message;
}

// Ends the program with the exit code of a failed run.
[[noreturn]] void refuse_to_run_without_a_device() {
  if (Communicator::world().is_root()) fmt::print(stderr, "{}\n", g_why_no_kernels);
  mpi::finalize();
  std::exit(1);
}

void count_array_of_kokkos(Kokkos::Profiling::SpaceHandle space, const char* label,
                           const void* memory, std::uint64_t bytes) {
  const bool on_device = !k_device_is_host && space.name == std::string_view(DeviceMemory::name());
  count_array(label, memory, static_cast<std::int64_t>(bytes), on_device);
}

// Disables the global fences before and after kernels for Kokkos' tool hooks, unless a tool is
// loaded.
void disable_tool_fences() {
  if (std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_request_tool_settings_callback([](std::uint32_t, tools::ToolSettings* settings) {
    settings->requires_global_fencing = false;
  });
}

// Counts Kokkos' arrays by its tool hooks, unless a tool is loaded.
void count_arrays_of_kokkos() {
  if (std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  start_memory_account();
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_allocate_data_callback(count_array_of_kokkos);
  tools::set_deallocate_data_callback([](Kokkos::Profiling::SpaceHandle, const char*,
                                         const void* memory,
                                         std::uint64_t) { forget_array(memory); });
}

// Handles failures of a GPU: Kokkos reports them and aborts the program; if it only throws, data on
// that GPU cannot be freed, which aborts as well.
void end_when_the_device_fails() {
  std::signal(SIGABRT, [](int) {
    std::signal(SIGABRT, SIG_DFL);
    std::fputs(
        "the GPU or Kokkos reported the error above; the run was aborted. Existing checkpoints are "
        "complete; --restart latest continues from the newest one\n",
        stderr);
    end_all_ranks(1);
  });
}

#ifdef OCTANT_MEMORY_APART
// Allows access to the emulated device memory only in kernels and copies, which Kokkos' tool hooks
// announce.
void open_memory_apart_to_kernels() {
  namespace tools = Kokkos::Tools::Experimental;
  const auto open = [](const char* name, std::uint32_t, std::uint64_t*) {
    guarded_memory::begin_kernel(name);
  };
  const auto close = [](std::uint64_t) { guarded_memory::end_kernel(); };
  tools::set_begin_parallel_for_callback(open);
  tools::set_begin_parallel_reduce_callback(open);
  tools::set_begin_parallel_scan_callback(open);
  tools::set_end_parallel_for_callback(close);
  tools::set_end_parallel_reduce_callback(close);
  tools::set_end_parallel_scan_callback(close);
  tools::set_begin_deep_copy_callback([](Kokkos::Profiling::SpaceHandle, const char*, const void*,
                                         Kokkos::Profiling::SpaceHandle, const char*, const void*,
                                         std::uint64_t) { guarded_memory::open(); });
  tools::set_end_deep_copy_callback([] { guarded_memory::close(); });
  // Kokkos may allocate scratch memory after the start of a kernel.
  tools::set_allocate_data_callback([](Kokkos::Profiling::SpaceHandle space, const char* label,
                                       const void* memory, std::uint64_t bytes) {
    const BeforeWork here;
    count_array_of_kokkos(space, label, memory, bytes);
  });
  tools::set_deallocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char*, const void* memory, std::uint64_t) {
        const BeforeWork here;
        forget_array(memory);
      });
  guarded_memory::watch();
}
#endif

void start_kokkos() {
  // Kokkos' warnings about thread binding would be repeated by every rank.
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  const bool is_chosen = std::getenv("KOKKOS_DEVICE_ID") != nullptr ||
                         std::getenv("KOKKOS_MAP_DEVICE_ID_BY") != nullptr;
  const auto device = device_of(Communicator::world().split_by_node().rank());
  if (device && !is_chosen) settings.set_device_id(*device);
  disable_tool_fences();
  Kokkos::initialize(settings);
  count_arrays_of_kokkos();
#ifdef OCTANT_MEMORY_APART
  open_memory_apart_to_kernels();
#endif
}

}  // namespace

Runtime::Runtime(int& argc, char**& argv, Kernels kernels) {
  return_freed_memory_to_system();
  mpi::initialize(argc, argv);
  check_launcher();
  refuse_more_threads_than_kokkos_holds();
  g_why_no_kernels = why_a_rank_has_no_device();
  if (!why_no_kernels().empty()) {
    if (kernels == Kernels::needed) refuse_to_run_without_a_device();
    return;
  }
  start_kokkos();
  if (!k_device_is_host) end_when_the_device_fails();
}

Runtime::Runtime(std::optional<int> fortran_communicator) {
  int argc = 0;
  char** argv = nullptr;
  mpi::initialize(argc, argv);
  if (fortran_communicator) mpi::run_on(*fortran_communicator);
  if (const std::string message = about_too_many_threads(); !message.empty())
    throw InputError("{}", message);
  if (const std::string message = why_no_device(); !message.empty()) throw RunError("{}", message);
  start_kokkos();
}

Runtime::~Runtime() {
  if (Kokkos::is_initialized()) Kokkos::finalize();
  mpi::finalize();
}

const std::string& why_no_kernels() { return g_why_no_kernels; }

void require_kernels() {
  if (!why_no_kernels().empty()) throw RunError("{}", why_no_kernels());
}

bool all_ranks_agree_to_end() {
  constexpr double k_timeout = 5.0;  // seconds
  return mpi::all_arrive(k_timeout);
}

void end_all_ranks(int exit_code) {
  std::fflush(nullptr);
  mpi::abort(exit_code);
}

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

// Formats 13000 as 13.0.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_none(gpu::Result error) {
  int served = 0, built_with = 0;
  cudaDriverGetVersion(&served);
  cudaRuntimeGetVersion(&built_with);
  if (served == 0)
    return "no GPU: this program was built for NVIDIA GPUs, but this machine has no NVIDIA driver "
           "(libcuda.so.1); run the program on a machine with an NVIDIA GPU, or build the preset "
           "release";
  if (served < built_with)
    return fmt::format(
        "the NVIDIA driver is too old: the driver supports CUDA up to {}, but this program was "
        "built with CUDA {}; install a newer driver, or build with CUDA toolkit {} or older",
        version_text(served), version_text(built_with), version_text(served));
  return fmt::format("no GPU can be used ({}); check nvidia-smi and CUDA_VISIBLE_DEVICES",
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
      "the GPU ({}) has compute capability {}.{}, but this program was compiled for another: "
      "rebuild with a Kokkos installation for this GPU (Kokkos_ARCH_..., OCTANT_KOKKOS)",
      first.name, first.major, first.minor);
}

// Identity of a GPU or of a part of one.
auto identity_of(const gpu::Properties& own) {
  std::array<char, sizeof own.uuid.bytes> id;
  std::copy_n(own.uuid.bytes, id.size(), id.begin());
  return id;
}

#else

std::string why_none(gpu::Result error) {
  return fmt::format(
      "no GPU: this program was built for AMD GPUs, but no AMD GPU can be used ({}); check "
      "rocminfo and ROCR_VISIBLE_DEVICES",
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
