// Grid fields in the grafic2 format, as MUSIC and monofonIC write initial conditions.
//
// A file contains one field as little-endian Fortran records, each between two markers with its
// length in bytes:
//   44 bytes: int32 n_x, n_y, n_z; float32 spacing, x, y, z offset, a, omega_m, omega_lambda, H0
//   n_z times a plane of n_x n_y float32, x fastest
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/files.hpp"
#include "io/row_range.hpp"

namespace octant {

// Header of a file.
struct GraficHeader {
  std::array<std::int32_t, 3> cells{};  // along x, y and z
  float spacing = 0.0F;                 // comoving Mpc, without h
  std::array<float, 3> offset{};        // position of the grid's lower corner, comoving Mpc
  float scale_factor = 0.0F;
  float omega_m = 0.0F, omega_lambda = 0.0F;
  float hubble = 0.0F;  // H0 in km/s/Mpc

  // Number of cells in a plane.
  std::int64_t plane_cells() const { return std::int64_t{cells[0]} * cells[1]; }
  bool operator==(const GraficHeader&) const = default;
};

// Open file of one field. All functions are local: every rank opens the file.
class GraficFile {
 public:
  // Opens a file, and reads and checks the header. Throws InputError if the file is missing,
  // big-endian or no grafic file, or if its length disagrees with the header.
  explicit GraficFile(const std::string& path);

  // Header of the file.
  const GraficHeader& header() const { return header_; }

  // Reads planes as [plane][y][x]. Throws InputError that names the plane if its record markers are
  // inconsistent.
  std::vector<float> planes(RowRange planes) const;

 private:
  PosixFile file_;
  GraficHeader header_;
};

// Writes a file from the planes of all ranks, [plane][y][x], each given once. The file is renamed
// when it is complete. Throws RunError on every rank if that fails on one. Collective.
void write_grafic(const Communicator& communicator, const std::string& path,
                  const GraficHeader& header, RowRange planes, std::span<const float> values);

// Folder of grafic2 files: one subfolder per level, level_005, level_006, ...
//
// The coarsest level is the whole periodic box of 2^5 cells per side for level_005; each further
// one is a box of cells half as large, within the previous one. A level's subfolder has one file
// per field:
//   ic_deltab                   overdensity of baryons
//   ic_velb{x,y,z}              velocity of baryons, proper peculiar km/s
//   ic_velc{x,y,z}              velocity of dark matter, proper peculiar km/s
//   ic_posc{x,y,z}              displacement of dark matter, comoving Mpc/h
//   ic_refmap                   1 where cells are to be refined
//   ic_pvar_00001, 00002, ...   passive scalars
struct GraficLevel {
  int number = 0;  // 2^number cells of this level along a side of the box
  GraficHeader header;
  std::array<int, 3> origin{};  // lower corner in cells of this level
};

// Folder of initial-condition files.
class GraficFolder {
 public:
  // Checks the header of every file on the root and broadcasts the result. Collective. Throws
  // InputError on every rank for a missing folder, no level, a missing intermediate level, a file
  // that other levels have, headers of one level that differ, levels that do not nest, and errors
  // of GraficFile.
  GraficFolder(const Communicator& communicator, std::string path);

  // Path of the folder.
  const std::string& path() const { return path_; }
  // Levels, coarsest first.
  const std::vector<GraficLevel>& levels() const { return levels_; }

  // Returns true if every level has this file, such as "ic_deltab".
  bool has(const std::string& field) const;
  // Path of a file of a level, counted from the coarsest.
  std::string file(int level, const std::string& field) const;

 private:
  std::string path_;
  std::vector<GraficLevel> levels_;
  std::vector<std::string> fields_;  // common to all levels
};

}  // namespace octant
