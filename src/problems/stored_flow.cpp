// Flow from stored fields: a snapshot, or a file with the datasets /fields/u, v, w, p and, with a
// scalar, t, each [k][j][i] (and /lower_faces). Fields on another grid of the same domain,
// described by /grid, are interpolated: see dns/field_file.hpp.
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "dns/field_file.hpp"
#include "problems/flow_problem.hpp"

namespace octant::problems {

namespace {

class StoredFlow final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.path", path_,
               {.meaning = "File of initial fields, such as a snapshot of a DNS run"});
  }
  void prepare(const FlowSetting&) override {
    if (path_.empty())
      throw InputError("problem.path is missing: specify the file with the initial fields");
  }

  bool has_own_grid() const override { return true; }
  double velocity(int, const FlowPoint&) const override { return 0.0; }

  void set(const dns::Domain& domain, dns::State& state) const override {
    const Hdf5Reader file(domain.pencils.communicator(), path_);
    if (file.lost_checksums())
      log::warn(
          "{} has no checksums, and it was modified after Octant wrote it; its integrity cannot be "
          "verified",
          path_);
    const dns::StoredPoints points(file, domain);
    for (int component = 0; component < dns::k_components; ++component)
      read(points, file, domain, k_velocity[component], component, state.velocity(component));
    read(points, file, domain, "/fields/p", k_centred, state.p);
    if (points.is_same()) {
      dns::read_lower_faces(file, domain, state);
      return;
    }
    log::info("{} has a different grid: the stored fields are interpolated to the grid of this run",
              path_);
    for (int axis = 0; axis < 3; ++axis)
      if (domain.boundaries.side(axis, 0) == dns::Side::outflow)
        dns::open_lower_faces(domain, axis, state);
  }

  void set_scalar(const dns::Domain& domain, dns::Field& scalar) const override {
    const Hdf5Reader file(domain.pencils.communicator(), path_);
    const dns::StoredPoints points(file, domain);
    read(points, file, domain, "/fields/t", k_centred, scalar);
  }

 private:
  static constexpr int k_centred = -1;
  static constexpr const char* k_velocity[] = {"/fields/u", "/fields/v", "/fields/w"};

  static void read(const dns::StoredPoints& points, const Hdf5Reader& file,
                   const dns::Domain& domain, const std::string& dataset, int component,
                   dns::Field& field) {
    if (points.is_same()) dns::read_field(file, domain, dataset, field);
    else points.interpolate(dataset, component, field);
  }

  std::string path_;
};

}  // namespace

std::unique_ptr<FlowProblem> make_stored_flow() { return std::make_unique<StoredFlow>(); }

}  // namespace octant::problems
