#include "gravity/coarse_boxes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/route.hpp"
#include "core/compiler.hpp"
#include "core/observer.hpp"
#include "gravity/patch_scratch.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int k_reach = 2;  // coarse cells by which a box extends beyond its patch

// Part of the box around a fine patch that lies in one coarse patch. Offsets in the box and in the
// patch, and size, in coarse cells.
struct Part {
  Key coarse;
  std::int32_t fine_slot;
  std::array<std::int16_t, 3> in_box, in_patch, size;
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// Section of a box along one axis that lies in one coarse patch.
struct Cut {
  std::int64_t patch;  // coordinate of the patch, wrapped into the domain
  std::int16_t in_box, in_patch, size;
};

std::vector<Cut> cut_axis(std::int64_t first, int side, int patch_side, std::int64_t extent,
                          bool periodic) {
  std::vector<Cut> cuts;
  for (std::int64_t c = first; c < first + side;) {
    const std::int64_t patch = floor_divide(c, patch_side);
    const std::int64_t end = std::min((patch + 1) * patch_side, first + side);
    const std::int64_t wrapped = periodic ? (patch % extent + extent) % extent : patch;
    if (wrapped >= 0 && wrapped < extent)
      cuts.push_back({wrapped, static_cast<std::int16_t>(c - first),
                      static_cast<std::int16_t>(c - patch * patch_side),
                      static_cast<std::int16_t>(end - c)});
    c = end;
  }
  return cuts;
}

// Unpacks cells from a message into boxes of side^2 rows.
void unpack_cells(const DeviceArray<const PatchCopy>& tasks, int side, int row,
                  const double* message, double* boxes) {
  for_items_of(
      "gravity: unpack boxes", tasks, KOKKOS_LAMBDA(const PatchCopy& task, int n) {
        const double* line = message + task.value_offset(n);
        double* to = boxes +
                     ((std::int64_t{task.slot} * side + task.k(n)) * side + task.j(n)) * row +
                     task.begin[0];
        for (int i = 0; i < task.length(); ++i) to[i] = line[i];
      });
}

// Copies cells of coarse patches of C^3 cells to a message and to boxes of side^2 rows.
void copy_coarse_cells(const DeviceArray<const PatchCopy>& sent, double* message,
                       const DeviceArray<const BoxPart>& parts,
                       const DeviceArray<const StripTable>& strips, int C, const double* phi,
                       int side, int row, double* boxes) {
  const auto copy_row = KOKKOS_LAMBDA(int slot, int i, int j, int k, int length, double* to) {
    const double* from = row_of(strips.data(), C, phi, slot, j, k);
    for (int n = 0; n < length; ++n) to[n] = from ? from[split(i + n, C)] : 0.0;
  };
  const int packed = static_cast<int>(sent.extent(0));
  for_teams(
      "gravity: copy to boxes", packed + parts.extent(0), {}, KOKKOS_LAMBDA(const Team& team) {
        const int task = team.league_rank();
        if (task < packed) {
          const PatchCopy& p = sent(task);
          in_team(team, p.rows(), [&](int n) {
            copy_row(p.slot, p.begin[0], p.j(n), p.k(n), p.length(), message + p.value_offset(n));
          });
        } else {
          const BoxPart& p = parts(task - packed);
          in_team(team, p.rows(), [&](int n) {
            const int j = n % p.size[1], k = n / p.size[1];
            copy_row(p.patch, p.in_patch[0], p.in_patch[1] + j, p.in_patch[2] + k, p.size[0],
                     boxes +
                         ((std::int64_t{p.box} * side + p.in_box[2] + k) * side + p.in_box[1] + j) *
                             row +
                         p.in_box[0]);
          });
        }
      });
}

// Sets the listed cells to the product of `factor` and values.
void put_cells(const DeviceArray<const std::int64_t>& cells,
               const DeviceArray<const double>& values, double factor,
               const DeviceArray<double>& boxes) {
  for_items(
      "gravity: far cells", values.extent(0),
      KOKKOS_LAMBDA(const std::int64_t n) { boxes(cells(n)) = factor * values(n); });
}

// Extrapolates values before `begin` and from `end` on with a polynomial through the nearest three
// (or fewer) values of the range.
KOKKOS_INLINE_FUNCTION void extrapolate_line(double* line, std::int64_t stride, int side, int begin,
                                             int end) {
  const int given = end - begin;
  const auto next = [&](int at, int inwards) {
    const auto value = [&](int n) { return line[(at + n * inwards) * stride]; };
    if (given == 1) return value(1);
    if (given == 2) return 2.0 * value(1) - value(2);
    return 3.0 * (value(1) - value(2)) + value(3);
  };
  for (int n = begin - 1; n >= 0; --n) line[n * stride] = next(n, 1);
  for (int n = end; n < side; ++n) line[n * stride] = next(n, -1);
}

// Extrapolates beyond the domain, axis by axis, including the values that earlier axes have added.
// Boxes have side^2 rows.
void extrapolate(const DeviceArray<const CellsInside>& inside, int side, int row,
                 const DeviceArray<double>& boxes) {
  for_items(
      "gravity: extrapolate", inside.extent(0), KOKKOS_LAMBDA(const std::int64_t task) {
        const CellsInside in = inside(task);
        const std::int64_t strides[3] = {1, row, std::int64_t{side} * row};
        double* box = boxes.data() + in.slot * side * strides[2];
        OCTANT_UNROLL(3)
        for (int axis = 0; axis < 3; ++axis) {
          const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
          const int a_begin = a < axis ? 0 : in.begin[a], a_end = a < axis ? side : in.end[a];
          const int b_begin = b < axis ? 0 : in.begin[b], b_end = b < axis ? side : in.end[b];
          for (int m = b_begin; m < b_end; ++m)
            for (int n = a_begin; n < a_end; ++n)
              extrapolate_line(box + n * strides[a] + m * strides[b], strides[axis], side,
                               in.begin[axis], in.end[axis]);
        }
      });
}

}  // namespace

