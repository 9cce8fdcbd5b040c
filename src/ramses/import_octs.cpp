// Distribution of the octs of a RAMSES output to the ranks that own their blocks, level by level
// and in batches, with routing through the rank tree; and storage of their gas.
#include "ramses/import.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "hydro/diagnostics.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/gas_cell.hpp"
#include "mesh/launch.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// Bytes that a rank reads and sends per batch: enough that ranks rarely wait, and little compared
// with the state.
constexpr std::int64_t k_max_batch_bytes = 4'000'000;

}  // namespace

// Header of an oct in a message; the values of all variables in its eight cells follow.
struct OctDelivery::Head {
  Key block;
  std::uint32_t refined;
  std::int32_t first_cell;
};

OctDelivery::OctDelivery(const mesh::Mesh& mesh, const RamsesFacts& attributes,
                         RamsesSource& source, RamsesLevels levels, int variables)
    : mesh_(mesh),
      facts_(attributes),
      source_(source),
      levels_(levels),
      variables_(static_cast<std::size_t>(variables)),
      router_(mesh.communicator()) {}

std::size_t OctDelivery::item_bytes() const {
  return sizeof(Head) + k_oct_cells * variables_ * sizeof(double);
}

// Batch size; odd, since otherwise columns of variables would map to the same sets of a cache.
std::int64_t OctDelivery::batch_size() const {
  return k_max_batch_bytes / static_cast<std::int64_t>(item_bytes()) | 1;
}

std::int64_t OctDelivery::deliver_level(int level, const Store& store) {
  source_.next_level();
  const std::int64_t batch = batch_size();
  std::int64_t all = 0;
  std::vector<Head> heads;
  for (int round = 0; round < source_.rounds(); ++round) {
    const std::int64_t count = source_.count(round), most = mesh_.communicator().max(count);
    all += count;
    for (std::int64_t first = 0; first < most; first += batch) {
      const std::int64_t begin = std::min(first, count);
      source_.read(round, {begin, std::min(batch, count - begin)}, octs_);
      const auto some = static_cast<std::size_t>(octs_.size());
      heads.clear();
      for (std::size_t oct = 0; oct < some; ++oct) heads.push_back(head_of(oct));
      const auto copy_values = [&](std::size_t oct, double* to) {
        for (std::size_t n = 0; n < variables_ * k_oct_cells; ++n)
          to[n] = octs_.values[n * some + oct];
      };
      send(levels_.of_mesh(level), heads, copy_values, store);
    }
  }
  return all;
}

void OctDelivery::deliver(int level, std::span<const FurtherOct> octs, const Store& store) {
  const std::int64_t batch = batch_size(), count = std::ssize(octs);
  const std::int64_t most = mesh_.communicator().max(count);
  std::vector<Head> heads;
  for (std::int64_t first = 0; first < most; first += batch) {
    const std::int64_t begin = std::min(first, count);
    const auto some = octs.subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(std::min(batch, count - begin)));
    heads.clear();
    for (const FurtherOct& oct : some) heads.push_back({oct.block, 0, oct.first_cell});
    const auto copy_values = [&](std::size_t oct, double* to) {
      std::ranges::copy(some[oct].values, to);
    };
    send(level, heads, copy_values, store);
  }
}

// Header of an oct that was read.
OctDelivery::Head OctDelivery::head_of(std::size_t oct) const {
  const int N = mesh_.geometry().block_size();
  BlockCoordinates block;
  std::array<int, 3> cell;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t first = 2 * octs_.places[oct][axis];
    block[axis] = static_cast<BlockCoordinate>(first / N);
    cell[axis] = static_cast<int>(first % N);
  }
  return {morton_encode(block), octs_.refined[oct], (cell[2] * N + cell[1]) * N + cell[0]};
}

void OctDelivery::send(int level, std::span<const Head> heads, const CopyValues& copy_values,
                       const Store& store) {
  std::vector<int> owners = owners_of(level, heads);
  // Octs are sorted by owner here, so that routing need not copy them.
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t oct) { return owners[oct]; });
  leaving_.resize(heads.size() * item_bytes());
  std::byte* to = leaving_.data();
  for (const std::size_t oct : order) {
    std::memcpy(to, &heads[oct], sizeof(Head));
    copy_values(oct, reinterpret_cast<double*>(to + sizeof(Head)));
    to += item_bytes();
  }
  std::ranges::sort(owners);
  unpack(level, router_.route(owners, leaving_, item_bytes()).items);
  if (arrived_.places.size() > 0) store(arrived_);
}

