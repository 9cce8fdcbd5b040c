// Octs of a RAMSES output on their way to the ranks that own their blocks: level by level, some at
// a time, through the rank tree.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/router.hpp"
#include "driver/ramses_agreement.hpp"
#include "io/ramses_source.hpp"
#include "mesh/device.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

inline constexpr int k_oct_cells = 8;

// Where an oct lies on the rank that owns its block.
struct OctPlace {
  std::int32_t slot, first_cell;  // of the block, and in it: the oct's lower corner
  std::uint32_t refined;          // mask of its cells, as the file has them

  // A cell of the oct within the block of N^3.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell(std::int64_t of_oct, int N) const {
    return first_cell + ((of_oct >> 2) * N + (of_oct >> 1 & 1)) * N + (of_oct & 1);
  }
};

// Octs that have come to the owner of their block, also on the device.
struct ArrivedOcts {
  mesh::DeviceTable<OctPlace> places{"octs"};
  mesh::DeviceTable<double> values{"values of octs"};  // [oct][variable][cell]
};

class OctDelivery {
 public:
  // Of so many variables of a cell. Everything must outlive this.
  OctDelivery(const mesh::Mesh& mesh, const RamsesFacts& facts, RamsesSource& source,
              RamsesLevels levels, int variables);

  using Store = std::function<void(const ArrivedOcts&)>;
  // Reads the octs of the file's next level, and gives `store` what comes here of them. Returns how
  // many this rank has read. Collective, as all of these.
  std::int64_t deliver_level(int level, const Store& store);

  // Octs of a level that the file does not have.
  struct FurtherOct {
    Key block;
    std::int32_t first_cell;
    std::vector<double> values;
  };
  void deliver(int level, std::span<const FurtherOct> octs, const Store& store);

 private:
  struct Head;
  // Copies the values of an oct, [variable][cell].
  using CopyValues = std::function<void(std::size_t oct, double* to)>;

  std::size_t item_bytes() const;
  std::int64_t octs_at_once() const;
  Head head_of(std::size_t oct) const;
  void send(int level, std::span<const Head> heads, const CopyValues& copy_values,
            const Store& store);
  std::vector<int> owners_of(int level, std::span<const Head> heads) const;
  void unpack(int level, std::span<const std::byte> items);

  const mesh::Mesh& mesh_;
  const RamsesFacts& facts_;
  RamsesSource& source_;
  RamsesLevels levels_;
  std::size_t variables_;
  // Kept from one time to the next.
  RamsesOcts octs_;
  std::vector<std::byte> leaving_;
  Router router_;
  ArrivedOcts arrived_;
};

}  // namespace octant::driver
