// A flow that goes on from stored fields: a snapshot, or a file with the datasets /fields/u, v, w
// and p, each [k][j][i], of the run's own grid (and /lower_faces: see dns/field_file.hpp).
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "dns/field_file.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class StoredFlow final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.path", path_, {.meaning = "The file that holds the fields"});
  }
  void prepare(const FlowSetting&) override {
    if (path_.empty())
      throw InputError("problem.path is missing: name the file that holds the initial fields");
  }

  bool has_own_grid() const override { return true; }
  double velocity(int, const Place&) const override { return 0.0; }

  void set(const dns::Domain& domain, dns::State& state) const override {
    const Hdf5Reader file(domain.pencils.communicator(), path_);
    if (file.lost_checksums())
      log::warn("{} was changed after it was written; its checksums are gone", path_);
    dns::read_field(file, domain, "/fields/u", state.u);
    dns::read_field(file, domain, "/fields/v", state.v);
    dns::read_field(file, domain, "/fields/w", state.w);
    dns::read_field(file, domain, "/fields/p", state.p);
    dns::read_lower_faces(file, domain, state);
  }

  void set_scalar(const dns::Domain& domain, dns::Field& scalar) const override {
    const Hdf5Reader file(domain.pencils.communicator(), path_);
    dns::read_field(file, domain, "/fields/t", scalar);
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<FlowProblem> make_stored_flow() { return std::make_unique<StoredFlow>(); }

}  // namespace octant::problems
