// Writes snapshots as outputs of RAMSES: blocks are split into octs, and a space-filling curve
// divides these into domains, each written by one rank. That rank stores positions and links of the
// octs in the domain's files, values of one variable on one level at a time, and the order and one
// column of its particles. The format itself requires, for each domain, lists with an entry per
// domain and level, and copies of the octs around its own.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <ranges>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "io/files.hpp"
#include "output/format.hpp"
#include "ramses/export.hpp"

namespace octant {

namespace {

// Binary files of every domain in the form of RAMSES or of cuRAMSES, or the HDF5 file of cuRAMSES.
enum class RamsesLayout { binary, curamses, hdf5 };
constexpr auto names_of(RamsesLayout) { return std::array{"binary", "curamses", "hdf5"}; }

class RamsesFolderWriter {
 public:
  RamsesFolderWriter(const MeshContents& contents, const std::string& folder,
                     const std::string& number, int domains, RamsesLayout layout)
      : layout_(layout),
        contents_(contents),
        ranks_(contents.communicator),
        base_(ramses_base(contents.geometry)),
        domains_(contents, base_, domains),
        output_(described(folder, number)),
        tree_(contents, domains_, output_.levels, output_.gamma),
        particles_(contents, domains_, output_) {
    const RamsesVariables& variables = tree_.variables();
    for (int n = 0; n < variables.gas; ++n)
      output_.attributes.variables.push_back(variables.all[n]->info.name);
    output_.octs = tree_.counts();
    measure();
  }

  void write() {
    if (layout_ == RamsesLayout::hdf5)
      write_ramses_hdf5(ranks_, tree_, domains_, particles_, output_);
    else
      for (int first = 0; first < domains_.count(); first += ranks_.size()) write_round(first);
    const std::int64_t most = ranks_.max(max_octs_);
    const RamsesParticles sinks = particles_.has_sinks() ? particles_.sinks() : RamsesParticles{};
    ranks_.collective_try([&] {
      if (layout_ == RamsesLayout::curamses && particles_.has_sinks())
        throw InputError(
            "ramses.layout = \"curamses\" does not support black holes, whose clouds of particles "
            "it would have to contain; set ramses.layout = \"hdf5\"");
      if (!ranks_.is_root()) return;
      write_ramses_texts(output_, most);
      if (particles_.has_sinks()) write_ramses_sinks(output_, sinks);
    });
  }

 private:
  RamsesOutput described(const std::string& folder, const std::string& number) const {
    RamsesOutput output;
    const mesh::Geometry& geometry = contents_.geometry;
    const Attributes& attributes = contents_.attributes;
    const CodeUnits& units = contents_.origin.units;
    for (const char* constant :
         {"degeneracy_pressure", "stiffening_pressure", "radiation_constant", "eos_table"})
      if (attributes.has(constant))
        throw InputError(
            "hydro.equation_of_state = \"white_dwarf\", \"stiffened\", \"gas_radiation\" and "
            "\"table\" are not supported with RAMSES files, whose pressure is that of an "
            "ideal gas");
    RamsesFacts& f = output.attributes;
    output.is_curamses = layout_ == RamsesLayout::curamses;
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
    if (attributes.has("omega_m")) {
      f.scale_factor = attributes.number("scale_factor");
      f.hubble = 100.0 * attributes.number("h");
      f.omega_m = attributes.number("omega_m");
      f.omega_lambda = attributes.number("omega_lambda");
      // RAMSES requires that the sum of all three is exactly 1.
      f.omega_curvature = 1.0 - (f.omega_m + f.omega_lambda);
      f.omega_b = attributes.number("omega_b");
      output.box_megaparsecs_per_h = attributes.number("box_megaparsecs_per_h");
    }
    if (attributes.has("refine_mass_unit"))
      output.mass_unit = attributes.number("refine_mass_unit");
    output.levels = base_ + geometry.max_level();
    output.gamma = attributes.number("gamma");
    output.bounds = domains_.bounds(output.levels + 1);
    for (int d = 0; d < 3; ++d) {
      if (geometry.periodic(d)) continue;
      output.coarse_cells[d] = 3;
      output.cells_below[d] = 1;
    }
    return output;
  }

