// Coupling of a level to the next coarser one: restriction of children into their parents, and
// refluxing of the coarse cells at coarse-fine boundaries.
#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <tuple>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/device.hpp"
#include "mesh/transfer.hpp"

namespace octant::mesh {

// Boundary between a level and the next coarser one, on one rank. An update rewrites only table
// entries of blocks near changed ones.
//
// Fluxes through a face between levels are integrated over time twice: by the fine level, averaged
// over 2^2 faces and summed over its sub-steps, and by the coarse level. The difference corrects
// the coarse cell (Berger & Colella 1989). A flux register holds one quarter of a coarse block's
// plane, [variable][b][a], and belongs to one face of a fine block. A face between two own blocks
// has a number, which is the index of its register on both levels. Registers of faces shared with
// other ranks follow, in the order of messages.
class CoarseFineBoundary {
 public:
  CoarseFineBoundary(const Tree& tree, int fine_level, const BlockLayout& layout, const Spin& spin);

  // Applies the changes of the tree since the last call. Registers of this boundary begin at offset
  // `coarse_begin` of the coarse level's array of registers, and at 0 of the fine level's array.
  // Collective.
  void follow(std::int64_t coarse_begin);

  // Size in doubles of the registers on the fine level.
  std::int64_t fine_doubles() const { return (own_capacity_ + sent_capacity_) * face_values_; }
  // Size in doubles of the registers on the coarse level.
  std::int64_t coarse_doubles() const { return coarse_registers() * face_values_; }
  // Number of registers on the coarse level, as indexed by CorrectionTask::coarse.
  std::int64_t coarse_registers() const { return own_capacity_ + received_capacity_; }
  // Offset of this boundary's registers in the coarse level's array, in doubles.
  std::int64_t coarse_begin() const { return coarse_begin_; }

  // Fine slots whose flux requests changed in the last follow().
  const std::vector<int>& rewritten_fine() const { return rewritten_fine_.slots(); }
  // Coarse slots whose flux requests changed in the last follow().
  const std::vector<int>& rewritten_coarse() const { return changed_coarse_.slots(); }
  // Appends the flux requests of a fine block.
  void append_fine_requests(int slot, std::vector<FluxRegisterFaces>& requests) const;
  // Appends the flux requests of a coarse block.
  void append_coarse_requests(int slot, std::vector<FluxRegisterFaces>& requests) const;

  // Owners of the children of an own coarse block, by octant; -1 if there is no child.
  const std::array<std::int32_t, 8>& child_owners(int coarse_slot) const {
    return child_owners_[coarse_slot];
  }

  // Sets the registers of both sides to zero; `fine` and `coarse` are the levels' arrays of
  // registers.
  void clear_registers(const DeviceArray<double>& fine, const DeviceArray<double>& coarse) const;

  // Restriction sets each coarse cell to the mean of its children, in three calls. First call:
  // restricts and sends the octants whose parents belong to other ranks. Collective.
  void send_octants(const double* children, Exchanger& exchanger);
  // Second call: restricts to own parents while messages are in transit. Local.
  void restrict_own(const double* children, double* parents) const;
  // Third call: receives octants from other ranks. Collective.
  void receive_octants(double* parents, Exchanger& exchanger);

  // Flux registers of both levels. Refluxing takes three calls: it corrects first the coarse blocks
  // that adjoin own fine blocks only, then the others. Sent fluxes are read from the array `fine`,
  // which must not change until the exchanger has completed its sends.
  struct Registers {
    const double* fine;
    const double* coarse;
  };
  // First call: sends the registers of faces whose coarse block belongs to another rank.
  // Collective.
  void send_fluxes(const Registers& registers, Exchanger& fluxes);
  // Second call: corrects the coarse blocks that need no messages. Local.
  void correct_own(const Registers& registers, double* coarse_blocks, const FaceFlow& flow) const;
  // Third call: receives registers and corrects all other coarse blocks. Collective.
  void receive_fluxes(const Registers& registers, double* coarse_blocks, const FaceFlow& flow,
                      Exchanger& fluxes);

  // Own coarse cells that refluxing corrects.
  Corrections corrections() const { return {blocks_.on_device(), tasks_.on_device()}; }

