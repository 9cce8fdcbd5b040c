// Snapshots as output folders of RAMSES: blocks are split into octs, and a space-filling curve cuts
// these into domains, each of which one rank writes. What a rank holds for that: of the octs that
// the domain's files list, their places and links; of their values, one variable of one level at a
// time; of its particles, their order and one column. The format itself asks each domain for lists
// with an entry per domain and level, and for copies of the octs around its own.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <ranges>

#include "comm/reproducible_sum.hpp"
#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "driver/contents.hpp"
#include "driver/format.hpp"
#include "driver/ramses_domains.hpp"
#include "driver/ramses_links.hpp"
#include "driver/ramses_octs.hpp"
#include "driver/ramses_particles.hpp"
#include "io/ramses_writer.hpp"
#include "io/whole_file.hpp"

namespace octant::driver {

namespace {

// Which octs of a level this rank sends, and to whom; and where those that come to it, in their
// order, have their place among what its files list.
struct OctRoute {
  std::vector<std::int64_t> octs;
  std::vector<int> ranks;
  std::vector<std::int64_t> places;
};

class RamsesFolderWriter {
 public:
  RamsesFolderWriter(const MeshContents& contents, const std::string& folder,
                     const std::string& number, int domains)
      : contents_(contents),
        ranks_(contents.communicator),
        base_(ramses_base(contents.geometry)),
        domains_(contents, base_, domains),
        output_(described(folder, number)),
        tree_(contents, domains_, output_.levels, output_.gamma),
        particles_(contents, domains_, output_) {
    const RamsesVariables& variables = tree_.variables();
    for (int n = 0; n < variables.gas; ++n)
      output_.facts.variables.push_back(variables.all[n]->name);
    output_.octs = tree_.counts();
    measure();
  }

  void write() {
    for (int first = 0; first < domains_.count(); first += ranks_.size()) write_round(first);
    const std::int64_t most = ranks_.max(most_octs_);
    const RamsesParticles sinks = particles_.has_sinks() ? particles_.sinks() : RamsesParticles{};
    ranks_.agree([&] {
      if (!ranks_.is_root()) return;
      write_ramses_texts(output_, most);
      if (particles_.has_sinks()) write_ramses_sinks(output_, sinks);
    });
  }

 private:
  RamsesOutput described(const std::string& folder, const std::string& number) const {
    RamsesOutput output;
    const mesh::Geometry& geometry = contents_.geometry;
    const Facts& facts = contents_.facts;
    const CodeUnits& units = contents_.origin.units;
    RamsesFacts& f = output.facts;
    f.folder = folder;
    f.number = number;
    f.domains = domains_.count();
    f.coarsest_level = base_;
    f.coarse_steps = contents_.origin.step;
    f.box_length = geometry.upper()[0] - geometry.lower()[0];
    f.time = contents_.origin.time;
    f.unit_length = units.length;
    f.unit_density = units.mass / std::pow(units.length, 3);
    f.unit_time = units.time;
    if (facts.has("omega_m")) {
      f.scale_factor = facts.number("scale_factor");
      f.hubble = 100.0 * facts.number("h");
      f.omega_m = facts.number("omega_m");
      f.omega_lambda = facts.number("omega_lambda");
      f.omega_curvature = 1.0 - f.omega_m - f.omega_lambda;
      f.omega_b = facts.number("omega_b");
      output.box_megaparsecs_per_h = facts.number("box_megaparsecs_per_h");
    }
    output.levels = base_ + geometry.max_level();
    output.gamma = facts.number("gamma");
    output.bounds = domains_.bounds(output.levels + 1);
    for (int d = 0; d < 3; ++d) {
      if (geometry.periodic(d)) continue;
      output.coarse_cells[d] = 3;
      output.cells_below[d] = 1;
    }
    return output;
  }

  void measure() {
    std::array<ReproducibleSum, 3> masses;  // of the gas, of particles, of the stars among them
    const double volume = contents_.geometry.cell_volume(0);
    for (const int slot : contents_.levels.front().slots)
      for (const double density : tree_.variables().density().values(0, {&slot, 1}))
        masses[0] += density * volume;
    particles_.for_masses([&](double mass, bool is_star) {
      masses[1] += mass;
      if (is_star) masses[2] += mass;
    });
    reproducible_sum(ranks_, std::span(masses));
    output_.gas_mass = masses[0].to_double();
    output_.mass = output_.gas_mass + masses[1].to_double();
    mass_of_stars_ = masses[2].to_double();
  }

  // --- the files of some domains, one on each rank ----------------------------------------------

