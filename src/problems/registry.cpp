#include "problems/factories.hpp"
#include "problems/registry_lookup.hpp"

namespace octant::problems {

namespace {

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
    {"sod", make_riemann},  // Sod's states are the defaults of the Riemann problem
    {"sound_wave", make_sound_wave},
    {"supernovae", make_supernovae},
    {"top_hat", make_top_hat},
    {"two_body", make_two_body},
};

}  // namespace

std::vector<std::string> problem_names() { return names_of<Problem>(k_amr_problems); }

std::unique_ptr<Problem> make_problem(const std::string& name) {
  return make_named<Problem>(k_amr_problems, name);
}

}  // namespace octant::problems
