// Three-dimensional Hilbert curve: an order of blocks in which successors are neighbours.
#pragma once

#include "decomp/morton.hpp"

namespace octant {

// Index of the block at `c` along the curve through the cube of 2^bits blocks per axis, counted
// from 0. The mapping is a bijection; consecutive blocks share a face. The curve is nested: the
// index of a block's parent on the curve with one bit less is the block's own index >> 3. Requires
// 0 <= c < 2^bits and 0 <= bits <= k_key_bits_per_axis.
Key hilbert_encode(const BlockCoordinates& c, int bits);

// Block at an index along the curve: the inverse of hilbert_encode.
BlockCoordinates hilbert_decode(Key index, int bits);

}  // namespace octant
