// Communicator of a run with the few collective operations that other modules need.
//
// Every function that communicates is collective: all ranks call it, in the same order.
// Floating-point sums are missing because their bits would depend on the ranks: see
// reproducible_sum.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/mpi_layer.hpp"

namespace octant {

// Copies bytes. The buffers must not overlap. Null pointers are allowed with 0 bytes.
inline void copy_payload(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// Converts bytes back to items.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> items_of(std::span<const std::byte> bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  copy_payload(reinterpret_cast<std::byte*>(items.data()), bytes.data(), bytes.size());
  return items;
}

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
concept Number = Integer<T> || std::same_as<T, double>;

template <class T>
concept Copyable = std::is_trivially_copyable_v<T>;

// Communicator as a value: copies refer to the same ranks. Any call throws RunError if MPI fails.
class Communicator {
 public:
  // All ranks of the run; requires a living Runtime.
  static Communicator world();

  // Ranks with the same colour >= 0, in the order of their ranks. Collective.
  Communicator split(int colour) const { return Communicator(mpi::split(*comm_, colour)); }

  // Ranks that share this rank's memory, in the order of their ranks. Collective.
  Communicator split_by_node() const { return Communicator(mpi::split_by_node(*comm_)); }

  // Number of this rank, 0 <= rank < size. Local.
  int rank() const { return mpi::rank(*comm_); }
  // Number of ranks. Local.
  int size() const { return mpi::size(*comm_); }
  // True on rank 0. Local.
  bool is_root() const { return rank() == 0; }

  // Waits until all ranks have called barrier(). Collective.
  void barrier() const { mpi::barrier(*comm_); }

  // Maximum over all ranks, returned on every rank. Values must not be NaN. Collective.
  template <Number T>
  T max(T value) const {
    return reduced(value, mpi::Operation::max);
  }
  // Minimum over all ranks, returned on every rank. Collective.
  template <Number T>
  T min(T value) const {
    return reduced(value, mpi::Operation::min);
  }
  // Sum over all ranks, returned on every rank. Collective.
  template <Integer T>
  T sum(T value) const {
    return reduced(value, mpi::Operation::sum);
  }
  // Returns true if the statement holds on any rank. Collective.
  bool any(bool statement) const { return max(std::int32_t{statement}) != 0; }

  // Replaces each value by its maximum over all ranks. Arrays have equal lengths on every rank.
  // Collective.
  template <Number T>
  void max_in_place(std::span<T> values) const {
    all_reduce(values, mpi::Operation::max);
  }
  // Replaces each value by its minimum over all ranks. Collective.
  template <Number T>
  void min_in_place(std::span<T> values) const {
    all_reduce(values, mpi::Operation::min);
  }
  // Replaces each value by its sum over all ranks. Collective.
  template <Integer T>
  void sum_in_place(std::span<T> values) const {
    all_reduce(values, mpi::Operation::sum);
  }
  // Replaces each value by the bitwise or over all ranks. Collective.
  template <Integer T>
  void bitwise_or_in_place(std::span<T> values) const {
    all_reduce(values, mpi::Operation::bit_or);
  }

  // Sum over the ranks below this one; 0 on rank 0. Collective.
  template <Integer T>
  T exclusive_scan(T value) const {
    mpi::exclusive_scan(*comm_, &value, 1, scalar<T>());
    return value;
  }

  // Copies the root's value to all ranks. Collective.
  template <Copyable T>
  void broadcast(T& value, int root = 0) const {
    mpi::broadcast(*comm_, std::as_writable_bytes(std::span(&value, 1)), root);
  }
  // Copies the root's string to all ranks. Collective.
  void broadcast(std::string& text, int root = 0) const;
  // Copies the root's vector to all ranks. Collective.
  template <Copyable T>
  void broadcast(std::vector<T>& values, int root = 0) const {
    std::uint64_t count = values.size();
    broadcast(count, root);
    values.resize(count);
    mpi::broadcast(*comm_, std::as_writable_bytes(std::span(values)), root);
  }

  // Gathers the items of all ranks in the order of ranks on rank 0; empty elsewhere. Meant for
  // reports of a few bytes per rank, because the root stores them all.
  template <Copyable T>
  std::vector<T> gather_to_root(std::span<const T> items) const {
    return items_of<T>(mpi::gather_to_root(*comm_, std::as_bytes(items)));
  }
  // Gathers one item of each rank. Collective.
  template <Copyable T>
  std::vector<T> gather_to_root(const T& item) const {
    return gather_to_root(std::span<const T>(&item, 1));
  }

  // Runs a step that may fail on some ranks only. If it throws on any rank, every rank throws the
  // error of the lowest such rank: an InputError remains one, other errors become a RunError. The
  // step must not communicate after a point where it may throw, because the other ranks would wait.
  void collective_try(const std::function<void()>& step) const;

  mpi::Comm& handle() const { return *comm_; }  // for comm/ and comm/native.hpp

 private:
  explicit Communicator(mpi::CommPointer comm) : comm_(std::move(comm)) {}

  template <Number T>
  static constexpr mpi::Scalar scalar() {
    if constexpr (std::same_as<T, double>) return mpi::Scalar::float64;
    if constexpr (sizeof(T) == 4)
      return std::signed_integral<T> ? mpi::Scalar::int32 : mpi::Scalar::uint32;
    return std::signed_integral<T> ? mpi::Scalar::int64 : mpi::Scalar::uint64;
  }
  template <Number T>
  void all_reduce(std::span<T> values, mpi::Operation operation) const {
    mpi::all_reduce(*comm_, values.data(), values.size(), scalar<T>(), operation);
  }
  template <Number T>
  T reduced(T value, mpi::Operation operation) const {
    all_reduce(std::span<T>(&value, 1), operation);
    return value;
  }

  mpi::CommPointer comm_;
};

// Non-blocking element-wise maximum over all ranks. All ranks give arrays of equal length without
// NaN. Other messages and reductions may start and end before wait(), on all ranks in the same
// order. Throws RunError if MPI fails.
class PendingMaxima {
 public:
  // Starts the reduction. Collective.
  PendingMaxima(const Communicator& communicator, std::vector<double> values)
      : values_(std::move(values)) {
    requests_.all_max(communicator.handle(), values_);
  }
  ~PendingMaxima();
  PendingMaxima(PendingMaxima&&) noexcept = default;
  PendingMaxima& operator=(PendingMaxima&&) = delete;

  // Waits until all ranks have started; returns the results, equal on every rank.
  std::span<const double> wait() {
    requests_.wait();
    return values_;
  }

 private:
  std::vector<double> values_;  // the values keep their address if the object is moved
  mpi::Requests requests_;
};

}  // namespace octant
