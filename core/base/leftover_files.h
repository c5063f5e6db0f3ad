#pragma once

#include <set>
#include <string>

namespace halftone {

/// The temporary files and locks of this process, by path: what it removes when it ends at once. All of it from any thread.
namespace owned_files {

void add(const std::string &path);
/// Without a request for memory, for a file that is there already.
void add(std::set<std::string> &&paths) noexcept;
void drop(const std::string &path) noexcept;
void removeAll(); ///< the files; their names stay

} // namespace owned_files

/// Where a file stands while it is not whole yet: `.halftone-PID-N.tmp` beside its target. Whoever makes it holds flock() on
/// it until it is gone, so that others can tell it from one that a killed run left.
std::string temporaryName(unsigned long process, unsigned number);

/// The lock on `output` (a path): `.halftone-HASH.lock`, of the same length for every name. Held by flock() as well.
std::string lockName(const std::string &output);

/// Removes the temporary files and locks that killed runs left in a folder: those with such a name that nobody holds and
/// whose process is gone. What cannot be removed stays; nothing here can fail.
void removeLeftovers(const std::string &folder);

} // namespace halftone