  // Writes domains from `first` on.
  void write_round(int first) {
    const int last = std::min(first + ranks_.size(), domains_.count());
    const bool writes = first + ranks_.rank() < last;
    const int domain = writes ? first + ranks_.rank() : -1;
    std::vector<OctRoute> routes;
    std::vector<HeldLevel> held;
    RamsesLists lists;
    std::int32_t next = 1;
    for (const OctLevel& octs : tree_.levels()) {
      OctRoute& way = routes.emplace_back(route_of(octs, first, last));
      HeldLevel& level = held.emplace_back();
      level.number = static_cast<int>(held.size());
      level.octs = exchange_octs(octs, way);
      add_images(output_, level);
      level.first_oct = next;
      next += static_cast<std::int32_t>(level.size());
      auto& counts = lists.emplace_back(
          static_cast<std::size_t>(domains_.count() + output_.boundary_regions()), 0);
      for (const OctItem& oct : level.octs) ++counts[static_cast<std::size_t>(oct.owner)];
      for (const OctImage& image : level.images)
        ++counts[static_cast<std::size_t>(domains_.count() + image.region)];
    }
    const std::int64_t most = RamsesTreeFile::most_octs(next - 1);
    most_octs_ = std::max(most_octs_, most);
    ranks_.agree([&] {
      if (writes) write_tree(domain + 1, held, lists, most);
    });
    write_cells(RamsesCellFile::Kind::gas, domain + 1, 0, tree_.variables().gas, routes, held,
                lists);
    if (tree_.variables().gravity > 0)
      write_cells(RamsesCellFile::Kind::gravity, domain + 1, tree_.variables().gas,
                  tree_.variables().gravity, routes, held, lists);
    if (particles_.has_any())
      particles_.write(first, last, domain, mass_of_stars_,
                       [&](const RamsesPlace& cell) { return level_at(cell, domain, held); });
  }

  static OctRoute route_of(const OctLevel& octs, int first, int last) {
    OctRoute route;
    for (std::size_t n = 0; n < octs.keys.size(); ++n)
      for (std::int64_t h = octs.first_holder[n]; h < octs.first_holder[n + 1]; ++h)
        if (const int domain = octs.holders[h]; domain >= first && domain < last) {
          route.octs.push_back(static_cast<std::int64_t>(n));
          route.ranks.push_back(domain - first);
        }
    return route;
  }

  // Those that come to this rank, by owner, then by key.
  std::vector<OctItem> exchange_octs(const OctLevel& octs, OctRoute& way) const {
    std::vector<OctItem> items;
    for (const std::int64_t n : way.octs)
      items.push_back({octs.keys[n], octs.owners[n], octs.refined[n]});
    const auto arrived = route(ranks_, way.ranks, std::span<const OctItem>(items)).items;
    std::vector<std::int64_t> order(arrived.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::sort(order, {},
                      [&](std::int64_t n) { return std::pair(arrived[n].owner, arrived[n].key); });
    std::vector<OctItem> held;
    way.places.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
      held.push_back(arrived[order[place]]);
      way.places[order[place]] = static_cast<std::int64_t>(place);
    }
    return held;
  }

  void write_tree(int domain, const std::vector<HeldLevel>& held, const RamsesLists& lists,
                  std::int64_t most) const {
    RamsesTreeFile file(output_, domain, lists, sons_of_coarse_cells(output_, held[0]),
                        domains_.owner(0, {0, 0, 0}) + 1);
    OctNumbers coarser, own(held[0]), finer;
    for (const HeldLevel& level : held) {
      finer = level.number < output_.levels ? OctNumbers(held[level.number]) : OctNumbers();
      file.write_level(level.number, linked(output_, domains_, level, coarser, finer, most));
      coarser = std::move(own);
      own = std::move(finer);
    }
    file.finish();
  }

  void write_cells(RamsesCellFile::Kind kind, int domain, int first_variable, int count,
                   const std::vector<OctRoute>& routes, const std::vector<HeldLevel>& held,
                   const RamsesLists& lists) const {
    std::optional<RamsesCellFile> file;
    ranks_.agree([&] {
      if (domain > 0) file.emplace(output_, kind, domain, lists, count);
    });
    for (std::size_t level = 0; level < held.size(); ++level)
      for (int n = 0; n < count; ++n) {
        auto values = exchange_values(tree_.levels()[level], first_variable + n, routes[level]);
        mirror_values(held[level], first_variable + n, values);
        ranks_.agree([&] {
          if (file) file->write(static_cast<int>(level) + 1, n, values);
        });
      }
    ranks_.agree([&] {
      if (file) file->finish();
    });
  }

  std::vector<double> exchange_values(const OctLevel& octs, int variable,
                                      const OctRoute& way) const {
    std::vector<OctValues> arrived;
    {
      const auto own = tree_.values(octs, variable);
      std::vector<OctValues> items;
      items.reserve(way.octs.size());
      for (const std::int64_t n : way.octs) items.push_back(own[n]);
      arrived = route(ranks_, way.ranks, std::span<const OctValues>(items)).items;
    }
    std::vector<double> values(arrived.size() * k_octants);
    for (std::size_t n = 0; n < arrived.size(); ++n)
      std::ranges::copy(arrived[n], values.begin() + way.places[n] * k_octants);
    return values;
  }

