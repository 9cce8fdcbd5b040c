#include "mesh/face_transfer.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace octant::mesh {

namespace {

constexpr std::array<int, 3> offset_of(int position) {
  return {position % 3 - 1, position / 3 % 3 - 1, position / 9 - 1};
}

// Position, among the 27 around a block, of the block that contains a given cell or ghost cell.
KOKKOS_FORCEINLINE_FUNCTION int position_of(const int (&cell)[3], int cells) {
  int position = k_middle;
  for (int d = 0, stride = 1; d < 3; ++d, stride *= 3)
    position += cell[d] < 0 ? -stride : cell[d] >= cells ? stride : 0;
  return position;
}

// --- kernels -------------------------------------------------------------------------------------

// One coarse cell in or around an open block; `cell` counts coarse cells from the block's corner.
struct PatchCell {
  OpenBlock block;
  StaggeredView fine, coarse;
  FaceSlope slope;
  int cell[3];

  KOKKOS_FORCEINLINE_FUNCTION bool has(Positions positions, const int (&at)[3]) const {
    return (positions >> position_of(at, coarse.layout.cells) & 1) != 0;
  }

  // Fine face of component `d` at index `along`, 0 to 2, along the normal.
  KOKKOS_FORCEINLINE_FUNCTION double& face(int d, int along, int b, int a) const {
    int point[3];
    point[d] = 2 * cell[d] + along;
    point[first_transverse(d)] = 2 * cell[first_transverse(d)] + a;
    point[second_transverse(d)] = 2 * cell[second_transverse(d)] + b;
    return fine(block.slot, d, point);
  }

  KOKKOS_INLINE_FUNCTION void fill() const {
    if (has(block.known | block.outside, cell)) return;
    RefinedCell refined;
    for (int d = 0; d < 3; ++d)
      for (int side = 0; side < 2; ++side) fill_side(d, side, refined.outer[d][side]);
    refined.fill_inner();
    for (int d = 0; d < 3; ++d)
      for (int b = 0; b < 2; ++b)
        for (int a = 0; a < 2; ++a) face(d, 1, b, a) = refined.inner[d][b][a];
  }

