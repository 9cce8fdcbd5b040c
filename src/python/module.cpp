// Python module octant._octant: a run with its model, and their fields as arrays. Python functions
// are collective like the functions here.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "amr/amr_simulation.hpp"
#include "amr/snapshot.hpp"
#include "comm/runtime.hpp"
#include "commands/models.hpp"
#include "core/error.hpp"
#include "dns_model/dns_simulation.hpp"

namespace nb = nanobind;

namespace octant::python {

namespace {

// MPI and Kokkos, initialised from the first simulation until Python ends.
std::unique_ptr<Runtime> g_runtime;

void start(std::optional<int> communicator) {
  if (!g_runtime) g_runtime = std::make_unique<Runtime>(communicator);
}

void stop() { g_runtime.reset(); }

// Runs an action. Errors on all ranks become Python exceptions; a rank with an error of its own
// ends the others, which would wait forever.
template <class Action>
auto together(const Communicator& communicator, const Action& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    const bool is_known = dynamic_cast<const InputError*>(&error) != nullptr ||
                          dynamic_cast<const RunError*>(&error) != nullptr;
    if (communicator.size() == 1 || (is_known && all_ranks_agree_to_end())) throw;
    fmt::print(stderr, "rank {}: {}\n", communicator.rank(), error.what());
    end_all_ranks(1);
  }
}

using Shown = nb::ndarray<nb::numpy, double>;

// Returns an array that owns its values.
template <class T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

std::vector<double> column_of(const nb::dict& columns, const char* name) {
  using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  if (!columns.contains(name)) return {};
  const auto values = nb::cast<Column>(columns[name]);
  return {values.data(), values.data() + values.size()};
}

std::array<std::vector<double>, 3> vector_of(const nb::dict& columns, const char* name) {
  return {column_of(columns, fmt::format("{}_x", name).c_str()),
          column_of(columns, fmt::format("{}_y", name).c_str()),
          column_of(columns, fmt::format("{}_z", name).c_str())};
}

nb::object array_of(const std::vector<double>& values) {
  return nb::cast(array_of(std::vector<double>(values), {values.size()}));
}

// Python function of columns of cells; shared, because it may be copied without holding the GIL.
using SharedFunction = std::shared_ptr<const nb::object>;

problems::StateFunction state_function(const nb::object& given) {
  if (given.is_none()) return {};
  return [function = SharedFunction(new nb::object(given))](const problems::Vectors& centres,
                                                            double cell_size) {
    const nb::gil_scoped_acquire python;
    const nb::dict columns = nb::cast<nb::dict>(
        (*function)(array_of(centres[0]), array_of(centres[1]), array_of(centres[2]), cell_size));
    problems::GasColumns gas{.density = column_of(columns, "density"),
                             .pressure = column_of(columns, "pressure"),
                             .velocity = vector_of(columns, "velocity"),
                             .scalars = {}};
    for (const auto& [key, value] : columns) {
      const auto name = nb::cast<std::string>(key);
      const bool is_other =
          name != "density" && name != "pressure" && !name.starts_with("velocity_");
      if (is_other) gas.scalars[name] = column_of(columns, name.c_str());
    }
    return gas;
  };
}

subgrid::SourceFunction source_function(const nb::object& given) {
  if (given.is_none()) return {};
  return [function = SharedFunction(new nb::object(given))](const subgrid::SourceCells& cells) {
    const nb::gil_scoped_acquire python;
    nb::dict gas;
    const char* axes[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d) {
      gas[axes[d]] = array_of(cells.centre[d]);
      gas[fmt::format("velocity_{}", axes[d]).c_str()] = array_of(cells.velocity[d]);
    }
    gas["density"] = array_of(cells.density);
    gas["internal_energy"] = array_of(cells.internal_energy);
    const nb::dict rates = nb::cast<nb::dict>((*function)(gas, cells.level, cells.dt));
    return subgrid::SourceRates{.heating = column_of(rates, "heating"),
                                .acceleration = vector_of(rates, "acceleration")};
  };
}

// Owner of an array's memory. After the end of the runtime the memory is not freed, because that
// would require the runtime.
template <class Held, class... Arguments>
nb::capsule kept_by_python(Arguments&&... arguments) {
  return {new Held(std::forward<Arguments>(arguments)...), [](void* held) noexcept {
            if (g_runtime) delete static_cast<Held*>(held);
          }};
}

// Wraps host or GPU memory as an array.
nb::object array_on(bool host, double* data, const std::vector<std::size_t>& shape,
                    const std::vector<std::int64_t>& strides, const nb::capsule& owner) {
  if (host) return nb::cast(Shown(data, shape.size(), shape.data(), owner, strides.data()));
  return nb::cast(nb::ndarray<double>(data, shape.size(), shape.data(), owner, strides.data(),
                                      nb::dtype<double>(), nb::device::cuda::value, 0));
}

// Run stepped from Python. Arrays of a flow keep it alive and are counted; arrays of a mesh keep
// only their memory.
class Simulation {
 public:
  Simulation(const std::string& file, const std::vector<std::string>& overrides,
             const std::string& output, const std::string& restart, bool overwrite,
             const nb::object& state, const nb::object& source)
      : request_{.file = file,
                 .overrides = overrides,
                 .output = output,
                 .restart = restart,
                 .overwrite = overwrite},
        communicator_(Communicator::world()) {
    const GivenFunctions given{state_function(state), source_function(source)};
    together(communicator_, [&] {
      const nb::gil_scoped_release others;
      if (model_of(request_, communicator_) == ModelKind::dns)
        opened_ = make_dns_model(request_, communicator_);
      else opened_ = make_amr_model(request_, communicator_, given);
      run_ = std::make_unique<Run>(*opened_.model, request_, Signals::of_the_program);
      return true;
    });
  }