  void measure() {
    std::array<ReproducibleSum, 3> masses;  // masses of the gas, of all particles, and of stars
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
    output_.star_mass = masses[2].to_double();
  }

  // --- the files of some domains, one on each rank ----------------------------------------------

  // Writes the domains from `first` on, one per rank.
  void write_round(int first) {
    DomainOcts octs(ranks_, tree_, first, DomainOcts::Share::with_copies);
    RamsesLists lists;
    std::int64_t next = 1;
    for (HeldLevel& level : octs.levels()) {
      add_images(output_, level);
      level.first_oct = next;
      next += level.size();
      const int lists_of_level = domains_.count() + output_.boundary_regions();
      auto& counts = lists.emplace_back(static_cast<std::size_t>(lists_of_level), 0);
      for (const OctItem& oct : level.octs) ++counts[static_cast<std::size_t>(oct.owner)];
      for (const OctImage& image : level.images) {
        const int list = domains_.count() + image.region;
        ++counts[static_cast<std::size_t>(list)];
      }
    }
    const std::int64_t most = RamsesTreeFile::most_octs(next - 1);
    max_octs_ = std::max(max_octs_, most);
    ranks_.collective_try([&] {
      if (octs.domain() >= 0) write_tree(octs.domain() + 1, octs.levels(), lists, most);
    });
    const RamsesVariables& variables = tree_.variables();
    write_cells(RamsesCellFile::Kind::gas, 0, variables.gas, octs, lists);
    if (variables.gravity > 0)
      write_cells(RamsesCellFile::Kind::gravity, variables.gas, variables.gravity, octs, lists);
    if (particles_.has_any()) write_particles(octs);
  }

  void write_particles(const DomainOcts& octs) const {
    const auto stars = output_.attributes.families.find("star");
    const std::int64_t all_stars = stars == output_.attributes.families.end() ? 0 : stars->second;
    std::optional<FortranWriter> file;
    const auto put = [&](const auto& values) {
      if (!file)
        file.emplace(
            ramses_particle_file(output_, octs.domain() + 1, std::ssize(values), all_stars));
      file->record(values);
    };
    particles_.for_columns(octs, [&](const std::string&, const RamsesColumn& column) {
      ranks_.collective_try([&] {
        if (octs.domain() >= 0) std::visit(put, column);
      });
    });
    ranks_.collective_try([&] {
      if (file) file->finish();
    });
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

  void write_cells(RamsesCellFile::Kind kind, int first_variable, int count, const DomainOcts& octs,
                   const RamsesLists& lists) const {
    std::optional<RamsesCellFile> file;
    ranks_.collective_try([&] {
      if (octs.domain() >= 0) file.emplace(output_, kind, octs.domain() + 1, lists, count);
    });
    for (std::size_t level = 0; level < octs.levels().size(); ++level)
      for (int n = 0; n < count; ++n) {
        auto values = octs.values(level, first_variable + n);
        mirror_values(octs.levels()[level], first_variable + n, values);
        ranks_.collective_try([&] {
          if (file) file->write(static_cast<int>(level) + 1, n, values);
        });
      }
    ranks_.collective_try([&] {
      if (file) file->finish();
    });
  }

  // Appends the values beyond walls: mirror images of those inside, where reflecting walls flip the
  // sign of normal components. RAMSES computes them again in a restart, by its boundary types.
  void mirror_values(const HeldLevel& level, int variable, std::vector<double>& values) const {
    const int axis = tree_.variables().vector_axis(variable);
    for (const OctImage& image : level.images) {
      const bool turns = axis >= 0 && (image.mirrored >> axis & 1) != 0 &&
                         contents_.geometry.boundary(axis, image.place[axis] < 0 ? 0 : 1) ==
                             mesh::Boundary::reflecting;
      for (unsigned c = 0; c < k_oct_cells; ++c) {
        const double value = values[image.of * k_oct_cells + (c ^ image.mirrored)];
        values.push_back(turns ? -value : value);
      }
    }
  }

  RamsesLayout layout_;
  const MeshContents& contents_;
  const Communicator& ranks_;
  int base_;
  RamsesDomains domains_;
  RamsesOutput output_;
  OctTree tree_;
  RamsesParticleWriter particles_;
  std::int64_t max_octs_ = 0;
};

// Number of a snapshot: "00012" for "snap_00012".
std::string number_of_snapshot(const std::string& stem) {
  const std::string name = std::filesystem::path(stem).filename().string();
  return fmt::format("{:05d}", std::stol(name.substr(name.find_last_of('_') + 1)));
}

// Converts the unit of time so that Newton's constant is 1, as in all RAMSES files.
std::optional<MeshContents> with_unit_gravity(const MeshContents& contents) {
  if (!contents.attributes.has(k_gravity_constant)) return std::nullopt;
  const double G = contents.attributes.number(k_gravity_constant);
  if (G == 1.0) return std::nullopt;
  MeshContents scaled = in_unit_of_time(contents, 1.0 / std::sqrt(G));
  log::info(
      "RAMSES output: gravity.constant converted from {:.9g} to 1; the unit of time is {:.9g} s "
      "instead of {:.9g} s",
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
        {.meaning = "Number of domains in RAMSES outputs, each with its own files; 0: one per rank",
         .min = 0});
    schema.add("ramses.layout", layout_,
               {.meaning = "Layout of RAMSES outputs: binary files of RAMSES or cuRAMSES, or the "
                           "HDF5 file of cuRAMSES; hdf5 requires periodic boundaries, curamses "
                           "does not support black holes"});
  }

