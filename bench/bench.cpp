#include "bench/bench.hpp"

#include "core/error.hpp"

namespace octant::bench {

int run(const std::string& name, const std::vector<std::string>&) {
  throw InputError("there is no benchmark \"{}\"", name);
}

}  // namespace octant::bench