CoarseBoxes::CoarseBoxes(const LevelPatches& fine, const LevelPatches* coarse,
                         const mesh::Geometry& geometry, const CommOptions& options,
                         mesh::FieldPool& pool)
    : geometry_(geometry),
      pool_(pool),
      level_(fine.level()),
      own_(fine.own()),
      fine_side_(fine.side()),
      side_(fine.side() / 2 + 2 * k_reach),
      row_(rounded_up(side_)),
      exchanger_("gravity boxes", fine.communicator(), options, fine.level(), Buffers::of_device),
      base_(coarse == nullptr) {
  find_far_cells(fine);
  if (coarse) plan_copies(fine, *coarse);
  else need_far_field_ = fine.communicator().any(!groups_.empty());
}

void CoarseBoxes::plan_copies(const LevelPatches& fine, const LevelPatches& coarse) {
  coarse_side_ = coarse.side();
  coarse_strips_ = coarse.strips();
  std::vector<Part> parts;
  for (int slot = 0; slot < own_; ++slot) {
    const BlockCoordinates corner = morton_decode(fine.key(slot));
    std::array<std::vector<Cut>, 3> cuts;
    for (int d = 0; d < 3; ++d)
      cuts[d] = cut_axis(std::int64_t{corner[d]} * fine_side_ / 2 - k_reach, side_, coarse_side_,
                         coarse.extent()[d], geometry_.periodic(d));
    for (const Cut& z : cuts[2])
      for (const Cut& y : cuts[1])
        for (const Cut& x : cuts[0])
          parts.push_back({morton_encode({static_cast<BlockCoordinate>(x.patch),
                                          static_cast<BlockCoordinate>(y.patch),
                                          static_cast<BlockCoordinate>(z.patch)}),
                           slot,
                           {x.in_box, y.in_box, z.in_box},
                           {x.in_patch, y.in_patch, z.in_patch},
                           {x.size, y.size, z.size}});
  }
  std::vector<Key> keys;
  for (const Part& part : parts) keys.push_back(part.coarse);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const std::vector<PatchFacts> attributes = coarse.directory().find_owners(keys);
  const auto owner = [&](const Part& part) {
    return attributes[std::lower_bound(keys.begin(), keys.end(), part.coarse) - keys.begin()].owner;
  };
  std::erase_if(parts, [&](const Part& part) { return owner(part) < 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return owner(a) < owner(b); });
  std::vector<BoxPart> local;
  for (const Part& part : parts)
    if (const int patch = coarse.find(part.coarse); patch >= 0)
      local.push_back({patch, part.fine_slot, part.in_patch, part.in_box, part.size});
  for (const BoxPart& part : local)
    local_cells_ += std::int64_t{part.size[0]} * part.size[1] * part.size[2];
  local_ = mesh::to_device("box parts", local);
  std::erase_if(parts, [&](const Part& part) { return coarse.find(part.coarse) >= 0; });

  const auto copy_of = [](std::int32_t slot, const std::array<std::int16_t, 3>& begin,
                          const Part& part, std::int64_t& offset) {
    PatchCopy copy{slot, begin, begin, offset};
    std::int64_t cells = 1;
    for (int d = 0; d < 3; ++d) {
      copy.end[d] = static_cast<std::int16_t>(copy.end[d] + part.size[d]);
      cells *= part.size[d];
    }
    offset += cells;
    return std::pair(copy, cells);
  };
  std::vector<PatchCopy> received_regions, sent_regions;
  std::vector<Segment> receives, sends;
  std::vector<int> owners;
  std::int64_t offset = 0;
  for (const Part& part : parts) {
    const auto [copy, cells] = copy_of(part.fine_slot, part.in_box, part, offset);
    received_regions.push_back(copy);
    owners.push_back(owner(part));
    count_items(receives, owners.back(), cells);
  }
  std::int64_t need_far_field = groups_.empty() ? 0 : 1;
  const auto received = route<Part>(fine.communicator(), owners, parts, need_far_field);
  need_far_field_ = need_far_field != 0;
  offset = 0;
  for (std::size_t n = 0; n < received.items.size(); ++n) {
    const Part& part = received.items[n];
    const auto [copy, cells] = copy_of(coarse.find(part.coarse), part.in_patch, part, offset);
    sent_regions.push_back(copy);
    count_items(sends, received.sources[n], cells);
  }
  sent_regions_ = mesh::to_device("box regions sent", sent_regions);
  received_regions_ = mesh::to_device("box regions received", received_regions);
  plan_ =
      std::make_unique<ExchangePlan>(fine.communicator(), std::move(sends), std::move(receives));
}

