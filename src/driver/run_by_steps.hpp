// A run whose steps its caller takes: what `octant run` does in one go, for drivers of other kinds.
#pragma once

#include <limits>
#include <memory>

#include "driver/run.hpp"

namespace octant::driver {

class AmrSimulation;
class DnsSimulation;

// A model, and the simulation that it is, for whoever looks at its fields between steps.
struct OpenModel {
  std::unique_ptr<Model> model;
  AmrSimulation* amr = nullptr;
  DnsSimulation* dns = nullptr;
};

// Who is told by signals that a run shall stop: the run, or the program that it is a guest of.
enum class Signals { of_the_run, of_the_program };

// All functions are collective.
class Run {
 public:
  // Sets the state at time 0, or that of a checkpoint. Throws InputError. The model must outlive
  // the run.
  Run(Model& model, const RunRequest& request, Signals signals = Signals::of_the_run);
  ~Run();

  // Takes a step that does not pass the time `latest`, and writes what is due, before the first
  // step the initial state. False, and no step, if there is none left or the run was asked to stop.
  // Throws RunError.
  bool step(double latest = std::numeric_limits<double>::infinity());

  // Writes a file of the run's series, beside those that are due.
  void snapshot();
  void checkpoint();

  // Writes the final state and what there is to say about the run; returns the exit code. Nothing
  // but the destructor may be called afterwards.
  int finish();

 private:
  class Course;
  std::unique_ptr<Course> course_;
};

}  // namespace octant::driver