  // Sets the fine faces on one side of the cell, but keeps those of existing fine blocks. Faces
  // between two prolonged cells are written by the upper cell.
  KOKKOS_INLINE_FUNCTION void fill_side(int d, int side, double (&values)[2][2]) const {
    int next[3] = {cell[0], cell[1], cell[2]}, plane[3] = {cell[0], cell[1], cell[2]};
    next[d] += 2 * side - 1;
    plane[d] += side;
    const bool is_near = next[d] >= -1 && next[d] <= coarse.layout.cells;
    const bool is_kept = is_near && has(block.known, next);
    if (!is_kept) refine_face(coarse, block.slot, d, plane, slope, values);
    const bool writes = !is_kept && (side == 0 || !is_near || has(block.outside, next));
    for (int b = 0; b < 2; ++b)
      for (int a = 0; a < 2; ++a) {
        if (is_kept) values[b][a] = face(d, 2 * side, b, a);
        else if (writes) face(d, 2 * side, b, a) = values[b][a];
      }
  }
};

void prolong(const DeviceArray<const OpenBlock>& open, const StaggeredView& coarse, FaceSlope slope,
             const StaggeredView& fine) {
  const int side = coarse.layout.cells + 2, cells = side * side * side;
  for_items(
      {"prolong faces"}, static_cast<std::int64_t>(open.extent(0)) * cells,
      KOKKOS_LAMBDA(std::int64_t n) {
        const auto m = static_cast<int>(n % cells);
        PatchCell{open(n / cells),
                  fine,
                  coarse,
                  slope,
                  {m % side - 1, m / side % side - 1, m / (side * side) - 1}}
            .fill();
      });
}

// Fills ghost faces beyond boundaries normal to `axis`, including those at edges and corners.
void fill_beyond(const DeviceArray<const BoundarySide>& sides, int axis,
                 const StaggeredView& faces) {
  const int N = faces.layout.cells, g = faces.layout.ghosts;
  const auto side = static_cast<int>(faces.layout.side);
  const int points = 3 * g * side * side;
  for_items(
      {"fill faces beyond boundaries"}, static_cast<std::int64_t>(sides.extent(0)) * points,
      KOKKOS_LAMBDA(std::int64_t n) {
        const BoundarySide boundary = sides(n / points);
        const auto m = static_cast<int>(n % points);
        const int component = m / (g * side * side), layer = m / (side * side) % g;
        const int nodal = component == axis ? 1 : 0;
        int to[3], from[3];
        to[first_transverse(axis)] = from[first_transverse(axis)] = m % side - g;
        to[second_transverse(axis)] = from[second_transverse(axis)] = m / side % side - g;
        // Layers are counted inwards from the outermost stored value.
        const int inwards = boundary.reflects ? layer + nodal : 0, last = N - 1 + nodal;
        to[axis] = boundary.side == 0 ? -1 - layer : last + 1 + layer;
        from[axis] = boundary.side == 0 ? inwards : last - inwards;
        const double value = faces(boundary.slot, component, from);
        faces(boundary.slot, component, to) = boundary.reflects && nodal ? -value : value;
      });
}

void average_faces(const DeviceArray<const OwnBlock>& blocks, const StaggeredView& fine,
                   const StaggeredView& mean) {
  for_points(
      {"restrict faces"}, blocks, mean.layout.cells, Centring::face,
      KOKKOS_LAMBDA(int slot, int d, const int(&point)[3]) {
        int at[3] = {2 * point[0], 2 * point[1], 2 * point[2]};
        const double corner = fine(slot, d, at);
        ++at[first_transverse(d)];
        const double below = corner + fine(slot, d, at);
        ++at[second_transverse(d)];
        const double opposite = fine(slot, d, at);
        --at[first_transverse(d)];
        mean(slot, d, point) = 0.25 * (below + (fine(slot, d, at) + opposite));
      });
}

void add_mean_forces(const DeviceArray<const OwnBlock>& blocks, const StaggeredView& forces,
                     double weight, const StaggeredView& sum) {
  for_points(
      {"restrict forces"}, blocks, sum.layout.cells, Centring::edge,
      KOKKOS_LAMBDA(int slot, int d, const int(&point)[3]) {
        int fine[3] = {2 * point[0], 2 * point[1], 2 * point[2]};
        const double first = forces(slot, d, fine);
        ++fine[d];
        sum(slot, d, point) += weight * (0.5 * (first + forces(slot, d, fine)));
      });
}

void subtract_curl(const DeviceArray<const OwnBlock>& blocks, const StaggeredView& old,
                   const StaggeredView& forces, double factor, const StaggeredView& faces) {
  for_points(
      {"advance faces"}, blocks, faces.layout.cells, Centring::face,
      KOKKOS_LAMBDA(int slot, int d, const int(&point)[3]) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        int above_e[3] = {point[0], point[1], point[2]},
            above_f[3] = {point[0], point[1], point[2]};
        ++above_e[e];
        ++above_f[f];
        const double along_e = forces(slot, f, above_e) - forces(slot, f, point);
        const double along_f = forces(slot, e, above_f) - forces(slot, e, point);
        faces(slot, d, point) = old(slot, d, point) - factor * (along_e - along_f);
      });
}

}  // namespace

// --- index ranges --------------------------------------------------------------------------------

namespace {

struct Range {
  int begin, end;
};

// Points of a block along an axis.
Range points(int cells, bool nodal) { return {0, cells + (nodal ? 1 : 0)}; }

// Points along an axis that a block reads from the neighbour at `offset`. A face between two blocks
// is read by the lower block only, or by both if `both_sides` is true.
Range ghost_points(const StaggeredLayout& layout, const std::array<int, 3>& offset, int component,
                   int axis, bool both_sides) {
  const Range inside = points(layout.cells, component == axis);
  if (offset[axis] == 0) return inside;
  if (offset[axis] > 0) return {layout.cells, inside.end + layout.ghosts};
  const bool is_face_neighbour =
      std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]) == 1;
  return {-layout.ghosts, component == axis && (both_sides || !is_face_neighbour) ? 1 : 0};
}

}  // namespace

