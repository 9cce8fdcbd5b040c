// A wrong program for two ranks, which the irregular network must expose: rank 1 assumes that the
// first of two messages arrives first, and counts how often it did not; rank 0 sends a message at
// the end that nobody receives, and does not complete the request.
#include <mpi.h>
#include <stdio.h>

enum { k_rounds = 200 };

int main(int argc, char** argv) {
  int rank, wrong = 0, last = 0;
  MPI_Request requests[2], lost;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < k_rounds; ++round) {
    int sent[2] = {round, round}, received[2] = {-1, -1}, index;
    for (int n = 0; n < 2; ++n)
      if (rank == 0) MPI_Isend(sent + n, 1, MPI_INT, 1, n, MPI_COMM_WORLD, requests + n);
      else MPI_Irecv(received + n, 1, MPI_INT, 0, n, MPI_COMM_WORLD, requests + n);
    if (rank == 1) {
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      wrong += received[0] != round;
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0) MPI_Isend(&last, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &lost);
  if (rank == 1) printf("wrong %d\n", wrong);
  MPI_Finalize();
}
