#include "bench/bench.hpp"

#include "bench/dns_bench.hpp"
#include "bench/ghost_bench.hpp"
#include "bench/hydro_bench.hpp"
#include "core/error.hpp"

namespace octant::bench {

int run(const std::string& name, const std::vector<std::string>& options) {
  if (name == "hydro") return hydro_bench(options);
  if (name == "ghost") return ghost_bench(options);
  if (name == "dns") return dns_bench(options);
  throw InputError("there is no benchmark \"{}\"; expected hydro, ghost or dns", name);
}

}  // namespace octant::bench
