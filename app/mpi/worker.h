#pragma once

#include "app/mpi/call.h"

namespace halftone::mpi {

/// Messages of a worker: Ask, with the host's name, before anything else; then Done, with a shard's file, for each shard that it
/// did. Of the leader: File, for each of Call::sentFiles(), once it was asked; then Shard, with index from 0 and number as uint64
/// and, of a search, the file of its groups; Rest, when none is left, to keep nothing ready for more of them; or Stop, once everything
/// is done. Failed: why a shard was not done.
enum Tag : int
{
    Ask,
    Done,
    Failed,
    File,
    Shard,
    Rest,
    Stop
};

/// Computes shards until the leader says that there are no more.
void work(Call call);

} // namespace halftone::mpi
