#include "cosmology/initial_conditions.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "cosmology/initial_generator.hpp"

namespace octant::cosmology {

namespace {

using pencil::Range;

Range shifted(Range range, int by) { return {range.begin + by, range.end + by}; }

// Range of parts, as divided by pencil::part, that hold some of the cells; both are counted from
// the start of the axis.
Range parts_holding(Range cells, int all_cells, int parts) {
  const auto part_of = [&](std::int64_t cell) {
    return static_cast<int>(((cell + 1) * parts - 1) / all_cells);
  };
  return {part_of(cells.begin), part_of(cells.end - 1) + 1};
}

// Calls copy(offset of the first value, count) for every row along x of some cells of a box.
template <class Copy>
void for_each_row(const pencil::Box& box, const pencil::Box& cells, const Copy& copy) {
  const auto [nx, ny, nz] = box.shape();
  for (int z = cells[2].begin; z < cells[2].end; ++z)
    for (int y = cells[1].begin; y < cells[1].end; ++y) {
      const std::int64_t row = std::int64_t{z - box[2].begin} * ny + (y - box[1].begin);
      copy(row * nx + (cells[0].begin - box[0].begin), cells[0].count());
    }
}

// Adds `count` to the last segment, or to a new segment for a new rank.
void add_to_segment(std::vector<Segment>& segments, int rank, std::int64_t count) {
  if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
  segments.back().count += count;
}

}  // namespace

pencil::Box CellSpread::box(int rank) const {
  if (rank >= processes.ranks()) return {};
  const auto along = [&](int axis, int parts, int index) {
    return shifted(pencil::part(extent[axis].count(), parts, index), extent[axis].begin);
  };
  return {extent[0], along(1, processes.y, rank % processes.y),
          along(2, processes.z, rank / processes.y)};
}

void CellSpread::for_each_holder(
    const pencil::Box& cells,
    const std::function<void(int rank, const pencil::Box& held)>& visit) const {
  if (cells.cells() == 0) return;
  const auto holders = [&](int axis, int parts) {
    return parts_holding(shifted(cells[axis], -extent[axis].begin), extent[axis].count(), parts);
  };
  const Range along_y = holders(1, processes.y), along_z = holders(2, processes.z);
  for (int z = along_z.begin; z < along_z.end; ++z)
    for (int y = along_y.begin; y < along_y.end; ++y) {
      const int rank = z * processes.y + y;
      const pencil::Box held = intersection(box(rank), cells);
      if (held.cells() > 0) visit(rank, held);
    }
}

CellDelivery::CellDelivery(const Communicator& communicator, const CellSpread& spread,
                           std::vector<pencil::Box> boxes)
    : own_(spread.box(communicator.rank())),
      boxes_(std::move(boxes)),
      starts_(1, 0),
      parts_(parts_of_boxes(spread)),
      requested_(exchange_requests(communicator)),
      plan_(plan(communicator)),
      exchanger_("initial cells", communicator, {.exchange = Backend::p2p}) {
  for (const pencil::Box& box : boxes_) starts_.push_back(starts_.back() + box.cells());
}

std::vector<CellDelivery::Part> CellDelivery::parts_of_boxes(const CellSpread& spread) const {
  std::vector<Part> parts;
  for (std::size_t n = 0; n < boxes_.size(); ++n) {
    const pencil::Box& box = boxes_[n];
    OCTANT_REQUIRE(box.cells() == 0 || intersection(box, spread.extent) == box,
                   "the requested cells from ({}, {}, {}) onwards do not exist", box[0].begin,
                   box[1].begin, box[2].begin);
    spread.for_each_holder(box, [&](int rank, const pencil::Box& held) {
      parts.push_back({rank, held, n});
    });
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.rank < b.rank; });
  return parts;
}

std::vector<pencil::Box> CellDelivery::exchange_requests(const Communicator& communicator) {
  std::vector<Segment> sends;
  std::vector<pencil::Box> requests;
  for (const Part& part : parts_) {
    add_to_segment(sends, part.rank, 1);
    requests.push_back(part.cells);
  }
  const auto plan = ExchangePlan::from_sends(communicator, std::move(sends));
  std::vector<pencil::Box> received(static_cast<std::size_t>(plan.items_received()));
  Exchanger exchanger("requests for initial cells", communicator, {.exchange = Backend::p2p});
  exchanger.start_bytes(plan, std::as_bytes(std::span(requests)).data(),
                        std::as_writable_bytes(std::span(received)).data(), sizeof(pencil::Box));
  exchanger.finish();
  request_segments_ = plan.receives();
  return received;
}