  // Ends the run. The memory of a flow is freed with its last array.
  void close() {
    run_.reset();
    is_closed_ = true;
    if (flow_arrays_ == 0) opened_ = {};
  }
  // Frees all memory when Python ends and no arrays are in use.
  void end() {
    close();
    opened_ = {};
  }

  bool step(double latest) {
    return together(communicator_, [&] {
      const nb::gil_scoped_release others;
      run();
      if (opened_.amr != nullptr) leave_shared(opened_.amr->mesh());
      return run().step(latest);
    });
  }
  int finish() {
    return together(communicator_, [&] {
      const int code = run().finish();
      run_.reset();
      return code;
    });
  }
  void snapshot() {
    together(communicator_, [&] { return run().snapshot(), true; });
  }
  void checkpoint() {
    together(communicator_, [&] { return run().checkpoint(), true; });
  }
  std::pair<std::string, std::string> history() {
    return together(communicator_, [&] {
      model().measure();
      const Columns columns = model().history(0.0);
      return std::pair{columns.names(), columns.values()};
    });
  }

  double time() { return model().time(); }
  double end_time() { return model().settings().end; }
  std::int64_t step_count() { return model().step_count(); }
  std::string directory() { return model().settings().output.directory; }
  std::string parameters() { return model().settings().resolved; }
  bool is_dns() { return opened_.dns != nullptr; }

  AmrSimulation& amr() {
    model();
    if (opened_.amr != nullptr) return *opened_.amr;
    throw InputError("model = \"dns\" has no levels; use fields");
  }
  DnsSimulation& dns() {
    model();
    if (opened_.dns != nullptr) return *opened_.dns;
    throw InputError("an AMR run has no single uniform grid; use level(l)");
  }

  // Memory of the flow as an array that keeps the simulation alive.
  nb::object flow_array(double* data, const std::vector<std::size_t>& shape,
                        const std::vector<std::int64_t>& strides) {
    struct Lease {
      nb::object keeps_alive;
      Simulation& simulation;
      Lease(nb::object object, Simulation& of) : keeps_alive(std::move(object)), simulation(of) {
        ++simulation.flow_arrays_;
      }
      ~Lease() {
        --simulation.flow_arrays_;
        if (simulation.is_closed_) simulation.close();
      }
    };
    return array_on(true, data, shape, strides, kept_by_python<Lease>(nb::find(*this), *this));
  }

