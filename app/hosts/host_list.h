#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::app {

/// A machine that is to compute, and how many shards at a time.
struct Host
{
    std::string name;
    std::size_t slots = 1;

    bool isThisMachine() const;
    bool operator==(const Host &) const = default;
};

/// A list as Open MPI's host files are: "NAME", "NAME slots=8" or "NAME:8" a line, # begins a comment. A host that stands there
/// again adds its slots.
/// file  for errors; empty: none. fails: BadInput for a line that says something else, with its number; for a list of nobody
Result<std::vector<Host>> readHosts(std::string_view text, const std::string &file = {});

/// What mpirun is given: this machine first, with a slot more for rank 0, which keeps the journal and merges.
struct Ranks
{
    std::string hostfile;
    std::size_t count = 0;
};
/// isOneEach  one rank a host, however many slots it has: each then computes with all its threads
Ranks ranksOn(const std::vector<Host> &hosts, bool isOneEach);

} // namespace halftone::app
