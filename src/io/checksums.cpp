#include "io/checksums.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "comm/route.hpp"
#include "core/error.hpp"

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

// A CRC is a polynomial over GF(2) modulo P, with the coefficient of x^0 in the highest bit.
// Appending a byte multiplies it by x^8.
namespace octant {
namespace {

constexpr std::uint32_t k_polynomial = 0x82f63b78;
constexpr std::uint32_t k_one = std::uint32_t{1} << 31;

constexpr std::uint32_t times_x(std::uint32_t a) { return a >> 1 ^ (a & 1 ? k_polynomial : 0); }

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (std::uint32_t term = k_one; term != 0; term >>= 1, b = times_x(b)) sum ^= a & term ? b : 0;
  return sum;
}

// Powers x^8, x^16, x^32, ...
constexpr std::array<std::uint32_t, 63> k_powers = [] {
  std::array<std::uint32_t, 63> powers{k_one >> 8};
  for (std::size_t n = 1; n < powers.size(); ++n) powers[n] = product(powers[n - 1], powers[n - 1]);
  return powers;
}();

constexpr std::uint32_t power_of_bytes(std::int64_t count) {
  std::uint32_t power = k_one;
  for (std::size_t n = 0; count != 0; ++n, count >>= 1)
    if (count & 1) power = product(power, k_powers[n]);
  return power;
}

// Effect of each value of a register's lowest byte when it is shifted out.
constexpr std::array<std::uint32_t, 256> k_bytes = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < table.size(); ++n) {
    table[n] = n;
    for (int bit = 0; bit < 8; ++bit) table[n] = times_x(table[n]);
  }
  return table;
}();

std::uint32_t append_bytes(std::uint32_t state, const std::byte* at, const std::byte* end) {
  for (; at != end; ++at)
    state = state >> 8 ^ k_bytes[(state ^ static_cast<std::uint32_t>(*at)) & 0xff];
  return state;
}

#ifdef __x86_64__

