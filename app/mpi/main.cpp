/// halftone-mpi: runs 'calibrate', 'compare' or 'tune' of halftone-cli on the ranks of an MPI job (core/shards/SCALE.md). Rank 0 hands out
/// shards on request, keeps those that are done in a journal, and merges them; the others compute, each in a process beside it.
#include "app/mpi/call.h"
#include "app/mpi/leader.h"
#include "app/mpi/worker.h"

#include <mpi.h>

#include <csignal>
#include <cstdio>

int main(int argc, char **argv)
{
    using namespace halftone;
    std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is an error as a full disk is
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const Result<mpi::Call> call = mpi::Call::read({argv + 1, argv + argc}, ranks);
    Result<void> done;
    if (!call.ok())
        done = call.error();
    else if (rank == 0)
        done = mpi::Leader(call.value(), ranks).run();
    else
        mpi::work(call.value());
    if (done.ok()) {
        MPI_Finalize();
        return 0;
    }
    if (rank == 0)
        std::fprintf(stderr, "error: %s\n", done.error().message().c_str());
    // The others may wait for a message, or compute.
    constexpr int kBadInput = 1;
    constexpr int kBadCall = 2;
    const int code = done.error().code == Errc::BadCall ? kBadCall : kBadInput;
    MPI_Barrier(call.ok() ? MPI_COMM_SELF
                          : MPI_COMM_WORLD); // a bad call is one on every rank: it is told first
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}
