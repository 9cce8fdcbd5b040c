// Registry of the problems of both models by name.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "problems/flow_problem.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

// Functions that create the problems, each defined in the file of its problem.
std::unique_ptr<Problem> make_binary();
std::unique_ptr<Problem> make_black_holes();
std::unique_ptr<Problem> make_blob();
std::unique_ptr<Problem> make_bondi();
std::unique_ptr<Problem> make_cooling_cell();
std::unique_ptr<Problem> make_cosmology();
std::unique_ptr<Problem> make_disc_galaxy();
std::unique_ptr<Problem> make_evrard();
std::unique_ptr<Problem> make_expression();
std::unique_ptr<Problem> make_file();
std::unique_ptr<Problem> make_gresho();
std::unique_ptr<Problem> make_implosion();
std::unique_ptr<Problem> make_isothermal_ball();
std::unique_ptr<Problem> make_jeans();
std::unique_ptr<Problem> make_kelvin_helmholtz();
std::unique_ptr<Problem> make_maclaurin();
std::unique_ptr<Problem> make_noh();
std::unique_ptr<Problem> make_pancake();
std::unique_ptr<Problem> make_plummer();
std::unique_ptr<Problem> make_radiative_shock();
std::unique_ptr<Problem> make_riemann();
std::unique_ptr<Problem> make_rotating_star();
std::unique_ptr<Problem> make_sedov();
std::unique_ptr<Problem> make_sound_wave();
std::unique_ptr<Problem> make_supernovae();
std::unique_ptr<Problem> make_top_hat();
std::unique_ptr<Problem> make_two_body();

std::unique_ptr<FlowProblem> make_cavity();
std::unique_ptr<FlowProblem> make_channel();
std::unique_ptr<FlowProblem> make_couette();
std::unique_ptr<FlowProblem> make_flow_of_expressions();
std::unique_ptr<FlowProblem> make_isotropic();
std::unique_ptr<FlowProblem> make_rayleigh_benard();
std::unique_ptr<FlowProblem> make_stored_flow();
std::unique_ptr<FlowProblem> make_taylor_green();

namespace {

template <class Kind>
struct Entry {
  const char* name;
  std::unique_ptr<Kind> (*make)();
};

template <class Kind>
std::vector<std::string> names_of(std::span<const Entry<Kind>> entries) {
  std::vector<std::string> names;
  for (const Entry<Kind>& entry : entries) names.emplace_back(entry.name);
  return names;
}

// Throws InputError for unknown names, which lists all names, the most similar first.
template <class Kind>
std::unique_ptr<Kind> make_named(std::span<const Entry<Kind>> entries, const std::string& name) {
  for (const Entry<Kind>& entry : entries)
    if (name == entry.name) return entry.make();

  std::vector<std::string> names = names_of(entries);
  const auto close = std::find(names.begin(), names.end(), close_name(name, names));
  if (close != names.end()) std::rotate(names.begin(), close, close + 1);
  const std::string missing = missing_feature(name);
  throw InputError("problem.name = \"{}\": unknown problem; expected one of {}{}", name,
                   fmt::join(names, ", "), missing.empty() ? "" : "; " + missing);
}

constexpr Entry<Problem> k_amr_problems[] = {
    {"binary", make_binary},
    {"black_holes", make_black_holes},
    {"blob", make_blob},
    {"bondi", make_bondi},
    {"cooling_cell", make_cooling_cell},
    {"cosmology", make_cosmology},
    {"disc_galaxy", make_disc_galaxy},
    {"evrard", make_evrard},
    {"expression", make_expression},
    {"file", make_file},
    {"gresho", make_gresho},
    {"implosion", make_implosion},
    {"isothermal_ball", make_isothermal_ball},
    {"jeans", make_jeans},
    {"kelvin_helmholtz", make_kelvin_helmholtz},
    {"maclaurin", make_maclaurin},
    {"noh", make_noh},
    {"pancake", make_pancake},
    {"plummer", make_plummer},
    {"radiative_shock", make_radiative_shock},
    {"riemann", make_riemann},
    {"rotating_star", make_rotating_star},
    {"sedov", make_sedov},
    {"sod", make_riemann},  // defaults of the Riemann problem
    {"sound_wave", make_sound_wave},
    {"supernovae", make_supernovae},
    {"top_hat", make_top_hat},
    {"two_body", make_two_body},
};

constexpr Entry<FlowProblem> k_flow_problems[] = {
    {"cavity", make_cavity},           {"channel", make_channel},
    {"couette", make_couette},         {"expression", make_flow_of_expressions},
    {"isotropic", make_isotropic},     {"rayleigh_benard", make_rayleigh_benard},
    {"stored_flow", make_stored_flow}, {"taylor_green", make_taylor_green},
};

}  // namespace

std::vector<std::string> problem_names() { return names_of<Problem>(k_amr_problems); }

std::unique_ptr<Problem> make_problem(const std::string& name) {
  return make_named<Problem>(k_amr_problems, name);
}

std::vector<std::string> flow_problem_names() { return names_of<FlowProblem>(k_flow_problems); }

std::unique_ptr<FlowProblem> make_flow_problem(const std::string& name) {
  return make_named<FlowProblem>(k_flow_problems, name);
}

}  // namespace octant::problems
