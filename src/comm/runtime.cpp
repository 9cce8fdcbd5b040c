#include "comm/runtime.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "comm/mpi_layer.hpp"
#include "core/memory.hpp"

namespace octant {

namespace {

// Kokkos notes its threads in a table of fixed length, and writes beyond its end where there are
// more. Ends the program, with the exit code of bad input.
void refuse_more_threads_than_kokkos_holds() {
#ifdef KOKKOS_ENABLE_OPENMP
  constexpr int k_most = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;
  const int threads = omp_get_max_threads();
  if (threads <= k_most) return;
  if (mpi::rank(*mpi::world()) == 0)
    fmt::print(stderr,
               "OMP_NUM_THREADS: {} threads per rank; at most {} are possible, and more than the "
               "processors of a rank only slow it down: set OMP_NUM_THREADS, or ./octant -t\n",
               threads, k_most);
  mpi::finalize();
  std::exit(2);
#endif
}

}  // namespace

Runtime::Runtime(int& argc, char**& argv) {
  return_freed_memory_to_system();
  mpi::initialize(argc, argv);
  refuse_more_threads_than_kokkos_holds();
  // Its warnings are advice on binding threads, repeated by every rank.
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
}

Runtime::~Runtime() {
  Kokkos::finalize();
  mpi::finalize();
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
