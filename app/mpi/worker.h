#pragma once

#include "app/mpi/call.h"

namespace halftone::mpi {

/// Messages of a worker: Ask, with the host's name, before anything else; then Done, with a shard's file, for each task that it
/// did. Of the leader: Task, with index from 0 and number as uint64 and, of a search, the file of its groups; or Stop, once
/// everything is done. Failed: why a task was not done.
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
