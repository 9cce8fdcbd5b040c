// Initial conditions from a folder of grafic2 files, as MUSIC and monofonIC write them.
#pragma once

#include "cosmology/initial_conditions.hpp"
#include "io/grafic_folder.hpp"

namespace octant::cosmology {

// Every rank reads some planes of each file. Displacements are those of the files, or else follow
// from the velocities to first order (Zel'dovich 1970): psi = v / (a H f1).
//
// Levels of files are not quite consistent. Here the overdensity of a cell that a finer level holds
// is the mean over the finer cells, and the whole box has the mean 0: the gas's mass is the same
// whatever cells a mesh refines. For that, overdensities of several levels are read all at once and
// kept.
class GraficConditions : public InitialConditions {
 public:
  // `expected` is the run's universe. Collective. Throws InputError on every rank: as GraficFolder,
  // no velocities of dark matter, and a scale factor, box or cosmology in the files that is not the
  // expected one (a scale factor or box of 0 expects nothing).
  GraficConditions(const Communicator& communicator, const std::string& path,
                   const InitialHeader& expected, const Expansion& expansion);

  bool has(InitialField field) const override;
  CellSpread spread(int level) const override;

 protected:
  std::vector<double> compute(int level, InitialField field) override;
  std::string missing(InitialField field) const override;

 private:
  InitialField with_files(InitialField field) const;
  std::vector<double> read(int level, const std::string& name);
  void read_consistent_overdensities();
  // Replaces the overdensity of cells that the next finer level holds.
  void restrict_to(int level);

  GraficFolder folder_;
  double velocity_per_displacement_ = 0.0;          // a H f1, km/s per comoving Mpc/h
  std::vector<std::vector<double>> overdensities_;  // of several levels, as own() gives them
};

}  // namespace octant::cosmology
