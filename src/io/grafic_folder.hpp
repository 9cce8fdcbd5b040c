// A folder of grafic2 files: one subfolder per level, level_005, level_006, ...
//
// The coarsest level is the whole periodic box of 2^5 cells a side for level_005; each further one
// is a box of cells half as large, within the one before. A level's subfolder holds one file per
// field:
//   ic_deltab                   overdensity of baryons
//   ic_velb{x,y,z}              velocity of baryons, proper peculiar km/s
//   ic_velc{x,y,z}              velocity of dark matter, proper peculiar km/s
//   ic_posc{x,y,z}              displacement of dark matter, comoving Mpc/h
//   ic_refmap                   1 where cells are to be refined
//   ic_pvar_00001, 00002, ...   passive scalars
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/grafic.hpp"

namespace octant {

struct GraficLevel {
  int number = 0;  // 2^number cells of this level along a side of the box
  GraficHeader header;
  std::array<int, 3> origin{};  // lower corner in cells of this level
};

class GraficFolder {
 public:
  // Looks at every file's header; the root reads, and all ranks know. Collective. Throws InputError
  // on every rank: no such folder, no level, a level missing between others, a file missing in a
  // level that others have, headers of one level that differ, levels that do not fit into each
  // other, and whatever GraficFile finds.
  GraficFolder(const Communicator& communicator, std::string path);

  const std::string& path() const { return path_; }
  // From the coarsest on.
  const std::vector<GraficLevel>& levels() const { return levels_; }

  // Whether every level has this file, "ic_deltab".
  bool has(const std::string& field) const;
  // Of a file of level n, counted from the coarsest.
  std::string file(int level, const std::string& field) const;

 private:
  std::string path_;
  std::vector<GraficLevel> levels_;
  std::vector<std::string> fields_;  // of all levels
};

}  // namespace octant
