// Whole rows along x of a flow whose steps store fields in pencils along z.
//
// Sums of rows, samples of statistics and files need whole rows, in the same order of summation as
// for fields in x-pencils, so that results have the same bits. Ranks of a column exchange them by
// one direct transpose.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "dns/ghosts.hpp"
#include "dns/kernel_launch.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::dns {

// Transposes of quantities between the pencils of a step and x-pencils, with the faces on lower
// outflow sides, which are part of the state.
class WholeRows {
 public:
  // `rows` is the domain in x-pencils, `steps` that of a step in z_direct pencils. The memory of
  // `options` holds the messages. Collective.
  WholeRows(const Domain& rows, const Domain& steps, const pencil::BatchedOptions& options);

  // Copies the cells of a quantity (ghosts.hpp) from the pencils of a step to x-pencils. Ghosts are
  // not copied. Collective over the ranks of a column.
  void gather(int quantity, const FieldView& field, const FieldView& rows);
  // Copies the cells of a quantity from x-pencils to the pencils of a step. Collective over the
  // ranks of a column.
  void scatter(int quantity, const FieldView& rows, const FieldView& field);
  // Copies only the rows on either side of the boundaries along z and, if `along_y`, along y, with
  // their values beyond the boundary. Other rows are not changed. Collective over the ranks of a
  // column.
  void gather_sides(bool along_y, const FieldView& field, const FieldView& rows);

  // Messages and bytes sent so far.
  pencil::TransposeTraffic traffic() const;

 private:
  // A transpose of part of the cells, and the corners of the part in local indices on both sides.
  struct Part {
    pencil::Box field, rows;
    pencil::BatchedTranspose transpose;
  };
  using PartOf = std::function<pencil::Box(const pencil::Box&)>;

  Part part(const PartOf& part_of_box, const pencil::BatchedOptions& options) const;
  Part& of_quantity(int quantity);

  const Domain &rows_, &steps_;
  std::optional<Part> cells_;
  std::array<std::optional<Part>, k_components> with_faces_;  // lower outflow sides, by component
  std::array<std::array<std::optional<Part>, 2>, 3> sides_;   // by axis and end
};

}  // namespace octant::dns
