// What happens where a level meets the next coarser one: restriction of children into their
// parents, and flux correction of the coarse cells beside fine ones.
#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <tuple>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/device.hpp"
#include "mesh/send_buffers.hpp"
#include "mesh/transfer.hpp"

namespace octant::mesh {

// The jump between a level and the coarser one beneath it, on one rank. It follows the tree: what
// is near changed blocks is written anew, all else keeps its place.
//
// Fluxes through a face between levels are integrated over time twice: by the fine level, averaged
// over 2^2 faces and summed over its sub-steps, and by the coarse level. The difference corrects
// the coarse cell (Berger & Colella 1989). A register holds one quarter of a coarse block's plane,
// [variable][b][a], and belongs to one fine block's face. A face whose two blocks are this rank's
// has a number, which is that of its register on both levels; then come the registers of faces
// whose other side is another rank's, in the order of messages.
class LevelJump {
 public:
  LevelJump(const Tree& tree, int fine_level, const BlockLayout& layout);

  // Takes up the tree's changes since the last time. In the coarse level's array of registers this
  // jump's begin at `coarse_begin`; in the fine level's at 0. Collective.
  void follow(std::int64_t coarse_begin);

  // Doubles of its registers on either level.
  std::int64_t fine_doubles() const { return (own_room_ + sent_room_) * face_values_; }
  std::int64_t coarse_doubles() const { return coarse_registers() * face_values_; }
  // Registers of the coarse level, which CorrectionTask::coarse counts, and where they begin.
  std::int64_t coarse_registers() const { return own_room_ + received_room_; }
  std::int64_t coarse_begin() const { return coarse_begin_; }

  // Slots whose flux requests it wrote anew when it followed last, and the requests of a slot.
  const std::vector<int>& rewritten_fine() const { return rewritten_fine_.slots(); }
  const std::vector<int>& rewritten_coarse() const { return touched_coarse_.slots(); }
  void append_fine_requests(int slot, std::vector<FluxRequest>& requests) const;
  void append_coarse_requests(int slot, std::vector<FluxRequest>& requests) const;

  // By octant, the owner of an own coarse block's child, or -1 where there is none.
  const std::array<std::int32_t, 8>& child_owners(int coarse_slot) const {
    return child_owners_[coarse_slot];
  }

  // Forgets the fluxes of both sides; `fine` and `coarse` are the levels' arrays of registers.
  void clear_registers(const DeviceArray<double>& fine, const DeviceArray<double>& coarse) const;

  // Restriction: coarse cells under children take the mean of their cells. What is for other ranks
  // is sent first, own parents are served while it travels. Sending and receiving are collective.
  void send_octants(const double* children, Exchanger& octants);
  void restrict_own(const double* children, double* parents) const;
  void receive_octants(double* parents, Exchanger& octants);

  // Flux correction of the coarse blocks, and of what flowed through their faces, by the arrays of
  // registers of both levels: first those that touch own fine blocks alone, then the others. Fluxes
  // leave from the fine level's array, which must stay as it is until the exchanger is drained.
  struct Registers {
    const double* fine;
    const double* coarse;
  };
  void send_fluxes(const Registers& registers, Exchanger& fluxes);
  void correct_own(const Registers& registers, double* coarse_blocks, const FaceFlow& flow) const;
  void receive_fluxes(const Registers& registers, double* coarse_blocks, const FaceFlow& flow,
                      Exchanger& fluxes);

  // The coarse cells of this rank that it corrects.
  Corrections corrections() const { return {blocks_.on_device(), tasks_.on_device()}; }

