#include "telemetry/deflate.hpp"

#include <limits>

#include "core/error.hpp"

#ifdef OCTANT_ZLIB
#include <zlib.h>
#endif

namespace octant::telemetry {

#ifdef OCTANT_ZLIB

namespace {

constexpr int k_gzip = 16;  // added to the logarithm of the window
constexpr int k_memory = 8;

// zlib counts in 32 bits, and writes to what it reads by its types alone.
void set_input(z_stream& stream, std::span<const std::byte> bytes) {
  OCTANT_REQUIRE(bytes.size() <= std::numeric_limits<uInt>::max(), "{} bytes", bytes.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
}

void set_output(z_stream& stream, std::span<std::byte> bytes) {
  OCTANT_REQUIRE(bytes.size() <= std::numeric_limits<uInt>::max(), "{} bytes", bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
}

}  // namespace

bool deflate_is_available() { return true; }

std::vector<std::byte> deflated(std::span<const std::byte> bytes, int effort) {
  z_stream stream{};
  if (deflateInit2(&stream, effort, Z_DEFLATED, MAX_WBITS + k_gzip, k_memory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw RunError("zlib cannot begin");
  std::vector<std::byte> fewer(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  set_input(stream, bytes);
  set_output(stream, fewer);
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  fewer.resize(stream.total_out);
  deflateEnd(&stream);
  OCTANT_REQUIRE(done, "zlib stopped after {} of {} bytes", stream.total_in, bytes.size());
  return fewer;
}

std::vector<std::byte> inflated(std::span<const std::byte> bytes, std::size_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + k_gzip) != Z_OK) throw RunError("zlib cannot begin");
  std::vector<std::byte> all(size + 1);  // zlib wants a place to write to, also for nothing
  set_input(stream, bytes);
  set_output(stream, all);
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!whole) throw RunError("its data are damaged (zlib cannot read them)");
  all.resize(size);
  return all;
}

#else

bool deflate_is_available() { return false; }

std::vector<std::byte> deflated(std::span<const std::byte>, int) {
  throw RunError("this program was built without zlib (OCTANT_ZLIB)");
}

std::vector<std::byte> inflated(std::span<const std::byte>, std::size_t) {
  throw RunError("its data are compressed, and this program was built without zlib (OCTANT_ZLIB)");
}

#endif

}  // namespace octant::telemetry
