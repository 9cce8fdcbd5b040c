// What strategies of a PoissonSolver between its transforms share (see y_pass.hpp). Internal to
// pencil/.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "pencil/spectrum.hpp"

namespace octant::pencil {

// Planes are those of this rank's x-pencil, and come in the order of the sweep, then in the
// opposite one. All threads of a team call these but exchange, which is collective.
class YPass {
 public:
  virtual ~YPass() = default;

  // Where the coefficients of the rows of plane k are to be written.
  virtual std::span<const RowPiece> rows_to_write(const Team& team, int k) = 0;
  // When they have been, before those of the next plane.
  virtual void forward(const Team& team, int k) = 0;
  // In three parts, so that solvers can join what they exchange along z.
  void exchange() {
    begin_exchange();
    exchange_lines();
    end_exchange();
  }
  virtual void begin_exchange() = 0;
  virtual void exchange_lines() = 0;
  virtual void end_exchange() {}
  // Where the solver of lines along z keeps coefficients from forward to backward.
  virtual Planes kept() const = 0;
  // Where the rows of plane k of the solution are.
  virtual std::span<const RowPiece> rows_to_read(const Team& team, int k) = 0;
  // The rows of plane n of the sweep, if another rank has written there and cache lines are better
  // called for while a thread works on the plane before.
  virtual std::span<const RowPiece> rows_ahead(const Team&, int) { return {}; }

  // See PoissonSolver.
  virtual bool first_may_be_last() const { return true; }
  // Waits until memory that solvers share is free for the next solve. Collective.
  virtual void take_turns() {}

  virtual LineSolver<ShiftedMatrices>& lines() const = 0;
  virtual PoissonReport report() const = 0;
};

// Planes between the transforms along x and y where p_y = 1. Threads change there from rows to
// blocks: what a thread has made just before is slow to reach for another one, and comes faster
// from the cache that they share. So several threads do that for a batch of planes at once. All
// threads of a team call these functions alike.
class Batches {
 public:
  Batches(int planes, std::ptrdiff_t doubles_of_plane);

  int size() const { return size_; }
  // Forward: the place in its batch of the plane whose rows come next.
  int next_place(const Team& team) const;
  // Its rows have been written: the planes of the batch, by their places, if it is full now.
  std::span<const int> add(const Team& team, int k);
  // Those of the last batch, when all planes have been added.
  std::span<const int> rest(const Team& team);

  // Back: the numbers of planes, in the order of the sweep, that are to be solved for when number
  // n is wanted, from the last one down; a barrier must follow. Their places are n % size().
  Range wanted(const Team& team, int n);
  void begin_backward();

 private:
  struct alignas(64) Thread {
    std::vector<int> waiting;  // planes whose rows have been written
    bool is_full = false;      // they have been handed out
    int known = 0;             // planes from here on have been solved
  };
  int planes_, size_;
  std::vector<Thread> threads_;
};

// The passes whose planes go one by one to the solver of lines along z.
class PlanePass : public YPass {
 public:
  PlanePass(const Spectrum& spectrum, YPass* twin);

  LineSolver<ShiftedMatrices>& lines() const override { return *solver_; }
  void exchange_lines() override;
  PoissonReport report() const override;

 protected:
  // Plane k, from its transform along y to the solver of lines, and back.
  void forward_plane(const Team& team, int k, double* plane);
  void backward_plane(const Team& team, int k, double* plane);

  const Spectrum& spectrum_;
  Columns columns_;
  PoissonReport times_;

 private:
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver_;
  Buffer carry_;  // the plane that is substituted
};

}  // namespace octant::pencil