// Returns the owners of the blocks. Throws InputError on every rank if a block does not exist.
std::vector<int> OctDelivery::owners_of(int level, std::span<const Head> heads) const {
  std::vector<Key> blocks;  // blocks of consecutive octs, without repetition
  std::vector<std::size_t> block_of;
  for (const Head& head : heads) {
    if (blocks.empty() || head.block != blocks.back()) blocks.push_back(head.block);
    block_of.push_back(blocks.size() - 1);
  }
  const auto owners = mesh_.tree().owners(level, blocks);
  mesh_.communicator().collective_try([&] {
    if (std::ranges::find(owners, -1) != owners.end())
      refuse_ramses(facts_,
                    fmt::format("an oct of level {} does not lie in a refined cell of level {}: "
                                "files are missing, or belong to different outputs",
                                level + levels_.base, level + levels_.base - 1));
  });
  std::vector<int> of_octs;
  for (const std::size_t block : block_of) of_octs.push_back(owners[block]);
  return of_octs;
}

void OctDelivery::unpack(int level, std::span<const std::byte> items) {
  const std::size_t count = items.size() / item_bytes(), values = variables_ * k_oct_cells;
  arrived_.places.resize(count);
  arrived_.values.resize(count * values);
  OctPosition* const places = arrived_.places.write(0, count);
  double* const to = arrived_.values.write(0, count * values);
  for (std::size_t n = 0; n < count; ++n) {
    Head head;
    const std::byte* from = items.data() + n * item_bytes();
    std::memcpy(&head, from, sizeof(Head));
    places[n] = {mesh_.blocks(level).find(head.block)->slot, head.first_cell, head.refined};
    std::memcpy(to + n * values, from + sizeof(Head), values * sizeof(double));
  }
  arrived_.places.upload();
  arrived_.values.upload();
}

// --- the gas in blocks ---------------------------------------------------------------------------

namespace {

// Changes `stored` by a few units in the last place until shown() equals `wanted`. Returns true on
// success; otherwise `stored` is unchanged.
template <class Shown>
KOKKOS_INLINE_FUNCTION bool store_as_shown(double wanted, double& stored, const Shown& shown) {
  constexpr int k_tries = 4;
  const double guess = stored;
  double above = guess, below = guess;
  for (int n = 0; n < k_tries; ++n) {
    stored = above;
    if (shown() == wanted) return true;
    stored = below;
    if (shown() == wanted) return true;
    above = Kokkos::nextafter(above, 1e300);
    below = Kokkos::nextafter(below, -1e300);
  }
  stored = guess;
  return false;
}

// Variables of a cell in a file: density, velocity or momentum, pressure or energy, scalars.
struct FileCell {
  const double* first;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t variable) const {
    return first[variable * k_oct_cells];
  }
};

// Stores conserved variables unchanged.
struct StoreConserved {
  hydro::Gas gas;
  int first_scalar, scalars;

  KOKKOS_INLINE_FUNCTION void operator()(double* state, std::int64_t stride,
                                         const FileCell& file) const {
    const hydro::GasCell at(state, stride, gas);
    const double density = file(hydro::k_mass);
    double velocity[3], speed2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      velocity[d] = file(hydro::k_momentum_x + d) / density;
      speed2 += velocity[d] * velocity[d];
    }
    at.set(density, velocity, (gas.gamma - 1.0) * (file(hydro::k_energy) - 0.5 * density * speed2));
    for (int n = 1; n < k_ramses_gas_fields; ++n) at[n] = file(n);
    for (int n = 0; n < scalars; ++n) at[first_scalar + n] = file(k_ramses_gas_fields + n);
  }
};

// Conserved variables, adjusted until the primitive ones derived from them equal those of a file.
struct ShownState {
  FileCell file;
  const hydro::Gas& gas;
  hydro::State<double> u;
  double entropy;

  KOKKOS_INLINE_FUNCTION double shown(int n) const {
    return hydro::physical_state(u, entropy, gas)[n];
  }
  KOKKOS_INLINE_FUNCTION bool is_shown() const {
    const auto w = hydro::physical_state(u, entropy, gas);
    bool all = w[hydro::k_pressure] == file(hydro::k_pressure);
    for (int n = hydro::k_velocity_x; n < hydro::k_velocity_x + 3; ++n)
      all = all && w[n] == file(n);
    return all;
  }
  // Adjusts `stored` so that primitive variable n equals that of the file. Returns true on success.
  KOKKOS_INLINE_FUNCTION bool adjust(double& stored, int n) {
    return store_as_shown(file(n), stored, [&] { return shown(n); });
  }
  KOKKOS_INLINE_FUNCTION void adjust_momenta() {
    for (int d = 0; d < 3; ++d) adjust(u[hydro::k_momentum_x + d], hydro::k_velocity_x + d);
  }
  // Adjusts the energy to the pressure; if that fails, tries other momenta with the same
  // velocities.
  KOKKOS_INLINE_FUNCTION void adjust_energy() {
    constexpr int k_choices = 27;
    const double momentum[3] = {u[1], u[2], u[3]};
    for (int choice = 0; choice < k_choices; ++choice) {
      if (adjust(u[hydro::k_energy], hydro::k_pressure)) return;
      for (int d = 0, rest = choice; d < 3; ++d, rest /= 3) {
        const int velocity = hydro::k_velocity_x + d;
        double& own = u[hydro::k_momentum_x + d];
        if (rest % 3 > 0) own = Kokkos::nextafter(momentum[d], rest % 3 == 1 ? 1e300 : -1e300);
        if (shown(velocity) != file(velocity) || rest % 3 == 0) own = momentum[d];
      }
    }
  }
};

