#include "decomp/hilbert.hpp"

#include <array>

namespace octant {

// The curve visits the octants of a cube in the order of the reflected Gray code, in which
// successive octants share a face. In each octant it is the same curve, rotated and mirrored so
// that it enters next to the end of the previous octant. A pose describes this: the corner (an
// octant number) where the curve enters the cube, and the axis along which it leaves, at the other
// end of that axis. An octant is expressed in the frame of the pose by mirroring at the entry
// corner and rotating the axes so that the exit axis comes last.
namespace {

struct Pose {
  int entry = 0;
  int axis = 0;

  int into_frame(int octant) const { return rotate_down(octant ^ entry, axis + 1); }
  int out_of_frame(int octant) const { return rotate_up(octant, axis + 1) ^ entry; }

  // Pose of the curve within the octant that it visits as number `step` of this cube.
  Pose within(int step) const {
    return {out_of_frame(k_entry[step]), (axis + k_axis[step] + 1) % 3};
  }

 private:
  // Entry corner and exit axis within the octant of each step, in the frame where the cube is
  // entered at corner 0 and left along the last axis (the Gray code ends in octant 4). The exit
  // axis of a step is the axis that the Gray code crosses next; entries follow from continuity.
  static constexpr std::array<int, 8> k_entry{0, 0, 0, 3, 3, 6, 6, 5};
  static constexpr std::array<int, 8> k_axis{0, 1, 1, 2, 2, 1, 1, 0};

  // Renames axis a to a + shift; the inverse is rotate_down().
  static int rotate_up(int octant, int shift) {
    return (octant << shift % 3 | octant >> (3 - shift % 3)) & 7;
  }
  static int rotate_down(int octant, int shift) { return rotate_up(octant, 3 - shift % 3); }
};

constexpr int gray(int step) { return step ^ step >> 1; }
constexpr int gray_inverse(int code) { return code ^ code >> 1 ^ code >> 2; }

}  // namespace

Key hilbert_encode(const BlockCoordinates& c, int bits) {
  const Key morton = morton_encode(c);
  Key index = 0;
  Pose pose;
  for (int shift = 3 * (bits - 1); shift >= 0; shift -= 3) {
    const int step = gray_inverse(pose.into_frame(octant_of(morton >> shift)));
    index = child_key(index, step);
    pose = pose.within(step);
  }
  return index;
}

BlockCoordinates hilbert_decode(Key index, int bits) {
  Key morton = 0;
  Pose pose;
  for (int shift = 3 * (bits - 1); shift >= 0; shift -= 3) {
    const int step = octant_of(index >> shift);
    morton = child_key(morton, pose.out_of_frame(gray(step)));
    pose = pose.within(step);
  }
  return morton_decode(morton);
}

}  // namespace octant