ExchangePlan CellDelivery::plan(const Communicator& communicator) const {
  std::vector<Segment> sends, receives;
  auto request = requested_.begin();
  for (const Segment& segment : request_segments_)
    for (std::int64_t n = 0; n < segment.count; ++n)
      add_to_segment(sends, segment.rank, (request++)->cells());
  for (const Part& part : parts_) add_to_segment(receives, part.rank, part.cells.cells());
  return ExchangePlan(communicator, std::move(sends), std::move(receives));
}

std::vector<double> CellDelivery::deliver(std::span<const double> own) {
  OCTANT_REQUIRE(std::ssize(own) == own_.cells(), "{} values were given for {} cells", own.size(),
                 own_.cells());
  std::vector<double> sent, received(static_cast<std::size_t>(plan_.items_received()));
  sent.reserve(static_cast<std::size_t>(plan_.items_sent()));
  for (const pencil::Box& cells : requested_)
    for_each_row(own_, cells, [&](std::int64_t first, int count) {
      sent.insert(sent.end(), own.begin() + first, own.begin() + first + count);
    });
  exchanger_.run(plan_, sent.data(), received.data(), 1);

  std::vector<double> values(static_cast<std::size_t>(starts_.back()));
  const double* from = received.data();
  for (const Part& part : parts_) {
    double* const box_values = values.data() + starts_[part.target];
    for_each_row(boxes_[part.target], part.cells, [&](std::int64_t first, int count) {
      std::copy_n(from, count, box_values + first);
      from += count;
    });
  }
  return values;
}

namespace {

// Cells 2^shift times as large that contain those of a box.
pencil::Box coarsened(const pencil::Box& box, int shift) {
  if (box.cells() == 0) return {};
  pencil::Box coarse;
  for (int axis = 0; axis < 3; ++axis)
    coarse.range[axis] = {box[axis].begin >> shift, ((box[axis].end - 1) >> shift) + 1};
  return coarse;
}

pencil::Box refined(const pencil::Box& box, int shift) {
  pencil::Box fine;
  for (int axis = 0; axis < 3; ++axis)
    fine.range[axis] = {box[axis].begin << shift, box[axis].end << shift};
  return fine;
}

}  // namespace

std::vector<double> InitialConditions::own(int level, InitialField field) {
  if (!has(field)) throw InputError("{}", missing(field));
  std::vector<double> values = compute(level, field);
  if (field.quantity == InitialQuantity::overdensity) {
    double least = values.empty() ? 0.0 : *std::min_element(values.begin(), values.end());
    least = communicator_.min(least);
    if (!(least > -1.0))
      throw InputError(
          "the minimum initial baryon overdensity is {:.4g}; it must exceed -1; choose an "
          "earlier cosmology.start, or larger cells",
          least);
  }
  return values;
}

bool InitialConditions::is_covered(int level, const std::array<int, 3>& cell) const {
  if (level + 1 >= std::ssize(levels_)) return false;
  const pencil::Box& finer = levels_[static_cast<std::size_t>(level) + 1].extent;
  return finer[0].contains(2 * cell[0]) && finer[1].contains(2 * cell[1]) &&
         finer[2].contains(2 * cell[2]);
}

InitialCells::InitialCells(const Communicator& communicator, InitialConditions& from, int level,
                           std::vector<pencil::Box> boxes)
    : from_(from), level_(level), boxes_(std::move(boxes)), starts_(1, 0) {
  for (const pencil::Box& box : boxes_) starts_.push_back(starts_.back() + box.cells());
  const int finest = static_cast<int>(from.levels().size()) - 1;
  for (int source = 0; source <= std::min(level, finest); ++source)
    contributions_.push_back(contribution(communicator, source));
  std::erase_if(contributions_,
                [&](const Contribution& part) { return !communicator.any(!part.targets.empty()); });
}

// Part of each box that lies in the extent of this level; none if the next finer level that may
// contribute covers the whole box.
InitialCells::Contribution InitialCells::contribution(const Communicator& communicator, int level) {
  const auto& levels = from_.levels();
  const int shift = level_ - level;
  std::vector<std::size_t> targets;
  std::vector<pencil::Box> parts;
  for (std::size_t n = 0; n < boxes_.size(); ++n) {
    const bool has_finer = shift > 0 && level + 1 < std::ssize(levels);
    if (has_finer) {
      const pencil::Box finer = coarsened(boxes_[n], shift - 1);
      if (intersection(finer, levels[static_cast<std::size_t>(level) + 1].extent) == finer)
        continue;
    }
    const pencil::Box part =
        intersection(coarsened(boxes_[n], shift), levels[static_cast<std::size_t>(level)].extent);
    if (part.cells() == 0) continue;
    targets.push_back(n);
    parts.push_back(part);
  }
  return {level, std::move(targets),
          CellDelivery(communicator, from_.spread(level), std::move(parts))};
}

