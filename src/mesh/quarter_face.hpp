// What is asked of the fluxes through a quarter of a block's face.
#pragma once

#include "mesh/fields.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// Those through an octant's lower (0) or upper (1) side across an axis, one face per value,
// [variable][b][a]. Which register they go to is left to say.
inline FluxRequest quarter_face(const BlockLayout& layout, int axis, int octant, int side) {
  const int half = layout.block_size / 2;
  const auto face = [&](int along, int end) {
    return static_cast<std::int16_t>(((octant >> along & 1) + end) * half);
  };
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  return {.axis = static_cast<std::int8_t>(axis),
          .average = 0,
          .plane = face(axis, side),
          .a_begin = face(a, 0),
          .a_end = face(a, 1),
          .b_begin = face(b, 0),
          .b_end = face(b, 1),
          .stride_b = half,
          .stride_variable = half * half,
          .base = 0};
}

}  // namespace octant::mesh