 private:
  // Face of a fine block, identified in the adjacent coarse block. The corrections of a coarse
  // block are applied in the order of its sides.
  struct Side {
    std::int8_t axis, side;  // axis and side of the fine block's face
    std::int8_t octant;      // octant of the coarse block that adjoins the face
    auto operator<=>(const Side&) const = default;
  };
  struct FineBlock {
    Key key = k_no_key;
    std::int32_t parent = -1;  // slot of the parent if this rank owns it, else -1
    // by face: number of an own face, or index among sent faces, encoded by sent_face(); -1: the
    // face is not at a coarse-fine boundary
    std::array<std::int32_t, 6> faces;
  };
  struct OwnFace {
    std::int32_t fine, coarse;  // slots of the fine and the coarse block
    Side side;
  };
  struct CoarseFace {
    Side side;
    bool is_received;
    std::int32_t number;  // number of an own face, or index among received faces
  };
  // Maximum number of flux registers of a coarse block: three outer faces per unrefined octant and
  // at most three inner faces per refined octant.
  static constexpr int k_max_faces = 24;
  struct CoarseBlock {
    Key key = k_no_key;
    std::int32_t slot = -1;
    std::int32_t count = 0;
    std::array<CoarseFace, k_max_faces> faces;  // ordered by side
  };
  struct SentFace {
    std::int32_t owner;  // owner of the coarse block
    Key coarse;
    Side side;
    std::int32_t fine, face;  // slot of the fine block, and face 0 to 5
    auto order() const { return std::tuple(owner, coarse, side); }
  };
  struct SentChild {
    std::int32_t owner;  // owner of the parent
    Key key;
    std::int32_t slot;
    auto order() const { return std::tuple(owner, key); }
  };
  struct ReceivedFace {
    std::int32_t coarse;
    Side side;
  };
  // Set of slots in order of insertion.
  class SlotSet {
   public:
    void add(int slot);
    bool has(int slot) const { return slot < std::ssize(has_) && has_[slot]; }
    void clear();
    const std::vector<int>& slots() const { return slots_; }

   private:
    std::vector<int> slots_;
    std::vector<bool> has_;
  };

  const TreeLevel& fine() const { return tree_.level(fine_level_); }
  const TreeLevel& coarse() const { return tree_.level(fine_level_ - 1); }
  static constexpr std::int32_t sent_face(int number) { return -2 - number; }

  bool has_block(int slot) const;
  bool is_coarse_fine_face(int slot, int face) const;
  template <class Work>
  void for_changed_faces(const Work& work);
  void find_changed_blocks();
  void clear_received();
  void release(int slot);
  void release_face(int slot, int face);
  void connect(int slot);
  void connect_face(int slot, int face);
  void send_list_of_children();
  void send_list_of_faces();
  void add_face(int coarse_slot, const CoarseFace& face);
  void remove_face(int coarse_slot, const Side& side);
  void write_corrections(int coarse_slot);
  void reserve_registers();
  std::int64_t fine_register_offset(std::int32_t face) const;
  std::int32_t coarse_register_index(const CoarseFace& face) const;
  FluxRegisterFaces coarse_request(const Side& side) const;

  const Tree& tree_;
  int fine_level_;
  BlockLayout layout_;
  double inverse_cell_size_;         // inverse of the coarse level's cell size
  int octant_values_, face_values_;  // doubles per restricted octant, and per register
  bool alone_;                       // true if there is only one rank and no messages

  SlotSet changed_fine_, changed_coarse_;                  // blocks whose faces must all be rebuilt
  SlotSet rewritten_fine_;                                 // blocks that have or had faces
  std::vector<FineBlock> fine_blocks_;                     // by fine slot
  std::vector<std::array<std::int32_t, 8>> child_owners_;  // by coarse slot
  std::vector<std::int32_t> block_of_slot_;  // by coarse slot: index in coarse_blocks_, or -1
  std::vector<OwnFace> own_faces_;           // by number
  std::vector<CoarseBlock> coarse_blocks_;
  std::vector<std::int32_t> free_faces_, free_blocks_;
  std::vector<SentFace> sent_faces_;
  std::vector<SentChild> sent_children_;
  std::vector<ReceivedFace> received_faces_;
  // Numbers of allocated registers for own, sent and received faces.
  std::int64_t own_capacity_ = 0, sent_capacity_ = 0, received_capacity_ = 0;
  std::int64_t coarse_begin_ = 0;

  DeviceTable<RestrictionTask> sent_restrictions_, own_restrictions_;  // own_: by fine slot
  DeviceTable<OctantTask> octant_tasks_;
  std::unique_ptr<ExchangePlan> octant_plan_, face_plan_;
  SendBuffers octant_buffers_;
  DeviceArray<double> received_octants_, received_fluxes_;  // allocated during an exchange
  DeviceTable<CorrectedBlock> blocks_;                      // by number of a coarse block
  DeviceTable<CorrectionTask> tasks_;                       // k_max_faces per block
  Spin spin_;
};

}  // namespace octant::mesh
