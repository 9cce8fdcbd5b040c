// Black holes: at the end of every step of their levels, they swallow gas; at the end of coarse
// steps, when all levels and particles are at one time, they form, merge, and give energy back, in
// this order.
#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/black_holes/accretion.hpp"
#include "subgrid/black_holes/activity.hpp"
#include "subgrid/black_holes/mergers.hpp"
#include "subgrid/black_holes/seeds.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

class BlackHoles final : public Process {
 public:
  const char* name() const override { return "black_holes"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.enabled || options_.agn.enabled; }

  std::vector<particles::Kind> particle_kinds() const override { return {sinks()}; }
  std::vector<std::string> accounts() const override {
    return {"accreted",        "radiated",    "seeds",          "metals",
            "jet_loaded",      "momentum_x",  "momentum_y",     "momentum_z",
            "accreted_energy", "drag_energy", "merger_kinetic", "nominal",
            "injected",        "saved",       "floor_energy",   "coarse_discs"};
  }
  double added_energy(const Ledger& ledger) const override {
    return ledger.total("injected") + ledger.total("floor_energy") -
           ledger.total("accreted_energy") - ledger.total("merger_kinetic");
  }

  void prepare(const Setting& setting) override {
    if (!options_.enabled)
      throw InputError("agn.enabled = true requires black_holes.enabled = true");
    if (!setting.has_gas) throw InputError("[black_holes] requires hydro.enabled = true");
    if (!setting.has_gravity)
      throw InputError("black_holes.enabled = true requires gravity.enabled = true");
    if (!setting.has_units)
      throw InputError(
          "[black_holes] requires physical units: give units.length, units.density and units.time "
          "in cgs, or set cosmology.enabled = true");
    options_.check(setting.geometry);
    if (options_.star_density > 0.0 && !setting.has_stars)
      throw InputError(
          "black_holes.star_density = {}: requires stars.enabled = true; enable stars, or set 0",
          options_.star_density);
    const bool has_metals = std::find(setting.scalars.begin(), setting.scalars.end(), "metals") !=
                            setting.scalars.end();
    // The gas is that of each step: its floors follow from the initial state.
    target_ = {.gas = {},
               .metals = has_metals ? setting.variable("metals") : -1,
               .passive = {setting.first_passive_scalar(), setting.passive_scalars()}};
    search_ = setting.event_search;
  }

  bool interact(Scene& scene, Ledger& ledger) const override {
    const Moment& moment = scene.levels.front().moment;
    const HoleStep step{.scene = scene,
                        .ledger = ledger,
                        .options = options_,
                        .search = search_,
                        .target = {.gas = scene.levels.front().gas,
                                   .metals = target_.metals,
                                   .coarsest = scene.coarsest,
                                   .passive = target_.passive},
                        .variables = scene.mesh.layout().variables,
                        .gravity = moment.newton_constant,
                        .light = constants::k_speed_of_light / scene.units.velocity(),
                        .finest_cell = moment.finest_cell};
    particles::Particles& sinks = scene.kind("sinks");
    std::vector<Hole> holes = read_holes(sinks, scene.coarsest);
    bool changed = feed(step, holes);
    write_holes(sinks, holes);
    if (scene.coarsest != 0) return changed;
    changed = form_holes(step) || changed;
    changed = merge_holes(step, fastest_) || changed;
    if (!options_.agn.enabled) return changed;
    holes = read_holes(sinks, 0);
    changed = release_energy(step, holes) || changed;
    write_holes(sinks, holes);
    return changed;
  }

 private:
  BlackHoleOptions options_;
  EventTarget target_{};
  EventSearch search_ = EventSearch::blocks;
  mutable friends::FastestMethod fastest_;  // how long searches took: results do not depend on it
};

template <>
std::unique_ptr<Process> make_process<BlackHoles>() {
  return std::make_unique<BlackHoles>();
}

}  // namespace octant::subgrid
