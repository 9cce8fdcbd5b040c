// Transpose's counterpart in the memory of Kokkos' default execution space: kernels pack and unpack
// its messages. Internal to pencil/.
#pragma once

#include <memory>
#include <string>

#include "comm/comm_options.hpp"
#include "pencil/device_field.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

class BatchedTranspose {
 public:
  // From the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in `ranks`. Each
  // side's boxes are disjoint. Messages lie in `memory`. Collective.
  BatchedTranspose(const std::string& name, const Communicator& ranks, const BoxOf& source_of,
                   const BoxOf& target_of, const CommOptions& comm,
                   std::shared_ptr<BatchedMemory> memory);
  ~BatchedTranspose();
  BatchedTranspose(BatchedTranspose&&) noexcept;
  BatchedTranspose& operator=(BatchedTranspose&&) noexcept;

  // Copies every cell to where it belongs. Cell 0 of row 0 of plane 0 of a view is the first one of
  // this rank's box. The views must not overlap. Collective. Waits for kernels that were launched
  // before, but not for those that unpack.
  void forward(const FieldView& source, const FieldView& target);
  void backward(const FieldView& target, const FieldView& source);

  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
