// Writes snapshots as the HDF5 file of cuRAMSES, data_NNNNN.h5; hdf5_source.cpp describes its
// layout. Rows of a dataset are ordered by domain; each rank writes those of one domain at a time.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/hdf5_file.hpp"
#include "ramses/export.hpp"

namespace octant {

namespace {

using Counts = std::vector<std::int64_t>;  // number of rows, by domain

std::int64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Dataset of a particle column; empty if cuRAMSES has no such column.
std::string dataset_of(const std::string& column) {
  static const std::map<std::string, std::string> names{
      {"position_x", "x_1"}, {"position_y", "x_2"},         {"position_z", "x_3"},
      {"velocity_x", "v_1"}, {"velocity_y", "v_2"},         {"velocity_z", "v_3"},
      {"mass", "mass"},      {"identity", "identity"},      {"levelp", "levelp"},
      {"family", "ptypep"},  {"birth_time", "birth_epoch"}, {"metallicity", "metallicity"}};
  const auto found = names.find(column);
  return found == names.end() ? "" : found->second;
}

// Converts primitive variables, [variable][cell], to conserved ones per volume: density, momentum,
// total energy, density times scalars.
std::vector<std::vector<double>> conserved(std::vector<std::vector<double>> primitive,
                                           double gamma) {
  constexpr std::size_t k_density = 0, k_velocity = 1, k_pressure = 4;
  for (std::size_t cell = 0; cell < primitive[k_density].size(); ++cell) {
    const double density = primitive[k_density][cell];
    double speed2 = 0.0;
    for (std::size_t d = 0; d < 3; ++d) {
      double& velocity = primitive[k_velocity + d][cell];
      speed2 += velocity * velocity;
      velocity *= density;
    }
    double& pressure = primitive[k_pressure][cell];
    pressure = pressure / (gamma - 1.0) + 0.5 * density * speed2;
    for (std::size_t n = k_pressure + 1; n < primitive.size(); ++n) primitive[n][cell] *= density;
  }
  return primitive;
}

class RamsesHdf5Writer {
 public:
  RamsesHdf5Writer(const Communicator& ranks, const OctTree& tree, const RamsesDomains& domains,
                   const RamsesParticleWriter& particles, const RamsesOutput& output)
      : ranks_(ranks),
        tree_(tree),
        domains_(domains),
        particles_(particles),
        output_(output),
        file_(ranks,
              fmt::format("{}/data_{}.h5", output.attributes.folder, output.attributes.number)) {}

  void write() {
    write_header();
    write_domains();
    create_levels();
    if (!output_.attributes.families.empty()) create_particles();
    for (int first = 0; first < output_.attributes.domains; first += ranks_.size()) {
      const DomainOcts octs(ranks_, tree_, first, DomainOcts::Share::own);
      for (std::size_t level = 0; level < octs.levels().size(); ++level)
        if (sum_of(output_.octs[level]) > 0) write_level(octs, level);
      if (!output_.attributes.families.empty()) write_particles(octs);
    }
    write_sinks();
    file_.commit();
  }

 private:
  const RamsesVariables& variables() const { return tree_.variables(); }

  // Writes integer attributes with the shape (1), as cuRAMSES does.
  void put_numbers(const std::string& object,
                   std::initializer_list<std::pair<const char*, std::int64_t>> numbers) {
    for (const auto& [name, number] : numbers) file_.attribute(object, name, std::vector{number});
  }

  // Writes a dataset from the root.
  template <class T>
  void put(const std::string& path, const std::vector<T>& values) {
    const std::span<const T> own(values);
    const RowRange rows{0, ranks_.is_root() ? std::ssize(values) : 0};
    file_.dataset<T>(path, rows, {}, own.first(static_cast<std::size_t>(rows.count)), k_meaning);
  }

