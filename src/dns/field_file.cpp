#include "dns/field_file.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant::dns {

namespace {

pencil::Box slab(const Domain& domain, int rank) {
  const auto& cells = domain.grid.cells;
  const RowRange planes = even_share(cells[2], rank, domain.pencils.communicator().size());
  pencil::Box box;
  box.range[0] = {0, cells[0]};
  box.range[1] = {0, cells[1]};
  box.range[2] = {static_cast<int>(planes.begin), static_cast<int>(planes.end())};
  return box;
}

pencil::Transpose make_transpose(const Domain& domain) {
  const pencil::PencilGrid& pencils = domain.pencils;
  const auto source = [&pencils](int rank) { return pencils.box(pencil::Orientation::x, rank); };
  const auto target = [&domain](int rank) { return slab(domain, rank); };
  const int rank = pencils.communicator().rank();
  return pencil::Transpose("fields in files", pencils.communicator(), source, target,
                           pencil::Layout::ordered(source(rank)),
                           pencil::Layout::ordered(target(rank)), pencil::TransposeBackend::p2p);
}

}  // namespace

FieldShuffle::FieldShuffle(const Domain& domain)
    : domain_(domain),
      planes_(even_share(domain.grid.cells[2], domain.pencils.communicator().rank(),
                         domain.pencils.communicator().size())),
      to_planes_(make_transpose(domain)),
      pencil_(static_cast<std::size_t>(domain.box.cells())),
      slab_(static_cast<std::size_t>(planes_.count) * domain.grid.cells[1] * domain.grid.cells[0]) {
}

void FieldShuffle::write(Hdf5Writer& file, const std::string& dataset, const Field& field,
                         const DatasetMeaning& meaning) {
  double* to = pencil_.data();
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j) to = std::copy_n(field.row(k, j), domain_.nx, to);
  to_planes_.forward(pencil_.data(), slab_.data());
  file.dataset(dataset, planes_, {domain_.grid.cells[1], domain_.grid.cells[0]},
               std::span<const double>(slab_), meaning);
}

void FieldShuffle::read(const Hdf5Reader& file, const std::string& dataset, Field& field) {
  const auto& cells = domain_.grid.cells;
  const std::vector<std::int64_t> expected{cells[2], cells[1], cells[0]};
  const auto shape = file.shape(dataset);
  if (shape != expected)
    throw InputError("{}: {} has the shape {}, but grid.cells asks for {} (planes, rows, cells)",
                     file.path(), dataset, shape, expected);
  slab_ = file.read<double>(dataset, planes_);
  to_planes_.backward(slab_.data(), pencil_.data());
  const double* from = pencil_.data();
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j, from += domain_.nx)
      std::copy_n(from, domain_.nx, field.row(k, j));
}

}  // namespace octant::dns