// Stores conserved variables whose primitive ones equal those of the file bitwise, if possible.
struct StorePrimitive {
  hydro::Gas gas;
  int first_scalar, scalars;

  KOKKOS_INLINE_FUNCTION void operator()(double* state, std::int64_t stride,
                                         const FileCell& file) const {
    const hydro::GasCell at(state, stride, gas);
    const double density = file(0), velocity[3] = {file(1), file(2), file(3)};
    at.set(density, velocity, file(hydro::k_pressure));
    ShownState s{file, gas, hydro::load_state<double>(state, static_cast<int>(stride)),
                 gas.dual_energy ? at[hydro::k_entropy] : 0.0};
    bool is_shown = s.is_shown();
    if (!is_shown) s.adjust_momenta();
    if (gas.dual_energy) {
      if (!is_shown) s.adjust(s.entropy, hydro::k_pressure);
      const double least = hydro::entropy_at(density, gas.pressure_floor, gas);
      if (!(s.entropy >= least)) {
        s.entropy = least;
        is_shown = false;
      }
      at[hydro::k_entropy] = s.entropy;
    }
    if (!is_shown) s.adjust_energy();
    for (int n = 1; n < k_ramses_gas_fields; ++n) at[n] = s.u[n];
    for (int n = 0; n < scalars; ++n) {
      const double concentration = file(k_ramses_gas_fields + n);
      double& stored = at[first_scalar + n];
      stored = density * concentration;
      store_as_shown(concentration, stored, [&] { return stored / density; });
    }
  }
};

template <class Store>
void write_octs(mesh::Mesh& mesh, int level, const ArrivedOcts& octs, const Store& store) {
  const auto places = octs.places.on_device();
  const auto values = octs.values.on_device();
  const int N = mesh.geometry().block_size();
  const mesh::BlockLayout layout = mesh.layout();
  const int variables = k_ramses_gas_fields + store.scalars;
  double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  mesh::for_items(
      "unpack octs", places.size() * k_oct_cells, KOKKOS_LAMBDA(const std::int64_t index) {
        const std::int64_t oct = index / k_oct_cells, cell = index % k_oct_cells;
        const OctPosition& place = places(oct);
        store(blocks + place.slot * layout.stride_slot + place.cell(cell, N),
              layout.stride_variable, FileCell{&values(oct * variables * k_oct_cells + cell)});
      });
}

constexpr double k_min_share = 1e-14;  // smallest pressure / kinetic energy density

// Sets the pressure of the given cells, whose total energy is not positive, to the pressure floor,
// or to k_min_share of their kinetic energy density if that is larger. All gas must have been read,
// because the floor may depend on it.
void raise_to_floor(mesh::Mesh& mesh, const hydro::HydroOptions& options, int level,
                    const std::vector<mesh::Cell>& cells) {
  if (cells.empty()) return;
  const auto broken = mesh::to_device("cells without positive energy", cells);
  const hydro::Gas gas = options.gas();
  const mesh::BlockLayout layout = mesh.layout();
  double* const blocks = mesh.fields(level).blocks(LevelFields::k_now);
  mesh::for_items(
      "set energy of cells", cells.size(), KOKKOS_LAMBDA(const std::int64_t n) {
        const hydro::GasCell at(blocks + layout.offset(broken(n)), layout.stride_variable, gas);
        const auto u = hydro::load_state<double>(&at[0], static_cast<int>(layout.stride_variable));
        const double moving = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[hydro::k_mass];
        const double pressure = max(gas.pressure_floor, k_min_share * moving);
        at[hydro::k_energy] = hydro::energy_at(u, pressure, gas);
      });
}

}  // namespace

void write_gas(AmrSimulation& simulation, int level, const ArrivedOcts& octs, bool is_conserved) {
  const hydro::HydroOptions& options = simulation.options().hydro;
  const int first_scalar = options.first_scalar(),
            scalars = static_cast<int>(options.scalars.size());
  mesh::Mesh& mesh = simulation.mesh();
  if (is_conserved)
    write_octs(mesh, level, octs, StoreConserved{options.gas(), first_scalar, scalars});
  else write_octs(mesh, level, octs, StorePrimitive{options.gas(), first_scalar, scalars});
}

std::int64_t apply_pressure_floor(AmrSimulation& simulation) {
  mesh::Mesh& mesh = simulation.mesh();
  std::int64_t raised = 0;
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const auto cells = hydro::cells_with_invalid_state(
        mesh.layout(), mesh.fields(level).blocks(LevelFields::k_now), mesh.cells(level));
    raise_to_floor(mesh, simulation.options().hydro, level, cells);
    raised += std::ssize(cells);
  }
  return raised;
}

}  // namespace octant
