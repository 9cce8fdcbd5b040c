#include "bench/bench.hpp"

#include <array>

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
#include "bench/particle_bench.hpp"
#include "bench/placement_bench.hpp"
#include "bench/poisson_bench.hpp"
#include "bench/regrid_bench.hpp"
#include "bench/stars_bench.hpp"
#include "bench/transpose_bench.hpp"
#include "bench/tridiagonal_bench.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

struct Benchmark {
  const char* name;
  int (*run)(const std::vector<std::string>& options);
};

constexpr std::array k_benchmarks{
    Benchmark{"hydro", hydro_bench},
    Benchmark{"device-model", device_model_bench},
    Benchmark{"ghost", ghost_bench},
    Benchmark{"collectives", collectives_bench},
    Benchmark{"balance", balance_bench},
    Benchmark{"comm", comm_bench},
    Benchmark{"poisson", poisson_bench},
    Benchmark{"fmm", fmm_bench},
    Benchmark{"transpose", transpose_bench},
    Benchmark{"tridiagonal", tridiagonal_bench},
    Benchmark{"dns", dns_bench},
    Benchmark{"placement", placement_bench},
    Benchmark{"regrid", regrid_bench},
    Benchmark{"particles", particle_bench},
    Benchmark{"cooling", cooling_bench},
    Benchmark{"stars", stars_bench},
    Benchmark{"feedback", feedback_bench},
    Benchmark{"fof", fof_bench},
    Benchmark{"health", health_bench},
};

}  // namespace

int run(const std::string& name, const std::vector<std::string>& options) {
  std::string names;
  for (const Benchmark& benchmark : k_benchmarks) {
    if (name == benchmark.name) return benchmark.run(options);
    names += std::string(names.empty() ? "" : ", ") + benchmark.name;
  }
  throw InputError("there is no benchmark \"{}\"; expected one of {}", name, names);
}

}  // namespace octant::bench
