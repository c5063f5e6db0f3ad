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
        command; ///< of halftone-cli: "calibrate" or "compare" with its options, but for --out
    std::string out; ///< the table
    std::string journal; ///< a folder; OUT.journal
    std::string program; ///< halftone-cli, beside this program
    std::size_t tasks = 0; ///< shards; where a journal is there, its own number counts
    double timeLimit = 600; ///< seconds a task

    /// fails: BadCall for another command, without --out, for numbers that are none, for fewer than two ranks
    static Result<Call> read(const std::vector<std::string> &arguments, int ranks);
};

/// Runs a program, whose output is dropped unless it fails, and then told. The exit code; 128 and more after a signal.
/// fails: BadInput when it cannot be started
Result<int> runProgram(const std::vector<std::string> &arguments);

} // namespace halftone::mpi