 private:
  Model& model() {
    if (is_closed_) throw RunError("this simulation has already been closed");
    return *opened_.model;
  }
  Run& run() {
    if (!run_) throw RunError("the run has ended");
    return *run_;
  }
  // Detaches fields that arrays still refer to, so that their values do not change.
  static void leave_shared(mesh::Mesh& mesh) {
    for (int level = 0; level <= mesh.geometry().max_level(); ++level)
      mesh.fields(level).leave_shared(mesh.blocks(level).slots());
  }

  RunRequest request_;
  Communicator communicator_;
  OpenModel opened_;
  std::unique_ptr<Run> run_;
  int flow_arrays_ = 0;
  bool is_closed_ = false;
};

// --- adaptive meshes ---

const mesh::TreeLevel& blocks_of(Simulation& simulation, int level) {
  const mesh::Mesh& mesh = simulation.amr().mesh();
  if (level < 0 || level > mesh.geometry().max_level())
    throw InputError("level {}: expected 0 to {} (mesh.max_level)", level,
                     mesh.geometry().max_level());
  return mesh.blocks(level);
}

// Describes own blocks in the order of their keys: slots, refined octants, lower corners.
nb::dict describe_level(Simulation& simulation, int level) {
  const mesh::TreeLevel& blocks = blocks_of(simulation, level);
  const mesh::Geometry& geometry = simulation.amr().mesh().geometry();
  std::vector<std::int64_t> slots;
  std::vector<std::uint8_t> refined;
  std::vector<double> origins;
  for (const int slot : blocks.own()) {
    slots.push_back(slot);
    refined.push_back(blocks.refined(slot));
    const auto origin = geometry.origin(level, morton_decode(blocks.key(slot)));
    origins.insert(origins.end(), origin.begin(), origin.end());
  }
  const std::size_t count = slots.size();
  nb::dict attributes;
  attributes["slots"] = nb::cast(array_of(std::move(slots), {count}));
  attributes["refined"] = nb::cast(array_of(std::move(refined), {count}));
  attributes["origin"] = nb::cast(array_of(std::move(origins), {count, 3}));
  attributes["cell_size"] = geometry.cell_size(level);
  attributes["block_size"] = geometry.block_size();
  return attributes;
}

std::vector<std::string> stored_names(Simulation& simulation) {
  std::vector<std::string> names;
  const hydro::HydroOptions& gas = simulation.amr().options().hydro;
  if (!gas.enabled) return names;
  for (const hydro::GasVariable& variable : gas.variables())
    names.push_back(variable.stored_field().name);
  return names;
}

// Variable n of a level's blocks, by slot: [slot][k][j][i].
nb::object stored(Simulation& simulation, int level, int n) {
  const mesh::TreeLevel& blocks = blocks_of(simulation, level);
  const mesh::BlockLayout& layout = simulation.amr().mesh().layout();
  const auto N = static_cast<std::size_t>(layout.block_size);
  const auto& memory = simulation.amr().mesh().fields(level).present();
  const auto stride = static_cast<std::int64_t>(N);
  return array_on(k_device_is_host, memory.data() + std::int64_t{n} * layout.stride_variable,
                  {static_cast<std::size_t>(blocks.slots()), N, N, N},
                  {layout.stride_slot, stride * stride, stride, 1},
                  kept_by_python<mesh::DeviceArray<double>>(memory));
}

std::vector<std::string> shown_names(Simulation& simulation) {
  std::vector<std::string> names;
  for (const MeshField& field : snapshot_contents(simulation.amr()).fields)
    names.push_back(field.info.name);
  return names;
}

// Field as in snapshots, in own blocks in the order of their keys: [block][k][j][i]; cell means of
// face-centred fields.
nb::object shown(Simulation& simulation, int level, const std::string& name) {
  const mesh::TreeLevel& blocks = blocks_of(simulation, level);
  const auto N = static_cast<std::size_t>(simulation.amr().mesh().layout().block_size);
  const auto contents = cell_centred(snapshot_contents(simulation.amr()));
  for (const MeshField& field : contents.fields)
    if (field.info.name == name)
      return nb::cast(array_of(field.values(level, blocks.own()), {blocks.own().size(), N, N, N}));
  throw InputError("there is no field \"{}\"", name);
}

// --- incompressible flow ---

nb::object flow_field(Simulation& simulation, const std::string& name) {
  dns::Flow& flow = simulation.dns().flow();
  if (name == "t" && !flow.has_scalar())
    throw InputError("this run has no scalar (scalar.enabled)");
  const std::string names = "uvwpt";
  if (name.size() != 1 || names.find(name) == std::string::npos)
    throw InputError("there is no field \"{}\": expected u, v, w, p or t", name);
  dns::State& state = flow.state();
  dns::Field& field = name == "t"   ? flow.scalar()
                      : name == "p" ? state.p
                                    : state.velocity(static_cast<int>(names.find(name)));
  const auto extent = [](int cells) { return static_cast<std::size_t>(cells); };
  return simulation.flow_array(field.row(0, 0),
                               {extent(field.nz()), extent(field.ny()), extent(field.nx())},
                               {field.plane_stride(), field.row_stride(), 1});
}

// Ranges of this rank's cells along x, y, z in the whole grid.
std::vector<std::pair<int, int>> flow_box(Simulation& simulation) {
  std::vector<std::pair<int, int>> ranges;
  for (const auto& range : simulation.dns().domain().box.range)
    ranges.emplace_back(range.begin, range.end);
  return ranges;
}

// Updates the simulation after changes of its fields.
void take_up(Simulation& simulation) {
  DnsSimulation& flow = simulation.dns();
  flow.resume(flow.time(), flow.step_count(), flow.step_limit());
}

}  // namespace

}  // namespace octant::python