  // Writes a dataset of 32-bit integers from the root. Throws RunError on all ranks if a number
  // does not fit.
  void put_narrow(const std::string& path, const Counts& numbers) {
    ranks_.collective_try([&] {
      for (const std::int64_t number : numbers)
        if (!std::in_range<std::int32_t>(number))
          throw RunError("{}: {} = {} does not fit into the 32-bit integers of this format",
                         output_.attributes.folder, path, number);
    });
    put(path, std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  }

  template <class T>
  void create(const std::string& path, std::int64_t rows) {
    rows_.emplace(path, file_.create_dataset<T>(path, rows, {}, k_meaning));
  }

  // Writes the rows of this rank's domain, `width` per item of `counts`. Collective.
  template <class T>
  void put_rows(const std::string& path, const Counts& counts, int domain, std::int64_t width,
                const std::vector<T>& values) {
    RowRange rows{0, 0};
    if (domain >= 0)
      rows = {width * std::accumulate(counts.begin(), counts.begin() + domain, std::int64_t{0}),
              width * counts[static_cast<std::size_t>(domain)]};
    file_.write_rows<T>(rows_.at(path), rows, std::span<const T>(values));
  }

  void write_header() {
    const RamsesFacts& f = output_.attributes;
    std::int64_t octs = 0;
    for (const Counts& level : output_.octs) octs += sum_of(level);
    file_.group("/header");
    const std::int64_t next_output = std::stoi(f.number) + 1;
    put_numbers("/header", {{"ncpu", f.domains},
                            {"ndim", 3},
                            {"nx", 1},
                            {"ny", 1},
                            {"nz", 1},
                            {"nlevelmax", output_.levels},
                            {"levelmin", f.coarsest_level},
                            {"ngridmax", octs + 1},
                            {"nboundary", 0},
                            {"ncoarse", 1},
                            {"ngrid_current", octs},
                            {"nvar", variables().gas},
                            {"nstep", f.coarse_steps},
                            {"nstep_coarse", f.coarse_steps},
                            {"noutput", 1},
                            {"iout", 1},
                            {"ifout", next_output}});
    auto numbers = ramses_run_numbers(output_);
    numbers.insert({{"boxlen", f.box_length}, {"gamma", output_.gamma}, {"time", f.time}});
    constexpr double k_never = std::numeric_limits<double>::max();
    numbers.insert({{"tout", k_never}, {"aout", k_never}});
    for (const auto& [name, number] : numbers)
      file_.attribute("/header", name, std::vector<double>{number});
    // Steps are 0 because velocities are synchronised: no half kick is pending.
    for (const char* name : {"dtold", "dtnew"})
      file_.attribute("/header", name,
                      std::vector<double>(static_cast<std::size_t>(output_.levels), 0.0));
    file_.fixed_text("/header", "ordering", "hilbert");
  }

  void write_domains() {
    file_.group("/domain");
    file_.fixed_text("/domain", "ordering", "hilbert");
    put("/domain/bound_key", output_.bounds);
    put("/coarse/son", std::vector<std::int32_t>{1});
    put("/coarse/cpu_map", std::vector<std::int32_t>{domains_.owner(0, {0, 0, 0}) + 1});
    put("/coarse/flag1", std::vector<std::int32_t>{1});
  }

  static std::string level_path(const char* group, std::size_t level) {
    return fmt::format("/{}/level_{}", group, level + 1);
  }

  std::string gravity_path(std::size_t level, int n) const {
    const std::string group = level_path("gravity", level);
    return n == 0 ? group + "/phi" : fmt::format("{}/f_{}", group, n);
  }

  void create_levels() {
    for (std::size_t level = 0; level < output_.octs.size(); ++level) {
      const Counts& counts = output_.octs[level];
      const std::int64_t octs = sum_of(counts), cells = k_oct_cells * octs;
      if (octs == 0) continue;
      const std::string amr = level_path("amr", level);
      for (int axis = 1; axis <= 3; ++axis)
        create<double>(fmt::format("{}/xg_{}", amr, axis), octs);
      for (const char* name : {"son_flag", "cpu_map"})
        create<std::int32_t>(fmt::format("{}/{}", amr, name), cells);
      put_narrow(amr + "/ngrid_per_cpu", counts);
      put_numbers(amr, {{"ngrid_total", octs}});
      for (int n = 1; n <= variables().gas; ++n)
        create<double>(fmt::format("{}/uold_{}", level_path("hydro", level), n), cells);
      for (int n = 0; n < variables().gravity; ++n) create<double>(gravity_path(level, n), cells);
      finest_ = level + 1;
    }
    put_numbers("/amr", {{"nlevelmax_file", static_cast<std::int64_t>(finest_)}});
  }

  void write_level(const DomainOcts& octs, std::size_t level) {
    const Counts& counts = output_.octs[level];
    const auto put_cells = [&](const std::string& path, const auto& values) {
      put_rows(path, counts, octs.domain(), k_oct_cells, values);
    };
    write_tree(octs, level);
    std::vector<std::vector<double>> gas;
    for (int n = 0; n < variables().gas; ++n) gas.push_back(octs.values(level, n));
    gas = conserved(std::move(gas), output_.gamma);
    for (std::size_t n = 0; n < gas.size(); ++n)
      put_cells(fmt::format("{}/uold_{}", level_path("hydro", level), n + 1), gas[n]);
    for (int n = 0; n < variables().gravity; ++n)
      put_cells(gravity_path(level, n), octs.values(level, variables().gas + n));
  }

  void write_tree(const DomainOcts& octs, std::size_t level) {
    const HeldLevel& held = octs.levels()[level];
    std::array<std::vector<double>, 3> centres;
    std::vector<std::int32_t> sons, owners;
    for (const OctItem& oct : held.octs) {
      const RamsesPlace place = place_of(oct.key);
      for (int d = 0; d < 3; ++d)
        centres[d].push_back(std::ldexp(static_cast<double>(place[d]) + 0.5, 1 - held.number));
      for (int c = 0; c < k_oct_cells; ++c) {
        RamsesPlace cell;
        for (int d = 0; d < 3; ++d) cell[d] = 2 * place[d] + (c >> d & 1);
        sons.push_back(static_cast<std::int32_t>(oct.refined >> c & 1));
        owners.push_back(domains_.owner(held.number, cell) + 1);
      }
    }
    const std::string amr = level_path("amr", level);
    const Counts& counts = output_.octs[level];
    for (int d = 0; d < 3; ++d)
      put_rows(fmt::format("{}/xg_{}", amr, d + 1), counts, octs.domain(), 1, centres[d]);
    put_rows(amr + "/son_flag", counts, octs.domain(), k_oct_cells, sons);
    put_rows(amr + "/cpu_map", counts, octs.domain(), k_oct_cells, owners);
  }

  void create_particles() {
    particle_counts_ = particles_.counts();
    const std::int64_t total = sum_of(particle_counts_);
    std::vector<std::string> left_out;
    for (const std::string& column : output_.attributes.particle_fields) {
      const std::string path = "/particles/" + dataset_of(column);
      if (column == "identity") create<std::int64_t>(path, total);
      else if (column == "levelp" || column == "family") create<std::int32_t>(path, total);
      else if (!dataset_of(column).empty()) create<double>(path, total);
      else if (column != "tag") left_out.push_back(column);
    }
    for (const std::string& path : k_columns_of_stars)
      if (!rows_.contains(path)) {
        create<double>(path, total);
        without_values_.push_back(path);
      }
    if (!left_out.empty())
      log::warn("{}: left out columns of particles that cuRAMSES does not have: {}",
                output_.attributes.folder, fmt::join(left_out, ", "));
    put_narrow("/particles/npart_per_cpu", particle_counts_);
    const auto stars = output_.attributes.families.find("star");
    put_numbers("/particles",
                {{"npart_total", total},
                 {"nstar_tot", stars == output_.attributes.families.end() ? 0 : stars->second}});
    file_.attribute("/particles", "mstar_tot", std::vector{output_.star_mass});
    file_.attribute("/particles", "mstar_lost", std::vector{0.0});
  }

  void write_particles(const DomainOcts& octs) {
    particles_.for_columns(octs, [&](const std::string& column, const RamsesColumn& values) {
      const std::string path = "/particles/" + dataset_of(column);
      if (!rows_.contains(path)) return;
      const auto put_as = [&]<class T>(T) {
        std::vector<T> of_type;
        std::visit([&](const auto& all) { of_type.assign(all.begin(), all.end()); }, values);
        // Families count from 1, types of cuRAMSES from 0: dark matter and stars.
        if (column == "family")
          for (T& type : of_type) type -= 1;
        put_rows(path, particle_counts_, octs.domain(), 1, of_type);
      };
      if (column == "identity") put_as(std::int64_t{});
      else if (column == "levelp" || column == "family") put_as(std::int32_t{});
      else put_as(double{});
    });
    const int domain = octs.domain();
    const std::int64_t count = domain < 0 ? 0 : particle_counts_[static_cast<std::size_t>(domain)];
    for (const std::string& path : without_values_)
      put_rows(path, particle_counts_, domain, 1,
               std::vector<double>(static_cast<std::size_t>(count), 0.0));
  }

  // cuRAMSES reads the group in all runs with sinks, also if there are none yet.
  void write_sinks() {
    file_.group("/sinks");
    const RamsesParticles sinks = particles_.has_sinks() ? particles_.sinks() : RamsesParticles{};
    std::int64_t largest = 0;
    for (const std::int64_t identity : sinks.identity) largest = std::max(largest, identity);
    put_numbers("/sinks", {{"nsink", output_.sinks},
                           {"nindsink", ranks_.max(largest)},
                           {"levelmin", output_.attributes.coarsest_level},
                           {"nlevelmax", output_.levels}});
    if (output_.sinks > 0) write_sink_columns(sinks);
  }

  void write_sink_columns(const RamsesParticles& sinks) {
    put_narrow("/sinks/idsink", sinks.identity);
    put("/sinks/msink", sinks.mass);
    const auto put_vectors = [&](const char* name, const auto& vectors) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        std::vector<double> component;
        for (const auto& vector : vectors) component.push_back(vector[axis]);
        put(fmt::format("/sinks/{}_{}", name, axis + 1), component);
      }
    };
    put_vectors("xsink", sinks.position);
    put_vectors("vsink", sinks.velocity);
    put("/sinks/tsink", sinks.columns.at("birth_time"));
    // Accretion, angular momentum and spins, which start from 0 as those of new sinks.
    const auto put_constant = [&](const std::string& name, double value) {
      put("/sinks/" + name, std::vector<double>(sinks.mass.size(), value));
    };
    for (const char* name : {"dMsmbh", "dMBH_coarse", "dMEd_coarse", "Esave", "spinmag"})
      put_constant(name, 0.0);
    for (const char* name : {"jsink", "bhspin"})
      for (int axis = 1; axis <= 3; ++axis) put_constant(fmt::format("{}_{}", name, axis), 0.0);
    put_constant("eps_sink", k_efficiency);
    for (int sum = 1; sum <= k_sums_around_sinks; ++sum)
      for (int level = output_.attributes.coarsest_level; level <= output_.levels; ++level)
        put_constant(fmt::format("sink_stat_{}_{}", sum, level), 0.0);
  }

  // Columns that cuRAMSES reads in all runs with star formation or sinks, and with metals.
  inline static const std::array<std::string, 2> k_columns_of_stars{"/particles/birth_epoch",
                                                                    "/particles/metallicity"};
  static constexpr double k_efficiency = 0.057190958;  // radiative; black hole without spin
  static constexpr int k_sums_around_sinks = 7;

  inline static const DatasetMeaning k_meaning{"RAMSES units",
                                               "see docs/ramses.md of Octant for the layout"};

  const Communicator& ranks_;
  const OctTree& tree_;
  const RamsesDomains& domains_;
  const RamsesParticleWriter& particles_;
  const RamsesOutput& output_;
  Hdf5Writer file_;
  std::map<std::string, Hdf5Rows> rows_;
  Counts particle_counts_;
  std::vector<std::string> without_values_;  // columns of particles that are 0
  std::size_t finest_ = 1;                   // finest level with octs, from 1
};

}  // namespace

void write_ramses_hdf5(const Communicator& ranks, const OctTree& tree, const RamsesDomains& domains,
                       const RamsesParticleWriter& particles, const RamsesOutput& output) {
  RamsesHdf5Writer(ranks, tree, domains, particles, output).write();
}

}  // namespace octant
