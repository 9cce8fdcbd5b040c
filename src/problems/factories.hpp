// What makes each problem (private to problems/): one function per file, listed in registry.cpp.
#pragma once

#include "problems/problem.hpp"

namespace octant::problems {

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

}  // namespace octant::problems
