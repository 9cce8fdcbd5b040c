// Cooling of single cells against the reference values of OCTANT_DATA, and its closed form.
#include <gtest/gtest.h>

#include "mesh/device.hpp"
#include "reference_table.hpp"
#include "subgrid/cooling/original.hpp"
#include "subgrid/cooling/solvers.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::subgrid::cooling {
namespace {

constexpr double k_megayear = 1e6 * constants::k_year;
// Hydrogen's mass in the reference values; what is per mass there goes with its inverse.
constexpr double k_reference_mass = 1.67262e-24;

// Of the tables that reference values name.
std::string table_file(const std::string& name) {
  const std::string file =
      name == "HM2012" ? "CloudyData_UVB=HM2012_with_MMW.h5" : "CloudyData_" + name + ".h5";
  return reference_path("cooling/" + file);
}

// u at a temperature: a power of T between nodes.
template <class Rates>
double energy_at(const Rates& rates, const TableSlice& slice, double T) {
  int k = 0;
  while (k + 2 < rates.count() && slice.temperature(k + 1) <= T) ++k;
  const double low = std::log(slice.temperature(k)), high = std::log(slice.temperature(k + 1));
  const double f = (std::log(T) - low) / (high - low);
  const double a = std::log(rates.energy(k)), b = std::log(rates.energy(k + 1));
  return std::exp(a + f * (b - a));
}

template <class Rates>
double in_steps(const Rates& rates, double u, double t, int steps) {
  for (int n = 0; n < steps; ++n) u = advance_exactly(rates, u, t / steps);
  return u;
}

TEST(GalaxyCooling, exact_follows_the_closed_form_in_one_step_and_in_many) {
  const auto rows = reference_table("galaxy/cooling_exact.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/cooling_exact.csv";
  std::map<std::string, CoolingTable> tables;
  for (const ReferenceRow& row : *rows) {
    // Between redshifts of the table the closed form is linear in z.
    if (row.number("z") != 0.0) continue;
    const std::string name = row.text("table");
    if (!tables.contains(name))
      tables[name] = read_cooling_table(Communicator::world(), table_file(name));
    TableSlice slice =
        slice_at(tables[name], {.cmb_floor = false, .compton = false, .temperature_refinement = 1},
                 row.number("z"));
    const double n_H = row.number("n_H");
    // The closed form has metals without a mass, and hydrogen nuclei of 1 / 0.76 proton masses.
    slice.gas.hydrogen_per_gram = k_hydrogen_fraction / constants::k_proton_mass;
    const CellGas cell{n_H, row.number("Z"), 0.0};
    const DirectRates rates(slice, cell, slice.rows.position(log_of_ten(n_H)));
    const double u_0 = energy_at(rates, slice, row.number("T0"));
    const double t = k_megayear * row.number("t_Myr");
    const double u = advance_exactly(rates, u_0, t);
    const double expected = row.number("u_erg_per_g");
    EXPECT_NEAR(u * constants::k_proton_mass / k_reference_mass / expected, 1.0, 1e-8)
        << name << " at n_H = " << n_H << ", t = " << t;
    EXPECT_NEAR(in_steps(rates, u_0, t, 1000) / u, 1.0, 1e-12)
        << name << " at n_H = " << n_H << ", t = " << t;
    EXPECT_NEAR(in_steps(rates, u_0, t, 7) / u, 1.0, 1e-12)
        << name << " at n_H = " << n_H << ", t = " << t;
  }
}

// Net rates of a whole grid of gas, against those of Grackle with the same table. Its mean
// molecular weight is right to a per cent, and so is Compton's term to two. Neutral gas without a
// background has fewer electrons there, of which recombination leaves some here.
void expect_the_rates_of_grackle(const std::string& grid, const std::string& table_name) {
  const auto rows = reference_table("cooling/" + grid);
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with cooling/" << grid;
  const CoolingTable table = read_cooling_table(Communicator::world(), table_file(table_name));
  std::map<double, TableSlice> slices;
  // The file's density of hydrogen is 0.76 of that of gas without metals.
  constexpr double k_ratio = k_grackle_composition.hydrogen / k_hydrogen_fraction;
  for (const ReferenceRow& row : *rows) {
    const double z = row.number("z"), T = row.number("T_K"), Z = row.number("Z_over_Zsun");
    const double metals = Z * k_grackle_solar;
    const CellGas cell{k_ratio * row.number("nH_cm3"), Z, metals};
    const bool is_dark = table.redshift.size() < 2 || z > table.redshift.back();
    if (is_dark && T < 1.1e4) continue;
    if (!slices.contains(z)) slices.emplace(z, slice_at(table, {.temperature_refinement = 1}, z));
    const TableSlice& slice = slices.at(z);
    int node = 0;
    while (std::abs(std::log(slice.temperature(node) / T)) > 0.01) ++node;
    const TablePosition position = slice.rows.position(log_of_ten(cell.n_H));
    TableSlice dark = slice;
    dark.options.background = false;
    const double net = DirectRates(slice, cell, position).point(node).rate;
    const double cooling = DirectRates(dark, cell, position).point(node).rate;
    double values[k_node_values];
    slice.evaluate(position, cell.n_H, node, values);
    const double compton = std::abs(slice.thermal(node).compton * values[k_free_electrons]);
    const double n_H = row.number("nH_cm3"), per_mass = n_H * k_hydrogen_fraction * (1.0 - metals);
    const double expected =
        row.number("Lambda_net_erg_cm3_s") * per_mass / constants::k_proton_mass;
    EXPECT_NEAR(net, expected, 0.01 * std::max(std::abs(cooling), std::abs(net)) + 0.02 * compton)
        << "z = " << z << ", n_H = " << row.text("nH_cm3") << ", T = " << T << ", Z = " << Z;
  }
}

TEST(GalaxyCooling, rates_without_background_are_those_of_grackle) {
  expect_the_rates_of_grackle("grid_noUVB_tabulated.csv", "noUVB");
}
TEST(GalaxyCooling, rates_in_a_background_are_those_of_grackle) {
  expect_the_rates_of_grackle("grid_HM2012_tabulated.csv", "HM2012");
}

// Cooling as T^beta, in units of the first temperature and its cooling time.
struct PowerLaw {
  double beta;
  KOKKOS_FUNCTION int count() const { return 400; }
  KOKKOS_FUNCTION int guess(double) const { return 240; }
  KOKKOS_FUNCTION double energy(int node) const { return std::pow(10.0, -12.0 + 0.05 * node); }
  KOKKOS_FUNCTION Point point(int node) const {
    return {energy(node), std::pow(energy(node), beta)};
  }
};

TEST(GalaxyCooling, power_laws_have_their_analytical_solutions) {
  const auto rows = reference_table("galaxy/cooling_power_law.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/cooling_power_law.csv";
  for (const ReferenceRow& row : *rows) {
    const double u = advance_exactly(PowerLaw{row.number("beta")}, 1.0, row.number("t"));
    EXPECT_NEAR(u, row.number("T"), 0.02 * row.number("T") + 1e-11) << "t = " << row.text("t");
  }
}

// Heats below u = 2 and cools above.
struct Thermostat {
  KOKKOS_FUNCTION int count() const { return 3; }
  KOKKOS_FUNCTION int guess(double) const { return 1; }
  KOKKOS_FUNCTION double energy(int node) const { return 1.0 + 2.0 * node; }
  KOKKOS_FUNCTION Point point(int node) const { return {energy(node), node - 0.5}; }
};

TEST(GalaxyCooling, gas_approaches_equilibrium_and_never_crosses_it) {
  for (const double u : {1.0, 1.5, 2.5, 3.0})
    EXPECT_NEAR(advance_exactly(Thermostat{}, u, 3.0), 2.0 + (u - 2.0) * std::exp(-1.5), 1e-14);
  EXPECT_EQ(advance_exactly(Thermostat{}, 2.0, 3.0), 2.0);
  // From below the nodes at the first one's rate, which takes a time of 1, and from above.
  EXPECT_NEAR(advance_exactly(Thermostat{}, 0.5, 1.0), 1.0, 1e-15);
  EXPECT_NEAR(advance_exactly(Thermostat{}, 8.0, 2.0), 5.0, 1e-14);
  EXPECT_NEAR(advance_exactly(Thermostat{}, 1e-300, 1e9), 2.0, 1e-14);
}

TEST(GalaxyCooling, ranks_that_share_the_original_rates_find_those_of_one) {
  const Communicator world = Communicator::world();
  const Nodes shared = original_nodes({}, 2.0, world);
  const Nodes alone = original_nodes({}, 2.0, world.split(world.rank()));
  const auto found = on_host(TransferKind::tables, shared.values);
  const auto expected = on_host(TransferKind::tables, alone.values);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) ASSERT_EQ(found(n), expected(n)) << "value " << n;
}

}  // namespace
}  // namespace octant::subgrid::cooling