// Finds the cells that require the far field: cells beyond open boundaries and, on the base level,
// the first layer inside, because ghost cells are interpolated from cells on both sides.
void CoarseBoxes::find_far_cells(const LevelPatches& fine) {
  struct FarCell {
    std::array<std::int64_t, 3> cube;  // cube of k_group_edge^3 coarse cells that contains the cell
    std::int64_t cell;
    std::array<double, 3> position;
  };
  constexpr std::int64_t k_group_edge = 4;
  std::vector<FarCell> cells;
  std::vector<CellsInside> near_boundary;
  const double width = 2.0 * geometry_.cell_size(level_);
  const int inside = base_ ? 1 : 0;
  const auto is_open = [&](int d) { return !geometry_.periodic(d); };
  for (int slot = 0; slot < own_; ++slot) {
    const BlockCoordinates corner = morton_decode(fine.key(slot));
    bool near = false;
    std::array<std::array<bool, 2>, 3> ends;
    for (int d = 0; d < 3; ++d) {
      ends[d] = {is_open(d) && corner[d] == 0, is_open(d) && corner[d] + 1 == fine.extent()[d]};
      near = near || ends[d][0] || ends[d][1];
    }
    if (!near) continue;
    CellsInside& range = near_boundary.emplace_back(CellsInside{slot, {}, {}});
    std::array<std::int64_t, 3> first, extent;
    for (int d = 0; d < 3; ++d) {
      first[d] = std::int64_t{corner[d]} * fine_side_ / 2 - k_reach;
      extent[d] = fine.extent()[d] * fine_side_ / 2;
      range.begin[d] = static_cast<std::int16_t>(ends[d][0] ? -first[d] : 0);
      range.end[d] = static_cast<std::int16_t>(ends[d][1] ? extent[d] - first[d] : side_);
    }
    for (int n = 0; n < side_ * side_ * side_; ++n) {
      const std::array<int, 3> in_box{n % side_, n / side_ % side_, n / (side_ * side_)};
      FarCell cell;
      bool far = false;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t c = first[d] + in_box[d];
        far = far || (ends[d][0] && c < inside) || (ends[d][1] && c >= extent[d] - inside);
        cell.cube[d] = floor_divide(c, k_group_edge);
        cell.position[d] = geometry_.lower()[d] + (static_cast<double>(c) + 0.5) * width;
      }
      if (!far) continue;
      cell.cell = ((std::int64_t{slot} * side_ + in_box[2]) * side_ + in_box[1]) * row_ + in_box[0];
      cells.push_back(cell);
    }
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const FarCell& a, const FarCell& b) { return a.cube < b.cube; });
  std::vector<std::int64_t> indices;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (n == 0 || cells[n].cube != cells[n - 1].cube) {
      PointGroup& group = groups_.emplace_back();
      for (int d = 0; d < 3; ++d)
        group.centre[d] = geometry_.lower()[d] +
                          (static_cast<double>(cells[n].cube[d]) + 0.5) * k_group_edge * width;
      group.radius = 0.5 * static_cast<double>(k_group_edge - 1) * width * std::sqrt(3.0);
    }
    groups_.back().points.push_back(cells[n].position);
    indices.push_back(cells[n].cell);
  }
  far_cells_ = mesh::to_device("far cells", indices);
  inside_ = mesh::to_device("cells inside", near_boundary);
}

void CoarseBoxes::set_far_field(const std::vector<double>& potentials) {
  far_values_ = mesh::to_device("far potentials", potentials);
}

void CoarseBoxes::copy_coarse(const double* coarse_phi) {
  const auto sent = pool_.allocate("box message", plan_->items_sent());
  const auto received = pool_.allocate("box message", plan_->items_received());
  record_kernel_work("gravity: copy to boxes", local_cells_ + plan_->items_sent(), {16.0, 0.0});
  copy_coarse_cells(sent_regions_, sent.data(), local_, coarse_strips_, coarse_side_, coarse_phi,
                    side_, row_, boxes_.data());
  exchanger_.run<double>(*plan_, sent.data(), received.data(), 1);
  unpack_cells(received_regions_, side_, row_, received.data(), boxes_.data());
}

void CoarseBoxes::fill(const double* coarse_phi, double G) {
  boxes_ = pool_.allocate("coarse boxes", std::int64_t{own_} * side_ * side_ * row_);
  octant::fill(boxes_, 0.0);
  if (plan_) copy_coarse(coarse_phi);
  if (groups_.empty()) return;
  const bool far = G != 0.0 && far_values_.extent(0) > 0;
  if (far) put_cells(far_cells_, far_values_, G, boxes_);
  else if (!base_) extrapolate(inside_, side_, row_, boxes_);
}

}  // namespace octant::gravity
