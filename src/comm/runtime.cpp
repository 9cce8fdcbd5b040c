#include "comm/runtime.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "comm/communicator.hpp"
#include "comm/devices.hpp"
#include "comm/mpi_layer.hpp"
#include "core/device_memory.hpp"
#include "core/error.hpp"
#include "core/host_kernels.hpp"
#include "core/memory.hpp"
#include "core/memory_account.hpp"

namespace octant {

namespace {

// Kokkos notes its threads in a table of fixed length, and writes beyond its end where there are
// more: what to say then, or nothing.
std::string about_too_many_threads() {
#ifdef KOKKOS_ENABLE_OPENMP
  constexpr int k_most = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;
  const int threads = omp_get_max_threads();
  if (threads > k_most)
    return fmt::format(
        "OMP_NUM_THREADS: {} threads per rank; at most {} are possible, and more than the "
        "processors of a rank only slow it down: set OMP_NUM_THREADS, or ./octant -t",
        threads, k_most);
#endif
  return "";
}

// Ends the program, with the exit code of bad input.
void refuse_more_threads_than_kokkos_holds() {
  const std::string message = about_too_many_threads();
  if (message.empty()) return;
  if (mpi::rank(*mpi::world()) == 0) fmt::print(stderr, "{}\n", message);
  mpi::finalize();
  std::exit(2);
}

// A launcher that speaks another dialect than MPI starts so many runs of one rank, each of which
// thinks that it is alone, in one directory. Ends the program with the exit code of bad input.
void refuse_to_be_one_of_many_alone() {
  if (mpi::size(*mpi::world()) > 1) return;
  for (const char* variable :
       {"SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* started = std::getenv(variable);
    if (started == nullptr || std::atoi(started) <= 1) continue;
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

// What the first of those ranks says that have no GPU to run kernels on; empty if all have.
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

// The hooks of its tools would wait for all kernels of a device, before and after each. A tool says
// by itself what it needs.
void let_hooks_wait_for_nothing() {
  if (std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_request_tool_settings_callback([](std::uint32_t, tools::ToolSettings* settings) {
    settings->requires_global_fencing = false;
  });
}

// By the hooks of its tools, unless a tool has these.
void count_arrays_of_kokkos() {
  if (std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  start_memory_account();
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_allocate_data_callback(count_array_of_kokkos);
  tools::set_deallocate_data_callback([](Kokkos::Profiling::SpaceHandle, const char*,
                                         const void* memory,
                                         std::uint64_t) { forget_array(memory); });
}

// Kokkos aborts the program when a GPU fails, once it has said how; and where it only throws, what
// lies on that GPU cannot be freed on the way out, which aborts as well.
void end_when_the_device_fails() {
  std::signal(SIGABRT, [](int) {
    std::signal(SIGABRT, SIG_DFL);
    std::fputs(
        "the GPU or Kokkos reported an error (above): the run ends. Its checkpoints are complete; "
        "--restart latest continues from the newest\n",
        stderr);
    end_all_ranks(1);
  });
}

#ifdef OCTANT_MEMORY_APART
// Kernels and copies alone touch it, which they announce by the hooks of Kokkos' tools.
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
  // Kokkos grows what its threads work in when a kernel has begun.
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
  // Its warnings are advice on binding threads, repeated by every rank.
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  const bool is_chosen = std::getenv("KOKKOS_DEVICE_ID") != nullptr ||
                         std::getenv("KOKKOS_MAP_DEVICE_ID_BY") != nullptr;
  const auto device = device_of(Communicator::world().split_by_node().rank());
  if (device && !is_chosen) settings.set_device_id(*device);
  let_hooks_wait_for_nothing();
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
  refuse_to_be_one_of_many_alone();
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
  constexpr double k_patience = 5.0;  // seconds
  return mpi::all_arrive(k_patience);
}

void end_all_ranks(int exit_code) {
  std::fflush(nullptr);
  mpi::abort(exit_code);
}

}  // namespace octant
