#include <algorithm>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Problem> (*make)();
};

constexpr Entry k_problems[] = {
    {"blob", make_blob},
    {"gresho", make_gresho},
    {"implosion", make_implosion},
    {"kelvin_helmholtz", make_kelvin_helmholtz},
    {"noh", make_noh},
    {"riemann", make_riemann},
    {"sedov", make_sedov},
    {"sod", make_riemann},  // Sod's states are the defaults of the Riemann problem
    {"sound_wave", make_sound_wave},
};

}  // namespace

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const Entry& entry : k_problems) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Problem> make_problem(const std::string& name) {
  for (const Entry& entry : k_problems)
    if (name == entry.name) return entry.make();

  std::vector<std::string> names = problem_names();
  const auto nearest = std::find(names.begin(), names.end(), nearest_name(name, names));
  std::rotate(names.begin(), nearest, nearest + 1);
  throw InputError("problem.name = \"{}\": there is no such problem; expected one of {}", name,
                   fmt::join(names, ", "));
}

}  // namespace octant::problems