  // Values beyond walls are those before them, mirrored; along a wall's normal reflecting ones turn
  // them round. RAMSES makes them anew when it goes on, by the kind that its boundaries have.
  void mirror_values(const HeldLevel& level, int variable, std::vector<double>& values) const {
    const int axis = tree_.variables().vector_axis(variable);
    for (const OctImage& image : level.images) {
      const bool turns = axis >= 0 && (image.mirrored >> axis & 1) != 0 &&
                         contents_.geometry.boundary(axis, image.place[axis] < 0 ? 0 : 1) ==
                             mesh::Boundary::reflecting;
      for (unsigned c = 0; c < k_octants; ++c) {
        const double value = values[image.of * k_octants + (c ^ image.mirrored)];
        values.push_back(turns ? -value : value);
      }
    }
  }

  // The finest level of the domain's own octs in a cell.
  int level_at(const RamsesPlace& cell, int domain, const std::vector<HeldLevel>& held) const {
    Key key = key_of(cell) >> 3 * (k_finest_ramses_level + 1 - output_.levels);
    int level = output_.levels;
    const auto is_there = [&] {
      const auto& octs = held[level - 1].octs;
      const auto where = std::pair(std::int32_t{domain}, key);
      const auto as_pair = [](const OctItem& oct) { return std::pair(oct.owner, oct.key); };
      const auto at = std::ranges::lower_bound(octs, where, {}, as_pair);
      return at != octs.end() && as_pair(*at) == where;
    };
    for (; level > base_ && !is_there(); --level) key = parent_key(key);
    return level;
  }

  const MeshContents& contents_;
  const Communicator& ranks_;
  int base_;
  RamsesDomains domains_;
  RamsesOutput output_;
  OctTree tree_;
  RamsesParticleWriter particles_;
  double mass_of_stars_ = 0.0;
  std::int64_t most_octs_ = 0;
};

// "00012" for "snap_00012".
std::string number_of(const std::string& stem) {
  const std::string name = std::filesystem::path(stem).filename().string();
  return fmt::format("{:05d}", std::stol(name.substr(name.find_last_of('_') + 1)));
}

// RAMSES has no Newton's constant: it is 1 in the units of its files. Their time is chosen so.
std::optional<MeshContents> with_unit_gravity(const MeshContents& contents) {
  if (!contents.facts.has(k_gravity_constant)) return std::nullopt;
  const double G = contents.facts.number(k_gravity_constant);
  if (G == 1.0) return std::nullopt;
  MeshContents scaled = in_unit_of_time(contents, 1.0 / std::sqrt(G));
  log::info(
      "RAMSES output: converted from gravity.constant = {:.9g} to 1; unit of time {:.9g} s instead "
      "of {:.9g} s",
      G, scaled.origin.units.time, contents.origin.units.time);
  return scaled;
}

}  // namespace

class RamsesMesh final : public MeshFormat {
 public:
  std::string name() const override { return "ramses"; }

  void declare(ParameterSchema& schema) override {
    schema.add(
        "ramses.domains", domains_,
        {.meaning =
             "Number of domains of a RAMSES output, each with separate files; 0: one per rank",
         .min = 0});
  }

  void check(const mesh::Geometry& geometry,
             const std::vector<std::string>& fields) const override {
    const auto blocks = geometry.extent(0);
    const auto cells = static_cast<unsigned>(blocks[0] * geometry.block_size());
    if (blocks[1] != blocks[0] || blocks[2] != blocks[0] || !std::has_single_bit(cells))
      throw InputError(
          "output.formats = \"ramses\" requires mesh.base_cells to be the same power of two along "
          "all axes");
    const int finest = ramses_base(geometry) + geometry.max_level();
    if (finest > k_finest_ramses_level)
      throw InputError(
          "output.formats = \"ramses\" supports cells down to 1/2^{} of the box; mesh.max_level = "
          "{} has 1/2^{}",
          k_finest_ramses_level, geometry.max_level(), finest);
    for (const char* name : k_ramses_gas)
      if (std::ranges::find(fields, name) == fields.end())
        throw InputError("output.formats = \"ramses\" requires gas with {} in output.fields", name);
  }

  std::string write(const MeshContents& contents, const std::string& stem) const override {
    const std::string number = number_of(stem);
    const auto directory = std::filesystem::path(stem).parent_path();
    const bool whole = contents.origin.kind == "snapshot";
    WholeFolder folder(
        contents.communicator,
        (whole ? directory : directory / contents.origin.kind) / ("output_" + number));
    const int domains = domains_ > 0 ? domains_ : contents.communicator.size();
    const auto scaled = with_unit_gravity(contents);
    RamsesFolderWriter(scaled ? *scaled : contents, folder.part_path(), number, domains).write();
    folder.commit();
    return folder.path();
  }

 private:
  int domains_ = 0;
};

template <>
std::unique_ptr<MeshFormat> make_mesh_format<RamsesMesh>() {
  return std::make_unique<RamsesMesh>();
}

}  // namespace octant::driver
