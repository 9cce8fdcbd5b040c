#include "pencil/device_field.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/residency.hpp"

namespace octant::pencil {

namespace {

// Doubles from the beginning of plane -1 to cell 0 of row 0 of plane 0.
std::ptrdiff_t offset_of_home(std::ptrdiff_t row_stride, std::ptrdiff_t plane_stride) {
  return plane_stride + row_stride + Field::k_pad;
}

template <class Value>
using HostView = Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

// A field's memory from plane -1 on.
template <class FieldType>
auto host_view(FieldType& field, std::size_t size) {
  auto* home = field.row(0, 0);
  auto* begin = home - offset_of_home(field.row_stride(), field.plane_stride());
  return HostView<std::remove_pointer_t<decltype(begin)>>(begin, size);
}

void require_same_layout(const FieldView& view, const Field& field) {
  OCTANT_REQUIRE(view.nx == field.nx() && view.ny == field.ny() && view.nz == field.nz(),
                 "a field of {} x {} x {} cells cannot be copied onto one of {} x {} x {}",
                 field.nx(), field.ny(), field.nz(), view.nx, view.ny, view.nz);
}

using Cells3 = Kokkos::MDRangePolicy<Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                     Kokkos::IndexType<int>>;

struct CopyScaled {
  FieldView from, to;
  double factor;

  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    to.row(k, j)[i] = factor * from.row(k, j)[i];
  }
};

// Copies of different shapes: as many cells are gone through for each as the largest one has.
class CopyTogether {
 public:
  static constexpr int k_most = 16;

  void add(const CellCopy& copy) {
    copies_[count_++] = copy;
    cells_ = std::max(cells_, copy.from.nx);
    rows_ = std::max(rows_, copy.from.ny * copy.from.nz);
  }
  bool is_full() const { return count_ == k_most; }
  void launch() const {
    if (count_ > 0)
      Kokkos::parallel_for("pencil: copy cells", Cells3({0, 0, 0}, {cells_, rows_, count_}), *this);
  }

  KOKKOS_FUNCTION void operator()(int i, int row, int n) const {
    const FieldView &from = copies_[n].from, &to = copies_[n].to;
    const int j = row % from.ny, k = row / from.ny;
    if (i < from.nx && k < from.nz) to.row(k, j)[i] = from.row(k, j)[i];
  }

 private:
  CellCopy copies_[k_most];
  int count_ = 0, cells_ = 0, rows_ = 0;
};

void require_same_cells(const FieldView& from, const FieldView& to) {
  OCTANT_REQUIRE(from.nx == to.nx && from.ny == to.ny && from.nz == to.nz,
                 "{} x {} x {} cells cannot be copied onto {} x {} x {}", from.nx, from.ny, from.nz,
                 to.nx, to.ny, to.nz);
}

}  // namespace

void copy_cells(std::span<const CellCopy> copies) {
  CopyTogether together;
  for (const CellCopy& copy : copies) {
    require_same_cells(copy.from, copy.to);
    if (is_empty(copy.from)) continue;
    if (together.is_full()) {
      together.launch();
      together = {};
    }
    together.add(copy);
  }
  together.launch();
}

void copy_cells(const FieldView& from, const FieldView& to, double factor) {
  require_same_cells(from, to);
  if (is_empty(from)) return;
  Kokkos::parallel_for("pencil: copy cells", Cells3({0, 0, 0}, {from.nx, from.ny, from.nz}),
                       CopyScaled{from, to, factor});
}

DeviceField::DeviceField(const Box& x_pencil) {
  const FieldLayout layout(x_pencil);
  data_ = DeviceArray<double>("field", layout.plane_stride * (layout.nz + 2));
  view_ = {data_.data() + offset_of_home(layout.row_stride, layout.plane_stride),
           layout.row_stride,
           layout.plane_stride,
           layout.nx,
           layout.ny,
           layout.nz};
}

void DeviceField::copy_from(const Field& field) {
  require_same_layout(view_, field);
  copy_to_device(Cargo::fields, data_, host_view(field, data_.size()));
}

void DeviceField::copy_to(Field& field) const {
  require_same_layout(view_, field);
  copy_to_host(Cargo::fields, host_view(field, data_.size()), data_);
}

}  // namespace octant::pencil
