#include "comm/runtime.hpp"

#include <cstdio>

#include <Kokkos_Core.hpp>

#include "comm/mpi_layer.hpp"
#include "core/memory.hpp"

namespace octant {

Runtime::Runtime(int& argc, char**& argv) {
  return_freed_memory_to_system();
  mpi::initialize(argc, argv);
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
