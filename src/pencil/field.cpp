#include "pencil/field.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/memory_transfer.hpp"
#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

Buffer::Buffer(std::size_t count) : size_(count) {
  if (count == 0) return;
  constexpr std::size_t k_cache_line = 64, k_huge_page = std::size_t{2} << 20;
  const std::size_t bytes = count * sizeof(double);
  const bool is_large = bytes >= k_huge_page;
  void* memory = nullptr;
  if (posix_memalign(&memory, is_large ? k_huge_page : k_cache_line, bytes) != 0)
    throw std::bad_alloc();
  data_.reset(static_cast<double*>(memory));
#if defined(__linux__)
  // The remainder after whole huge pages uses small pages, which saves memory.
  if (is_large) madvise(memory, bytes / k_huge_page * k_huge_page, MADV_HUGEPAGE);
#endif
  std::memset(data_.get(), 0, bytes);
  count_array("fields and lines of pencils", memory, static_cast<std::int64_t>(bytes));
}

void Buffer::Free::operator()(double* memory) const {
  forget_array(memory);
  std::free(memory);
}

namespace {

// Rounds up to a multiple of a unit.
int rounded_up(int count, int unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

// Planes are large enough to store their transform coefficients (PoissonOptions::kept).
FieldLayout::FieldLayout(const Box& x_pencil)
    : nx(x_pencil[0].count()),
      ny(x_pencil[1].count()),
      nz(x_pencil[2].count()),
      row_stride(
          std::max(rounded_up(nx, 4) + 2 * Field::k_pad, rounded_up(nx + nx % 2, k_columns))),
      plane_stride(row_stride * (ny + 2)) {}

Field::Field(const Box& x_pencil)
    : box_(x_pencil),
      layout_(x_pencil),
      data_(static_cast<std::size_t>(layout_.plane_stride) * (layout_.nz + 3)) {}

void Field::copy_row(int k, int to, int from, int plane_offset) {
  std::copy_n(row(k, from, plane_offset) - k_pad, row_stride(), row(k, to, plane_offset) - k_pad);
}

// --- fields in device memory ---------------------------------------------------------------------

namespace {

// Number of doubles from the beginning of plane -1 to cell 0 of row 0 of plane 0.
std::ptrdiff_t offset_of_home(std::ptrdiff_t row_stride, std::ptrdiff_t plane_stride) {
  return plane_stride + row_stride + Field::k_pad;
}

template <class Value>
using HostView = Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

// Returns a field's memory from plane -1 on as a view.
template <class FieldType>
auto host_view(FieldType& field, std::size_t size) {
  auto* home = field.row(0, 0);
  auto* begin = home - offset_of_home(field.row_stride(), field.plane_stride());
  return HostView<std::remove_pointer_t<decltype(begin)>>(begin, size);
}

void require_same_layout(const FieldView& view, const Field& field) {
  OCTANT_REQUIRE(view.nx == field.nx() && view.ny == field.ny() && view.nz == field.nz(),
                 "a field of {} x {} x {} cells cannot be copied to one of {} x {} x {}",
                 field.nx(), field.ny(), field.nz(), view.nx, view.ny, view.nz);
}

struct CopyScaled {
  FieldView from, to;
  double factor;

  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    to.row(k, j)[i] = factor * from.row(k, j)[i];
  }
};

// Copies of different shapes in one launch, which iterates over the largest shape for each copy.
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
    if (count_ > 0) for_points("pencil: copy cells", {cells_, rows_, count_}, *this);
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
                 "{} x {} x {} cells cannot be copied to {} x {} x {}", from.nx, from.ny, from.nz,
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
  for_points("pencil: copy cells", {from.nx, from.ny, from.nz}, CopyScaled{from, to, factor});
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
  copy_to_device(TransferKind::fields, data_, host_view(field, data_.size()));
}

void DeviceField::copy_to(Field& field) const {
  require_same_layout(view_, field);
  copy_to_host(TransferKind::fields, host_view(field, data_.size()), data_);
}

}  // namespace octant::pencil