std::uint64_t word(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Processes three lanes in parallel, because the instruction has a latency of three cycles and a
// throughput of one. Returns the position where less than three lanes are left.
template <std::int64_t lane>
__attribute__((target("sse4.2"))) const std::byte* append_lanes(std::uint32_t& state,
                                                                const std::byte* at,
                                                                const std::byte* end) {
  constexpr std::uint32_t k_lane = power_of_bytes(lane);
  for (; end - at >= 3 * lane; at += 3 * lane) {
    std::uint64_t a = state, b = 0, c = 0;
    for (std::int64_t n = 0; n < lane; n += 8) {
      a = _mm_crc32_u64(a, word(at + n));
      b = _mm_crc32_u64(b, word(at + lane + n));
      c = _mm_crc32_u64(c, word(at + 2 * lane + n));
    }
    state = product(k_lane, static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
    state = product(k_lane, state) ^ static_cast<std::uint32_t>(c);
  }
  return at;
}

__attribute__((target("sse4.2"))) std::uint32_t append_words(std::uint32_t state,
                                                             const std::byte* at,
                                                             const std::byte* end) {
  at = append_lanes<21840>(state, at, end);  // covers 64 KiB except 16 bytes
  at = append_lanes<680>(state, at, end);
  for (; end - at >= 8; at += 8) state = static_cast<std::uint32_t>(_mm_crc32_u64(state, word(at)));
  return append_bytes(state, at, end);
}

std::uint32_t append(std::uint32_t state, const std::byte* at, const std::byte* end) {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  return has_instruction ? append_words(state, at, end) : append_bytes(state, at, end);
}

#else

std::uint32_t append(std::uint32_t state, const std::byte* at, const std::byte* end) {
  return append_bytes(state, at, end);
}

#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  return ~append(~std::uint32_t{0}, bytes.data(), bytes.data() + bytes.size());
}

std::uint32_t crc32c_followed(std::uint32_t crc, std::int64_t count) {
  return product(power_of_bytes(count), crc);
}
namespace {

constexpr std::int64_t k_batch_bytes = 1 << 16;
constexpr std::int64_t k_crc_bytes = sizeof(std::uint32_t);

struct Footer {
  std::array<char, 8> name{'O', 'c', 't', 'S', 'u', 'm', 's', '1'};
  std::int64_t batches = 0, table_bytes = 0;
  std::uint32_t description = 0, table = 0, reserved = 0;
  std::uint32_t own = 0;  // checksum of all bytes before it
};
constexpr std::int64_t k_footer_bytes = sizeof(Footer);

std::uint32_t own_crc(const Footer& footer) {
  return crc32c(std::as_bytes(std::span(&footer, 1)).first(offsetof(Footer, own)));
}

// Adds the contributions of some bytes of a dataset to the CRCs of its batches: visit(batch,
// contribution), with the batch's number in the file.
template <class Visit>
void contribute(const SummedDataset& dataset, std::int64_t offset, std::span<const std::byte> bytes,
                const Visit& visit) {
  const std::int64_t batch_bytes = dataset.rows_per_batch() * dataset.row_bytes;
  while (!bytes.empty()) {
    const std::int64_t batch = offset / batch_bytes;
    const std::int64_t end = std::min((batch + 1) * batch_bytes, dataset.bytes());
    const std::int64_t count = std::min(end - offset, std::ssize(bytes));
    const std::uint32_t crc = crc32c(bytes.first(static_cast<std::size_t>(count)));
    offset += count;
    visit(dataset.first_batch + batch, crc32c_followed(crc, end - offset));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// Returns the CRC of the `count` bytes from `offset` on, after bytes with the CRC `crc`.
std::uint32_t extended(std::uint32_t crc, std::int64_t offset, std::int64_t count,
                       const ReadBytes& read) {
  std::vector<std::byte> piece;
  for (; count > 0; count -= std::ssize(piece), offset += std::ssize(piece)) {
    piece.resize(static_cast<std::size_t>(std::min(count, k_batch_bytes)));
    read(offset, piece);
    crc = crc32c_followed(crc, std::ssize(piece)) ^ crc32c(piece);
  }
  return crc;
}

// Returns the CRC of all bytes before `end` that are not rows of datasets.
std::uint32_t description_crc(std::vector<SummedDataset> datasets, std::int64_t end,
                              const ReadBytes& read) {
  std::sort(datasets.begin(), datasets.end(),
            [](const SummedDataset& a, const SummedDataset& b) { return a.offset < b.offset; });
  std::uint32_t crc = 0;
  std::int64_t offset = 0;
  for (const SummedDataset& dataset : datasets) {
    if (dataset.bytes() == 0) continue;
    crc = extended(crc, offset, dataset.offset - offset, read);
    offset = dataset.offset + dataset.bytes();
  }
  return extended(crc, offset, end - offset, read);
}

std::string table_of(std::span<const SummedDataset> datasets) {
  std::string table;
  for (const SummedDataset& d : datasets)
    table += fmt::format("{} {} {} {}\n", d.offset, d.rows, d.row_bytes, d.path);
  return table;
}

// Returns the datasets of a table, or nothing unless they lie within `end` bytes.
std::vector<SummedDataset> datasets_of(const std::string& table, std::int64_t end) {
  const auto lies_within = [&](const SummedDataset& d) {
    if (d.rows < 0 || d.row_bytes < 0) return false;
    if (d.rows == 0 || d.row_bytes == 0) return true;  // may have no position
    return d.offset >= 0 && d.offset <= end && d.row_bytes <= (end - d.offset) / d.rows;
  };
  std::vector<SummedDataset> datasets;
  std::istringstream lines(table);
  std::int64_t batches = 0;
  SummedDataset d;
  while (lines >> d.offset >> d.rows >> d.row_bytes && lines.ignore() &&
         std::getline(lines, d.path)) {
    if (!lies_within(d)) return {};
    d.first_batch = batches;
    batches += d.batches();
    datasets.push_back(d);
  }
  return datasets;
}

}  // namespace

std::int64_t SummedDataset::rows_per_batch() const {
  return std::max<std::int64_t>(1, k_batch_bytes / std::max<std::int64_t>(1, row_bytes));
}

std::int64_t SummedDataset::batches() const {
  return bytes() == 0 ? 0 : (rows - 1) / rows_per_batch() + 1;
}

RowRange SummedDataset::batch(std::int64_t n) const {
  const std::int64_t begin = n * rows_per_batch();
  return {begin, std::min(rows_per_batch(), rows - begin)};
}

// --- writing -----------------------------------------------------------------------------------

int ChecksumWriter::add_dataset(const std::string& path, std::int64_t offset, std::int64_t rows,
                                std::int64_t row_bytes) {
  datasets_.push_back({path, offset, rows, row_bytes, batches_});
  batches_ += datasets_.back().batches();
  written_.push_back(0);
  return static_cast<int>(datasets_.size()) - 1;
}

void ChecksumWriter::add_bytes(int dataset, std::int64_t offset, std::span<const std::byte> bytes) {
  written_[dataset] += std::ssize(bytes);
  contribute(datasets_[dataset], offset, bytes, [&](std::int64_t batch, std::uint32_t crc) {
    if (!contributions_.empty() && contributions_.back().batch == batch)
      contributions_.back().crc ^= crc;
    else contributions_.push_back({batch, crc});
  });
}

void ChecksumWriter::sum_over_ranks(const Communicator& communicator) {
  communicator.sum_in_place(std::span<std::int64_t>(written_));
  for (std::size_t n = 0; n < datasets_.size(); ++n)
    OCTANT_REQUIRE(written_[n] == datasets_[n].bytes(), "'{}' has {} bytes, but {} were written",
                   datasets_[n].path, datasets_[n].bytes(), written_[n]);
  std::vector<int> ranks;
  for (const Contribution& c : contributions_)
    ranks.push_back(part_of_row(batches_, c.batch, communicator.size()));
  const auto received = route(communicator, ranks, std::span<const Contribution>(contributions_));
  share_ = even_share(batches_, communicator.rank(), communicator.size());
  crcs_.assign(static_cast<std::size_t>(share_.count), 0);
  for (const Contribution& c : received.items) crcs_[c.batch - share_.begin] ^= c.crc;
}

void ChecksumWriter::write_share(PosixFile& file, std::int64_t end) const {
  file.write_at(end + share_.begin * k_crc_bytes, std::as_bytes(std::span(crcs_)));
}

std::int64_t ChecksumWriter::write_table(PosixFile& file, std::int64_t end,
                                         const ReadBytes& description) const {
  const std::string table = table_of(datasets_);
  Footer footer;
  footer.batches = batches_;
  footer.table_bytes = std::ssize(table);
  footer.description = description_crc(datasets_, end, description);
  footer.table = crc32c(std::as_bytes(std::span(table)));
  footer.own = own_crc(footer);
  const std::int64_t offset = end + batches_ * k_crc_bytes;
  file.write_at(offset, std::as_bytes(std::span(table)));
  file.write_at(offset + footer.table_bytes, std::as_bytes(std::span(&footer, 1)));
  return offset + footer.table_bytes + k_footer_bytes;
}

// --- reading -----------------------------------------------------------------------------------

std::unique_ptr<StoredChecksums> StoredChecksums::load(const std::string& path) {
  std::unique_ptr<StoredChecksums> sums(
      new StoredChecksums(PosixFile(path, PosixFile::Mode::read)));
  const std::int64_t before = sums->file_.size() - k_footer_bytes;
  if (before < 0) return {};
  Footer footer;
  sums->file_.read_at(before, std::as_writable_bytes(std::span(&footer, 1)));
  if (footer.name != Footer().name) return {};
  if (own_crc(footer) != footer.own) return sums;
  if (footer.table_bytes < 0 || footer.table_bytes > before || footer.batches < 0 ||
      footer.batches > (before - footer.table_bytes) / k_crc_bytes)
    return sums;
  std::string table(static_cast<std::size_t>(footer.table_bytes), '\0');
  sums->file_.read_at(before - footer.table_bytes, std::as_writable_bytes(std::span(table)));
  if (crc32c(std::as_bytes(std::span(table))) != footer.table) return sums;
  sums->end_ = before - footer.table_bytes - footer.batches * k_crc_bytes;
  sums->datasets_ = datasets_of(table, sums->end_);
  sums->batches_ = footer.batches;
  std::int64_t batches = 0;
  for (const SummedDataset& d : sums->datasets_) batches += d.batches();
  sums->table_is_whole_ = batches == footer.batches;
  sums->description_ = footer.description;
  return sums;
}

std::vector<std::string> StoredChecksums::damage_beside_rows() const {
  if (!table_is_whole_) return {"the table of checksums at the end of the file"};
  const auto read = [this](std::int64_t offset, std::span<std::byte> bytes) {
    file_.read_at(offset, bytes);
  };
  if (description_crc(datasets_, end_, read) == description_) return {};
  return {"the metadata (groups, attributes and strings)"};
}

void StoredChecksums::require_description() const {
  for (const std::string& part : damage_beside_rows())
    throw InputError("'{}' is corrupt: {}; octant info --verify lists all checksum errors",
                     file_.path(), part);
}

std::vector<std::uint32_t> StoredChecksums::read_crcs(std::int64_t first,
                                                      std::int64_t count) const {
  std::vector<std::uint32_t> crcs(static_cast<std::size_t>(count));
  file_.read_at(end_ + first * k_crc_bytes, std::as_writable_bytes(std::span(crcs)));
  return crcs;
}

void StoredChecksums::require_rows(const std::string& path, RowRange rows,
                                   std::span<const std::byte> bytes) const {
  const auto dataset = std::find_if(datasets_.begin(), datasets_.end(),
                                    [&](const SummedDataset& d) { return d.path == path; });
  if (dataset == datasets_.end())
    throw InputError("'{}': {}: this dataset has no checksums", file_.path(), path);
  if (bytes.empty()) return;
  if (rows.end() > dataset->rows || std::ssize(bytes) != rows.count * dataset->row_bytes)
    throw InputError("'{}': {}: this dataset has checksums of {} rows of {} bytes", file_.path(),
                     path, dataset->rows, dataset->row_bytes);
  const std::int64_t per_batch = dataset->rows_per_batch(), row_bytes = dataset->row_bytes;
  const std::int64_t first = rows.begin / per_batch, last = (rows.end() - 1) / per_batch;
  // XOR of stored and computed CRCs: zero where they agree.
  std::vector<std::uint32_t> crcs = read_crcs(dataset->first_batch + first, last - first + 1);
  const auto add = [&](std::int64_t row, std::span<const std::byte> part) {
    contribute(*dataset, row * row_bytes, part, [&](std::int64_t batch, std::uint32_t crc) {
      crcs[batch - dataset->first_batch - first] ^= crc;
    });
  };
  const auto add_from_file = [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::byte> part(static_cast<std::size_t>((end - begin) * row_bytes));
    file_.read_at(dataset->offset + begin * row_bytes, part);
    add(begin, part);
  };
  add_from_file(first * per_batch, rows.begin);
  add(rows.begin, bytes);
  add_from_file(rows.end(), dataset->batch(last).end());
  const auto damaged = std::find_if(crcs.begin(), crcs.end(), [](auto crc) { return crc != 0; });
  if (damaged == crcs.end()) return;
  const std::int64_t batch = dataset->first_batch + first + (damaged - crcs.begin());
  throw InputError("'{}' is corrupt: {}; octant info --verify lists all checksum errors",
                   file_.path(), in_words({&batch, 1}).front());
}

std::vector<std::int64_t> StoredChecksums::damaged_batches(RowRange batches) const {
  std::vector<std::int64_t> damaged;
  std::vector<std::byte> bytes;
  const auto crcs = read_crcs(batches.begin, batches.count);
  for (const SummedDataset& d : datasets_) {
    const std::int64_t end = std::min(d.first_batch + d.batches(), batches.end());
    for (std::int64_t n = std::max(d.first_batch, batches.begin); n < end; ++n) {
      const RowRange rows = d.batch(n - d.first_batch);
      bytes.resize(static_cast<std::size_t>(rows.count * d.row_bytes));
      file_.read_at(d.offset + rows.begin * d.row_bytes, bytes);
      if (crc32c(bytes) != crcs[n - batches.begin]) damaged.push_back(n);
    }
  }
  return damaged;
}

// One line for each range of adjacent batches of a dataset.
std::vector<std::string> StoredChecksums::in_words(std::span<const std::int64_t> damaged) const {
  std::vector<std::string> lines;
  auto at = damaged.begin();
  for (const SummedDataset& d : datasets_)
    while (at != damaged.end() && *at < d.first_batch + d.batches()) {
      const std::int64_t first = *at - d.first_batch;
      std::int64_t last = first;
      for (++at; at != damaged.end() && *at == d.first_batch + last + 1 && last + 1 < d.batches();
           ++at)
        ++last;
      lines.push_back(fmt::format("{}: rows {} to {} (batch{} {} of {})", d.path,
                                  d.batch(first).begin, d.batch(last).end() - 1,
                                  first == last ? "" : "es",
                                  first == last ? fmt::format("{}", first + 1)
                                                : fmt::format("{} to {}", first + 1, last + 1),
                                  d.batches()));
    }
  return lines;
}

std::vector<std::string> StoredChecksums::damage(const Communicator& communicator) const {
  std::vector<std::int64_t> own;
  std::vector<std::string> parts;
  communicator.collective_try([&] {
    if (communicator.is_root()) parts = damage_beside_rows();
    own = damaged_batches(even_share(batches_, communicator.rank(), communicator.size()));
  });
  for (auto& rows : in_words(communicator.gather_to_root(std::span<const std::int64_t>(own))))
    parts.push_back(std::move(rows));
  return parts;
}

}  // namespace octant