FaceTransfer::FaceTransfer(const Mesh& mesh, const CommOptions& options, FaceSlope slope)
    : mesh_(mesh),
      slope_(slope),
      block_size_(mesh.layout().block_size),
      levels_(mesh.geometry().max_level() + 1),
      migration_("face migration", mesh.communicator(), options, -1, Buffers::of_device),
      patches_({.name = "coarse faces", .centring = Centring::face}, {block_size_ / 2, k_ghosts},
               static_cast<int>(levels_.size())),
      restricted_({.name = "restricted faces", .centring = Centring::face}, {block_size_ / 2, 0},
                  static_cast<int>(levels_.size())),
      register_({.name = "register of forces", .centring = Centring::edge}, {block_size_ / 2, 0},
                static_cast<int>(levels_.size())) {
  if (block_size_ < 4)
    throw InputError("mesh.block_size = {}: face-centred fields require at least 4", block_size_);
  for (int l = 0; l < std::ssize(levels_); ++l) {
    ghost_exchangers_.emplace_back("face ghosts", mesh.communicator(), options, l,
                                   Buffers::of_device);
    coarse_exchangers_.emplace_back("coarse faces", mesh.communicator(), options, l,
                                    Buffers::of_device);
  }
  follow({});
}

StaggeredField FaceTransfer::make_field(FieldInfo info) const {
  const int ghosts = info.centring == Centring::face ? k_ghosts : 0;
  StaggeredField field(std::move(info), {block_size_, ghosts}, static_cast<int>(levels_.size()));
  for (int l = 0; l < std::ssize(levels_); ++l) field.reserve(l, blocks(l).slots());
  return field;
}

// Copies of faces of the blocks in `is_source` to their neighbours on the same level.
std::vector<BoxCopy> FaceTransfer::ghost_copies(int level, const std::vector<bool>& is_source,
                                                bool both_sides) const {
  const StaggeredLayout layout(block_size_, k_ghosts);
  std::vector<BoxCopy> copies;
  for (const int slot : blocks(level).own()) {
    if (!is_source[slot]) continue;
    const auto keys = mesh_.geometry().keys_around(level, blocks(level).key(slot));
    const Neighbours& holders = blocks(level).neighbours(slot);
    for (int n = 0; n < 27; ++n) {
      if (n == k_middle || holders[n] == k_nobody) continue;
      const int rank = is_own(holders[n]) ? mesh_.communicator().rank() : rank_of(holders[n]);
      const int position = 26 - n;  // position of this block around the other
      const auto offset = offset_of(position);
      for (int component = 0; component < 3; ++component) {
        BoxCopy copy{rank, slot, {}, {keys[n], component, position, {}, {}}};
        for (int d = 0; d < 3; ++d) {
          const Range range = ghost_points(layout, offset, component, d, both_sides);
          copy.to.begin[d] = range.begin;
          copy.to.extent[d] = range.end - range.begin;
          copy.source_begin[d] = range.begin - offset[d] * block_size_;
        }
        copies.push_back(copy);
      }
    }
  }
  return copies;
}

// Copies from own blocks of the coarser level, with their ghosts, to the patches of children.
std::vector<BoxCopy> FaceTransfer::patch_copies(int level) const {
  std::vector<BoxCopy> copies;
  const int half = block_size_ / 2;
  for (const int slot : blocks(level - 1).own())
    for (int octant = 0; octant < 8; ++octant) {
      const int owner = mesh_.child_owners(level - 1, slot)[octant];
      if (owner < 0) continue;
      const Key child = child_key(blocks(level - 1).key(slot), octant);
      for (int component = 0; component < 3; ++component) {
        BoxCopy copy{owner, slot, {}, {child, component, k_middle, {}, {}}};
        for (int d = 0; d < 3; ++d) {
          copy.to.begin[d] = -k_ghosts;
          copy.to.extent[d] = points(half, component == d).end + 2 * k_ghosts;
          copy.source_begin[d] = (octant >> d & 1) * half - k_ghosts;
        }
        copies.push_back(copy);
      }
    }
  return copies;
}