 private:
  // A face of a fine block, as the coarse block behind it sees it. The corrections of a block are
  // applied in this order.
  struct Side {
    std::int8_t axis, side;  // of the fine block's face
    std::int8_t octant;      // of the coarse block, next to the face
    auto operator<=>(const Side&) const = default;
  };
  struct FineBlock {
    Key key = k_no_key;
    std::int32_t parent = -1;           // its slot, if it is this rank's
    std::array<std::int32_t, 6> faces;  // number; place among the sent ones, as sent_face(); -1
  };
  struct OwnFace {
    std::int32_t fine, coarse;  // slots
    Side side;
  };
  struct CoarseFace {
    Side side;
    bool is_received;
    std::int32_t number;  // of an own face, or place among the received ones
  };
  // Of eight octants that are refined or not, no more faces are between one kind and the other, or
  // look outwards from one that is not.
  static constexpr int k_most_faces = 24;
  struct CoarseBlock {
    Key key = k_no_key;
    std::int32_t slot = -1;
    std::int32_t count = 0;
    std::array<CoarseFace, k_most_faces> faces;  // ordered by side
  };
  struct SentFace {
    std::int32_t owner;  // of the coarse block
    Key coarse;
    Side side;
    std::int32_t fine, face;  // slot, and which of its six
    auto order() const { return std::tuple(owner, coarse, side); }
  };
  struct SentChild {
    std::int32_t owner;  // of the parent
    Key key;
    std::int32_t slot;
    auto order() const { return std::tuple(owner, key); }
  };
  struct ReceivedFace {
    std::int32_t coarse;
    Side side;
  };
  // Slots, each once.
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
  static constexpr std::int32_t sent_face(int place) { return -2 - place; }

  bool has_block(int slot) const;
  bool is_jump(int slot, int face) const;
  template <class Work>
  void for_changed_faces(const Work& work);
  void find_touched();
  void forget_received();
  void release(int slot);
  void release_face(int slot, int face);
  void settle(int slot);
  void settle_face(int slot, int face);
  void announce_children();
  void announce_faces();
  void add_face(int coarse_slot, const CoarseFace& face);
  void remove_face(int coarse_slot, const Side& side);
  void write_corrections(int coarse_slot);
  void make_room();
  std::int64_t fine_register(std::int32_t face) const;
  std::int32_t coarse_number(const CoarseFace& face) const;
  FluxRequest coarse_request(const Side& side) const;

  const Tree& tree_;
  int fine_level_;
  BlockLayout layout_;
  double inverse_cell_size_;         // of the coarse level
  int octant_values_, face_values_;  // doubles in a restricted octant, in a register
  bool alone_;                       // one rank: nothing needs to travel

  SlotSet touched_fine_, touched_coarse_;                  // all of whose faces are found anew
  SlotSet rewritten_fine_;                                 // those with faces, now or before
  std::vector<FineBlock> fine_blocks_;                     // by fine slot
  std::vector<std::array<std::int32_t, 8>> child_owners_;  // by coarse slot
  std::vector<std::int32_t> block_of_slot_;  // by coarse slot: of coarse_blocks_, or -1
  std::vector<OwnFace> own_faces_;           // by number
  std::vector<CoarseBlock> coarse_blocks_;
  std::vector<std::int32_t> free_faces_, free_blocks_;
  std::vector<SentFace> sent_faces_;
  std::vector<SentChild> sent_children_;
  std::vector<ReceivedFace> received_faces_;
  // Registers that there is room for: of own faces, sent ones, received ones.
  std::int64_t own_room_ = 0, sent_room_ = 0, received_room_ = 0;
  std::int64_t coarse_begin_ = 0;

  DeviceTable<RestrictionTask> sent_restrictions_, own_restrictions_;  // the own ones by fine slot
  DeviceTable<OctantTask> octants_;
  std::unique_ptr<ExchangePlan> octant_plan_, face_plan_;
  SendBuffers octant_buffers_;
  DeviceArray<double> received_octants_, received_fluxes_;  // while they are under way
  DeviceTable<CorrectedBlock> blocks_;                      // by number of a coarse block
  DeviceTable<CorrectionTask> tasks_;                       // k_most_faces for each
};

}  // namespace octant::mesh
