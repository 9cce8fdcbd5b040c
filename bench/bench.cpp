#include "bench/bench.hpp"

#include <array>

#include <fmt/format.h>

#include "bench/balance_bench.hpp"
#include "bench/collectives_bench.hpp"
#include "bench/comm_bench.hpp"
#include "bench/cooling_bench.hpp"
#include "bench/device_model_bench.hpp"
#include "bench/dns_bench.hpp"
#include "bench/feedback_bench.hpp"
#include "bench/fmm_bench.hpp"
#include "bench/fof_bench.hpp"
#include "bench/ghost_bench.hpp"
#include "bench/health_bench.hpp"
#include "bench/hydro_bench.hpp"
#include "bench/mpi_bench.hpp"
#include "bench/particle_bench.hpp"
#include "bench/placement_bench.hpp"
#include "bench/poisson_bench.hpp"
#include "bench/radiation_bench.hpp"
#include "bench/regrid_bench.hpp"
#include "bench/stars_bench.hpp"
#include "bench/transpose_bench.hpp"
#include "bench/tridiagonal_bench.hpp"
#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

struct Benchmark {
  const char* name;
  const char* meaning;  // parsed by ./octant bench -h
  int (*run)(const std::vector<std::string>& options);
};

constexpr std::array k_benchmarks{
    Benchmark{"hydro", "full hydrodynamic time steps: cell updates per second", hydro_bench},
    Benchmark{"device-model", "sweeps by both schedules, for execution.model", device_model_bench},
    Benchmark{"ghost", "ghost-cell exchange on a uniform periodic grid", ghost_bench},
    Benchmark{"collectives", "collective MPI calls", collectives_bench},
    Benchmark{"mpi", "eager limit, progress and queues of the MPI library", mpi_bench},
    Benchmark{"balance", "load balance of clustered work", balance_bench},
    Benchmark{"comm", "messages between blocks by placement of ranks", comm_bench},
    Benchmark{"poisson", "Poisson solvers: time and convergence", poisson_bench},
    Benchmark{"fmm", "fast multipole method: time and conservation", fmm_bench},
    Benchmark{"transpose", "transposes between pencils", transpose_bench},
    Benchmark{"tridiagonal", "tridiagonal systems along z: full transpose and P-TDMA",
              tridiagonal_bench},
    Benchmark{"dns", "full channel-flow time steps", dns_bench},
    Benchmark{"placement", "placement of blocks on ranks, from synthetic or recorded costs",
              placement_bench},
    Benchmark{"regrid", "incremental regridding compared with a full rebuild of the mesh",
              regrid_bench},
    Benchmark{"radiation", "transport of radiation and its exchange with the gas", radiation_bench},
    Benchmark{"particles", "deposit, kick and drift of particles", particle_bench},
    Benchmark{"cooling", "radiative cooling of cells", cooling_bench},
    Benchmark{"stars", "star formation in cells", stars_bench},
    Benchmark{"feedback", "supernovae and active galactic nuclei", feedback_bench},
    Benchmark{"fof", "friends-of-friends groups among points", fof_bench},
    Benchmark{"health", "memory bandwidth and arithmetic of each node; finds slow nodes",
              health_bench},
};

void list_benchmarks() {
  if (!Communicator::world().is_root()) return;
  fmt::print("octant bench NAME [OPTIONS]: run a benchmark (NAME -h: its options)\n\n");
  for (const Benchmark& benchmark : k_benchmarks)
    fmt::print("  {:<13} {}\n", benchmark.name, benchmark.meaning);
}

bool asks_for_help(const std::vector<std::string>& words) {
  return !words.empty() && (words.front() == "-h" || words.front() == "--help");
}

}  // namespace

int run(const std::string& name, const std::vector<std::string>& options) {
  if (name.empty() && asks_for_help(options)) {
    list_benchmarks();
    return 0;
  }
  std::string names;
  for (const Benchmark& benchmark : k_benchmarks) {
    if (name == benchmark.name) return benchmark.run(options);
    names += std::string(names.empty() ? "" : ", ") + benchmark.name;
  }
  if (name.empty()) throw InputError("octant bench requires the name of a benchmark: {}", names);
  throw InputError("there is no benchmark \"{}\"; expected one of {}", name, names);
}

}  // namespace octant::bench