// Copies of own blocks' restricted values to all blocks of the coarser level that store the same
// points: the parent and blocks adjacent to the octant of the parent.
std::vector<BoxCopy> FaceTransfer::restriction_copies(int level, Centring centring) const {
  std::vector<BoxCopy> copies;
  const int half = block_size_ / 2;
  for (const int slot : blocks(level).own()) {
    const Key key = blocks(level).key(slot);
    const auto octant = static_cast<int>(octant_of(key));
    const auto keys = mesh_.geometry().keys_around(level - 1, parent_key(key));
    for (int position = 0; position < 27; ++position) {
      if (keys[position] == k_no_key) continue;
      const Node* node = blocks(level - 1).find(keys[position]);
      if (node == nullptr) continue;
      const auto offset = offset_of(position);
      for (int component = 0; component < 3; ++component) {
        BoxCopy copy{node->owner, slot, {}, {keys[position], component, 26 - position, {}, {}}};
        bool is_empty = false;
        for (int d = 0; d < 3; ++d) {
          const bool nodal = is_nodal(centring, component, d);
          const int corner = (octant >> d & 1) * half, shift = offset[d] * block_size_;
          const int begin = std::max(corner, shift);
          const int end =
              std::min(corner + points(half, nodal).end, shift + points(block_size_, nodal).end);
          copy.to.begin[d] = begin - shift;
          copy.to.extent[d] = end - begin;
          copy.source_begin[d] = begin - corner;
          is_empty = is_empty || end <= begin;
        }
        if (!is_empty) copies.push_back(copy);
      }
    }
  }
  return copies;
}

Positions FaceTransfer::outside(int level, int slot) const {
  const auto keys = mesh_.geometry().keys_around(level, blocks(level).key(slot));
  Positions positions = 0;
  for (int n = 0; n < 27; ++n)
    if (keys[n] == k_no_key) positions |= Positions{1} << n;
  return positions;
}

void FaceTransfer::build_tables(int level) {
  Level& tables = levels_[level];
  const TreeLevel& own = blocks(level);
  const Communicator& communicator = mesh_.communicator();
  tables.ghosts = BoxMessages(communicator, own,
                              ghost_copies(level, std::vector<bool>(own.slots(), true), false));
  if (level > 0) {
    tables.patches = BoxMessages(communicator, own, patch_copies(level));
    tables.faces =
        BoxMessages(communicator, blocks(level - 1), restriction_copies(level, Centring::face));
    tables.forces =
        BoxMessages(communicator, blocks(level - 1), restriction_copies(level, Centring::edge));
  }
  std::vector<OpenBlock> open;
  std::vector<BoundarySide> sides[3];
  tables.keys.assign(own.slots(), k_no_key);
  for (const int slot : own.own()) {
    tables.keys[slot] = own.key(slot);
    OpenBlock block{slot, Positions{1} << k_middle, outside(level, slot)};
    for (int n = 0; n < 27; ++n)
      if (own.neighbours(slot)[n] != k_nobody) block.known |= Positions{1} << n;
    if ((block.known | block.outside) != k_all_positions) open.push_back(block);
    for (int face = 0; face < 6; ++face)
      if (block.outside >> k_face_neighbours[face] & 1)
        sides[face / 2].push_back(
            {slot, face % 2,
             mesh_.geometry().boundary(face / 2, face % 2) == Boundary::reflecting});
  }
  tables.open = to_device("open blocks", open);
  for (int axis = 0; axis < 3; ++axis) tables.sides[axis] = to_device("boundaries", sides[axis]);
  for (StaggeredField* work : {&patches_, &restricted_, &register_})
    if (level > 0) work->reserve(level, own.slots());
}

// --- change of structure -------------------------------------------------------------------------

void FaceTransfer::follow(std::span<StaggeredField* const> fields) {
  std::vector<std::vector<bool>> is_filled;
  bool any_new = false;
  for (int l = 0; l < std::ssize(levels_); ++l) {
    is_filled.push_back(move_blocks(l, fields));
    for (const int slot : blocks(l).own()) any_new = any_new || !is_filled[l][slot];
    build_tables(l);
  }
  if (!mesh_.communicator().any(any_new)) return;
  for (const StaggeredField* faces : fields) {
    for (int l = 1; l <= mesh_.finest_level(); ++l) {
      fill_ghosts(l - 1, *faces);
      prolong_new_blocks(l, is_filled[l], *faces);
    }
    for (int l = mesh_.finest_level(); l > 0; --l) restrict_faces(l, *faces);
  }
}

