// Files of fields on a grid in the grafic2 format, as MUSIC and monofonIC write initial conditions.
//
// A file holds one field as Fortran records, little-endian, each between two markers that give its
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
#include "io/posix_file.hpp"
#include "io/row_range.hpp"

namespace octant {

struct GraficHeader {
  std::array<std::int32_t, 3> cells{};  // along x, y and z
  float spacing = 0.0F;                 // comoving Mpc, without h
  std::array<float, 3> offset{};        // of the grid's lower corner, comoving Mpc
  float scale_factor = 0.0F;
  float omega_m = 0.0F, omega_lambda = 0.0F;
  float hubble = 0.0F;  // H0 in km/s/Mpc

  std::int64_t plane_cells() const { return std::int64_t{cells[0]} * cells[1]; }
  bool operator==(const GraficHeader&) const = default;
};

// An open file of one field. All functions are local: every rank opens it for itself.
class GraficFile {
 public:
  // Reads and checks the header. Throws InputError if there is no such file, it is big-endian or no
  // grafic file at all, or its length is not what the header says.
  explicit GraficFile(const std::string& path);

  const GraficHeader& header() const { return header_; }

  // Some planes as [plane][y][x]. Throws InputError, naming the plane, if the markers around it are
  // not its length.
  std::vector<float> planes(RowRange planes) const;

 private:
  PosixFile file_;
  GraficHeader header_;
};

// Writes one file, of which every rank gives some planes as [plane][y][x]; together they give each
// once. Collective. The file gets its name when it is complete. Throws RunError on every rank if
// that fails on one.
void write_grafic(const Communicator& communicator, const std::string& path,
                  const GraficHeader& header, RowRange planes, std::span<const float> values);

}  // namespace octant
