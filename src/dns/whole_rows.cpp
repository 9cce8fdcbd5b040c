#include "dns/whole_rows.hpp"

#include <utility>

namespace octant::dns {

namespace {

using pencil::Box;

// Returns the box with the faces below its first cells along an axis, if it begins at the side.
Box with_lower_faces(Box box, int axis) {
  if (box[axis].begin == 0) box.range[axis].begin = -1;
  return box;
}

// Returns the layers on either side of a boundary; empty if the box does not adjoin it.
Box beside_boundary(Box box, int axis, int end, int cells) {
  Range& range = box.range[axis];
  const int face = end == 0 ? 0 : cells;
  const bool adjoins = end == 0 ? range.begin == 0 : range.end == cells;
  range = adjoins ? Range{face - 1, face + 1} : Range{0, 0};
  return box;
}

// Returns the part of a view with the given global indices; `whole` is the box of the view's cells.
FieldView view_of_part(const FieldView& view, const Box& whole, const Box& part) {
  const auto local = [&](int axis) {
    const int first = whole[axis].begin;
    return Range{part[axis].begin - first, part[axis].end - first};
  };
  if (part.cells() == 0) return {view.first, view.row_stride, view.plane_stride, 0, 0, 0};
  return part_of(view, local(0), local(1), local(2));
}

}  // namespace

WholeRows::WholeRows(const Domain& rows, const Domain& steps, const pencil::BatchedOptions& options)
    : rows_(rows), steps_(steps) {
  cells_.emplace(part([](const Box& box) { return box; }, options));
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      if (end == 0 && rows.boundaries.side(axis, 0) == Side::outflow)
        with_faces_[axis].emplace(
            part([axis](const Box& box) { return with_lower_faces(box, axis); }, options));
      if (axis == 0 || rows.boundaries.periodic(axis)) continue;
      const int cells = rows.grid.cells[axis];
      sides_[axis][end].emplace(
          part([=](const Box& box) { return beside_boundary(box, axis, end, cells); }, options));
    }
}

WholeRows::Part WholeRows::part(const PartOf& part_of_box,
                                const pencil::BatchedOptions& options) const {
  const pencil::PencilGrid& grid = rows_.pencils;
  const auto box_of = [grid, part_of_box](pencil::Orientation orientation) {
    return [=](int z_index) {
      return part_of_box(grid.box(orientation, grid.rank_of(grid.y_index(), z_index)));
    };
  };
  return {part_of_box(steps_.box), part_of_box(rows_.box),
          pencil::BatchedTranspose("x-z transpose", grid.column(), box_of(steps_.orientation),
                                   box_of(rows_.orientation), options.comm, options.memory)};
}

WholeRows::Part& WholeRows::of_quantity(int quantity) {
  if (quantity < k_components && with_faces_[quantity]) return *with_faces_[quantity];
  return *cells_;
}

void WholeRows::gather(int quantity, const FieldView& field, const FieldView& rows) {
  Part& part = of_quantity(quantity);
  part.transpose.forward(view_of_part(field, steps_.box, part.field),
                         view_of_part(rows, rows_.box, part.rows));
}

void WholeRows::scatter(int quantity, const FieldView& rows, const FieldView& field) {
  Part& part = of_quantity(quantity);
  part.transpose.backward(view_of_part(rows, rows_.box, part.rows),
                          view_of_part(field, steps_.box, part.field));
}

void WholeRows::gather_sides(bool along_y, const FieldView& field, const FieldView& rows) {
  for (int axis = along_y ? 1 : 2; axis < 3; ++axis)
    for (std::optional<Part>& side : sides_[axis])
      if (side)
        side->transpose.forward(view_of_part(field, steps_.box, side->field),
                                view_of_part(rows, rows_.box, side->rows));
}

pencil::TransposeTraffic WholeRows::traffic() const {
  pencil::TransposeTraffic sum = cells_->transpose.traffic();
  for (const std::optional<Part>& part : with_faces_)
    if (part) sum += part->transpose.traffic();
  for (const auto& ends : sides_)
    for (const std::optional<Part>& part : ends)
      if (part) sum += part->transpose.traffic();
  return sum;
}

}  // namespace octant::dns