  void check(const mesh::Geometry& geometry,
             const std::vector<std::string>& fields) const override {
    for (int axis = 0; axis < 3; ++axis)
      if (layout_ == RamsesLayout::hdf5 && !geometry.periodic(axis))
        throw InputError("ramses.layout = \"hdf5\" requires periodic boundaries along all axes");
    const auto blocks = geometry.extent(0);
    const auto cells = static_cast<unsigned>(blocks[0] * geometry.block_size());
    if (blocks[1] != blocks[0] || blocks[2] != blocks[0] || !std::has_single_bit(cells))
      throw InputError(
          "output.formats = \"ramses\" requires mesh.base_cells to be the same power of two along "
          "all axes");
    const int finest = ramses_base(geometry) + geometry.max_level();
    if (finest > k_finest_ramses_level)
      throw InputError(
          "output.formats = \"ramses\" supports cells down to 1/2^{} of the box length; with "
          "mesh.max_level = {}, the finest cells are 1/2^{} of the box length",
          k_finest_ramses_level, geometry.max_level(), finest);
    for (const char* name : k_ramses_gas)
      if (std::ranges::find(fields, name) == fields.end())
        throw InputError(
            "output.formats = \"ramses\" requires the gas fields; add {} to output.fields", name);
  }

  std::string write(const MeshContents& contents, const std::string& stem) const override {
    const std::string number = number_of_snapshot(stem);
    const auto directory = std::filesystem::path(stem).parent_path();
    const bool whole = contents.origin.kind == "snapshot";
    WholeFolder folder(
        contents.communicator,
        (whole ? directory : directory / contents.origin.kind) / ("output_" + number));
    const int domains = domains_ > 0 ? domains_ : contents.communicator.size();
    const auto scaled = with_unit_gravity(contents);
    RamsesFolderWriter(scaled ? *scaled : contents, folder.part_path(), number, domains, layout_)
        .write();
    folder.commit();
    return folder.path();
  }

 private:
  int domains_ = 0;
  RamsesLayout layout_ = RamsesLayout::binary;
};

template <>
std::unique_ptr<MeshFormat> make_mesh_format<RamsesMesh>() {
  return std::make_unique<RamsesMesh>();
}

}  // namespace octant