NB_MODULE(_octant, module) {
  using namespace octant;
  using namespace octant::python;
  nb::set_leak_warnings(false);  // arrays may live until Python ends
  nb::exception<InputError>(module, "InputError", PyExc_ValueError);
  nb::exception<RunError>(module, "RunError", PyExc_RuntimeError);
  module.def("start", &start, nb::arg("communicator").none());
  module.def("stop", &stop);
  module.def("rank", [] { return Communicator::world().rank(); });
  module.def("ranks", [] { return Communicator::world().size(); });
  module.def("end_all_ranks", &end_all_ranks);
  nb::class_<Simulation>(module, "Simulation", nb::is_weak_referenceable())
      .def(nb::init<const std::string&, const std::vector<std::string>&, const std::string&,
                    const std::string&, bool, const nb::object&, const nb::object&>(),
           nb::arg("file"), nb::arg("overrides"), nb::arg("output"), nb::arg("restart"),
           nb::arg("overwrite"), nb::arg("state").none(), nb::arg("source").none())
      .def("close", &Simulation::close)
      .def("step", &Simulation::step)
      .def("finish", &Simulation::finish)
      .def("snapshot", &Simulation::snapshot)
      .def("checkpoint", &Simulation::checkpoint)
      .def("history",
           [](Simulation& s) {
             const auto [names, values] = s.history();
             return nb::make_tuple(names, values);
           })
      .def_prop_ro("time", &Simulation::time)
      .def("end", &Simulation::end)
      .def_prop_ro("end_time", &Simulation::end_time)
      .def_prop_ro("step_count", &Simulation::step_count)
      .def_prop_ro("directory", &Simulation::directory)
      .def_prop_ro("parameters", &Simulation::parameters)
      .def_prop_ro("is_dns", &Simulation::is_dns)
      .def_prop_ro("finest_level", [](Simulation& s) { return s.amr().mesh().finest_level(); })
      .def("describe_level", &describe_level)
      .def("stored_names", &stored_names)
      .def("stored", &stored)
      .def("shown_names", &shown_names)
      .def("shown", &shown)
      .def("flow_field", &flow_field)
      .def("flow_box",
           [](Simulation& s) {
             nb::list box;
             for (const auto& [begin, end] : flow_box(s)) box.append(nb::make_tuple(begin, end));
             return box;
           })
      .def("take_up", &take_up);
}