std::vector<double> InitialCells::get(InitialField field) {
  std::vector<double> values(static_cast<std::size_t>(starts_.back()));
  for (Contribution& part : contributions_)
    paint(part, part.delivery.deliver(from_.own(part.level, field)), values);
  return values;
}

void InitialCells::paint(const Contribution& part, const std::vector<double>& from,
                         std::vector<double>& values) const {
  const int shift = level_ - part.level;
  const double* coarse = from.data();
  for (std::size_t n = 0; n < part.targets.size(); ++n) {
    const pencil::Box& source = part.delivery.boxes()[n];
    const pencil::Box& box = boxes_[part.targets[n]];
    double* const to = values.data() + starts_[part.targets[n]];
    const pencil::Box painted = intersection(refined(source, shift), box);
    for (int z = painted[2].begin; z < painted[2].end; ++z)
      for (int y = painted[1].begin; y < painted[1].end; ++y)
        for (int x = painted[0].begin; x < painted[0].end; ++x)
          to[index_in_box(box, x, y, z)] =
              coarse[index_in_box(source, x >> shift, y >> shift, z >> shift)];
    coarse += source.cells();
  }
}

void declare(ParameterSchema& schema, InitialOptions& options) {
  schema.add("initial.kind", options.kind,
             {.meaning = "Source of cosmological initial conditions: built-in generator, or grafic "
                         "files such as those of MUSIC"});
  schema.add(
      "initial.path", options.path,
      {.meaning =
           "Directory of the grafic files (level_005 and so on), for initial.kind = \"grafic\""});
  schema.add("initial.cells", options.cells,
             {.meaning = "Number of cells and particles per dimension in generated initial "
                         "conditions; 0: same as the base grid",
              .min = 0,
              .max = 1 << 20});
  schema.add("initial.seed", options.seed,
             {.meaning = "Random seed for the phases of generated initial conditions; modes "
                         "resolved on grids of different resolution are identical",
              .min = 0});
  schema.add("initial.order", options.order,
             {.meaning = "Order of Lagrangian perturbation theory", .min = 1, .max = 2});
  schema.add("initial.transfer", options.transfer,
             {.meaning = "Transfer function: Eisenstein & Hu (1998) with or without acoustic "
                         "peaks, or from initial.table"});
  schema.add(
      "initial.table", options.table,
      {.meaning =
           "Text file with columns k [h/Mpc] and linear P(k), for initial.transfer = \"table\""});
  schema.add(
      "initial.sigma_8", options.sigma_8,
      {.meaning = "Present-day linear rms overdensity in spheres of radius 8 Mpc/h", .above = 0.0});
  schema.add("initial.spectral_index", options.spectral_index,
             {.meaning = "Spectral index n_s of the primordial power spectrum"});
}

std::unique_ptr<InitialConditions> make_initial_conditions(const Communicator& communicator,
                                                           const InitialOptions& options,
                                                           const InitialHeader& header,
                                                           const Expansion& expansion,
                                                           int base_cells) {
  if (options.kind == InitialKind::grafic && options.path.empty())
    throw InputError("initial.kind = \"grafic\" requires initial.path, the directory of the files");
  if (options.kind == InitialKind::grafic)
    return read_grafic_folder(communicator, options.path, header, expansion);
  GeneratorOptions generator;
  generator.side = options.cells > 0 ? options.cells : base_cells;
  generator.seed = static_cast<std::uint64_t>(options.seed);
  generator.order = options.order == 1 ? LptOrder::first : LptOrder::second;
  generator.spectrum.omega_m = header.omega_m;
  generator.spectrum.omega_b = header.omega_b;
  generator.spectrum.h = header.hubble / 100.0;
  generator.spectrum.sigma_8 = options.sigma_8;
  generator.spectrum.spectral_index = options.spectral_index;
  generator.spectrum.transfer = options.transfer;
  generator.spectrum.table = options.table;
  return std::make_unique<GeneratedConditions>(communicator, generator, header, expansion);
}

}  // namespace octant::cosmology
