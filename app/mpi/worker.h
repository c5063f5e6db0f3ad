#pragma once

#include "app/mpi/call.h"

namespace halftone::mpi {

/// Messages: a worker asks with Ask and an answer to its last task, or nothing; the leader answers with Task (index from 0, of)
/// or Stop. Failed: the exit code of a task.
enum Tag : int
{
    Ask,
    Done,
    Failed,
    Task,
    Stop
};

/// Computes tasks until the leader says that there are no more.
void work(const Call &call);

} // namespace halftone::mpi
