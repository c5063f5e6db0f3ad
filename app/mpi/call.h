#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::mpi {

/// A call of halftone-mpi.
struct Call
{
    std::vector<std::string>
        command; ///< of halftone-cli: "calibrate", "compare" or "tune" with its options, but for --out
    std::string out; ///< the table, or the front
    std::string statistics; ///< where to put what was merged, of a search its state; empty: nowhere
    std::string journal; ///< a folder; OUT.journal
    std::string program; ///< halftone-cli, beside this program
    std::size_t shards = 0; ///< a journal's own number counts instead
    bool areShardsAsked = false; ///< else there are at most as many as examples
    double timeLimit = 600; ///< seconds a shard

    /// A search: shards are candidates, and what follows them is done on rank 0, since times are those of one machine.
    bool isSearch() const { return command[0] == "tune"; }
    /// Places in `command` of files that only rank 0 has to have: policies and tables.
    std::vector<std::size_t> sentFiles() const;

    /// fails: BadCall for another command, without --out, for numbers that are none, for fewer than two ranks
    static Result<Call> read(const std::vector<std::string> &arguments, int ranks);
};

} // namespace halftone::mpi
