#pragma once

#include "core/runtimes/kinds.h"

#include <string>
#include <vector>

namespace halftone::runtimes {

/// Where the library of a runtime is.
struct FoundLibrary
{
    std::string file; ///< empty: it is nowhere
    std::string version; ///< as the name of the file says it; empty: it says none
    std::vector<std::string> tried; ///< places that were looked at, for the message that there is none
    bool mayBeAsked = false; ///< the `python3` in PATH is a script, which alone knows where packages are
};

/// Looks at the kind's variable of the environment, which alone counts if it is set; then in the packages of $VIRTUAL_ENV and of the first
/// `python3` in PATH, then where the loader looks. Starts no program.
FoundLibrary findLibrary(const RuntimeKind &kind);

/// Runs that script, which may take five seconds, and looks in the packages of the Python that it chooses.
FoundLibrary askForLibrary(const RuntimeKind &kind, FoundLibrary found);

} // namespace halftone::runtimes