// Migrates the values of blocks to their new owners. Returns, by slot, which blocks have values.
std::vector<bool> FaceTransfer::move_blocks(int level, std::span<StaggeredField* const> fields) {
  const TreeLevel& own = blocks(level);
  const std::vector<Key>& former = levels_[level].keys;
  std::vector<bool> is_filled(own.slots());
  std::vector<Key> keys;
  std::vector<int> slots;
  for (int slot = 0; slot < std::ssize(former); ++slot) {
    if (former[slot] == k_no_key) continue;
    if (slot < own.slots() && own.key(slot) == former[slot]) {
      is_filled[slot] = true;
      continue;
    }
    keys.push_back(former[slot]);
    slots.push_back(slot);
  }
  const auto owners = mesh_.tree().owners(level, keys);
  std::vector<BoxCopy> copies;
  for (std::size_t n = 0; n < keys.size(); ++n)
    for (int component = 0; component < 3 && owners[n] >= 0; ++component) {
      BoxCopy copy{owners[n], slots[n], {}, {keys[n], component, k_middle, {}, {}}};
      for (int d = 0; d < 3; ++d) copy.to.extent[d] = points(block_size_, component == d).end;
      copies.push_back(copy);
    }
  const BoxMessages messages(mesh_.communicator(), own, std::move(copies));
  for (const auto& [slot, position] : messages.arrivals()) is_filled[slot] = true;
  for (StaggeredField* faces : fields) {
    faces->reserve(level, own.slots());
    messages.run(migration_, faces->view(level), faces->view(level));
  }
  return is_filled;
}

// Sets the faces of new blocks. Faces shared with filled neighbours are copied and kept; all others
// are prolonged.
void FaceTransfer::prolong_new_blocks(int level, const std::vector<bool>& is_filled,
                                      const StaggeredField& faces) {
  const BoxMessages messages(mesh_.communicator(), blocks(level),
                             ghost_copies(level, is_filled, true));
  std::vector<Positions> known(blocks(level).slots(), 0);
  for (const auto& [slot, position] : messages.arrivals()) known[slot] |= Positions{1} << position;
  std::vector<OpenBlock> open;
  for (const int slot : blocks(level).own())
    if (!is_filled[slot]) open.push_back({slot, known[slot], outside(level, slot)});
  messages.run(migration_, faces.view(level), faces.view(level));
  fill_open(level, faces, faces, 1.0, to_device("new blocks", open));
}

// --- ghosts and coupling of levels ---------------------------------------------------------------

void FaceTransfer::fill_open(int level, const StaggeredField& faces, const StaggeredField& earlier,
                             double theta, const DeviceArray<const OpenBlock>& open) {
  levels_[level].patches.run(coarse_exchangers_[level], earlier.view(level - 1),
                             faces.view(level - 1), theta, patches_.view(level));
  prolong(open, patches_.view(level), slope_, faces.view(level));
}

void FaceTransfer::fill_ghosts(int level, const StaggeredField& faces,
                               const StaggeredField& earlier, double theta) {
  const Level& tables = levels_[level];
  tables.ghosts.run(ghost_exchangers_[level], faces.view(level), faces.view(level));
  if (level > 0) fill_open(level, faces, earlier, theta, tables.open);
  for (int axis = 0; axis < 3; ++axis) fill_beyond(tables.sides[axis], axis, faces.view(level));
}

void FaceTransfer::restrict_faces(int fine_level, const StaggeredField& faces) {
  average_faces(mesh_.cells(fine_level).blocks, faces.view(fine_level),
                restricted_.view(fine_level));
  levels_[fine_level].faces.run(coarse_exchangers_[fine_level], restricted_.view(fine_level),
                                faces.view(fine_level - 1));
}

void FaceTransfer::clear_forces(int fine_level) {
  if (register_.array(fine_level).size() > 0) fill(register_.array(fine_level), 0.0);
}

void FaceTransfer::add_forces(int fine_level, const StaggeredField& forces, double weight) {
  add_mean_forces(mesh_.cells(fine_level).blocks, forces.view(fine_level), weight,
                  register_.view(fine_level));
}

void FaceTransfer::restrict_emfs(int fine_level, const StaggeredField& forces) {
  levels_[fine_level].forces.run(coarse_exchangers_[fine_level], register_.view(fine_level),
                                 forces.view(fine_level - 1));
}

void FaceTransfer::advance(int level, const StaggeredField& faces, const StaggeredField& old,
                           const StaggeredField& forces, double dt) const {
  subtract_curl(mesh_.cells(level).blocks, old.view(level), forces.view(level),
                dt / mesh_.geometry().cell_size(level), faces.view(level));
}

}  // namespace octant::mesh
