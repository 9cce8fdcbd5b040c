// The ranks of a run, and the few collective operations that the other rooms need.
//
// Every function that talks to other ranks is collective: all ranks call it, in the same order. A
// floating-point sum is not among them because its bits would depend on the ranks: see
// reproducible_sum.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/mpi_layer.hpp"
#include "comm/payload.hpp"

namespace octant {

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
concept Number = Integer<T> || std::same_as<T, double>;

template <class T>
concept Copyable = std::is_trivially_copyable_v<T>;

// A value: copies stand for the same ranks. Any call throws RunError if MPI fails.
class Communicator {
 public:
  // All ranks of the run; needs a living Runtime.
  static Communicator world();

  // The ranks that give the same colour >= 0, in the order of their ranks. Collective.
  Communicator split(int colour) const { return Communicator(mpi::split(*comm_, colour)); }

  // The ranks that share this rank's memory, in the order of their ranks. Collective.
  Communicator split_by_node() const { return Communicator(mpi::split_by_node(*comm_)); }

  int rank() const { return mpi::rank(*comm_); }
  int size() const { return mpi::size(*comm_); }
  bool is_root() const { return rank() == 0; }

  void barrier() const { mpi::barrier(*comm_); }

  // The largest, smallest or total value of all ranks, on every rank. NaN has no place here.
  template <Number T>
  T max(T value) const {
    return reduced(value, mpi::Operation::max);
  }
  template <Number T>
  T min(T value) const {
    return reduced(value, mpi::Operation::min);
  }
  template <Integer T>
  T sum(T value) const {
    return reduced(value, mpi::Operation::sum);
  }
  // Whether the statement holds on any rank.
  bool any(bool statement) const { return max(std::int32_t{statement}) != 0; }

  // The same, element by element, for arrays of equal length on every rank.
  template <Number T>
  void max_in_place(std::span<T> values) const {
    reduce(values, mpi::Operation::max);
  }
  template <Number T>
  void min_in_place(std::span<T> values) const {
    reduce(values, mpi::Operation::min);
  }
  template <Integer T>
  void sum_in_place(std::span<T> values) const {
    reduce(values, mpi::Operation::sum);
  }
  template <Integer T>
  void bitwise_or_in_place(std::span<T> values) const {
    reduce(values, mpi::Operation::bit_or);
  }

  // The sum over the ranks below this one; 0 on rank 0.
  template <Integer T>
  T exclusive_scan(T value) const {
    mpi::exclusive_scan(*comm_, &value, 1, scalar<T>());
    return value;
  }

  // Gives every rank the root's value. Texts and vectors take the root's length.
  template <Copyable T>
  void broadcast(T& value, int root = 0) const {
    mpi::broadcast(*comm_, std::as_writable_bytes(std::span(&value, 1)), root);
  }
  void broadcast(std::string& text, int root = 0) const;
  template <Copyable T>
  void broadcast(std::vector<T>& values, int root = 0) const {
    std::uint64_t count = values.size();
    broadcast(count, root);
    values.resize(count);
    mpi::broadcast(*comm_, std::as_writable_bytes(std::span(values)), root);
  }

  // The items of all ranks in the order of ranks, on rank 0; empty elsewhere. The root holds them
  // all: for reports of a few bytes per rank.
  template <Copyable T>
  std::vector<T> gather_to_root(std::span<const T> items) const {
    return items_of<T>(mpi::gather_to_root(*comm_, std::as_bytes(items)));
  }
  template <Copyable T>
  std::vector<T> gather_to_root(const T& item) const {
    return gather_to_root(std::span<const T>(&item, 1));
  }

  // Runs a step that may fail on some ranks only. If it throws on any rank, every rank throws the
  // error of the lowest such rank: an InputError stays one, anything else becomes a RunError. The
  // step must not communicate after the point where it may throw, or the other ranks would wait.
  void agree(const std::function<void()>& step) const;

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
  void reduce(std::span<T> values, mpi::Operation operation) const {
    mpi::all_reduce(*comm_, values.data(), values.size(), scalar<T>(), operation);
  }
  template <Number T>
  T reduced(T value, mpi::Operation operation) const {
    reduce(std::span<T>(&value, 1), operation);
    return value;
  }

  mpi::CommPointer comm_;
};

}  // namespace octant
