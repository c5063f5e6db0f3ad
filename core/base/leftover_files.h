#pragma once

#include <set>
#include <string>

namespace halftone {

/// The temporary files and locks of this process, by path, to be removed if it is terminated. Safe from any thread.
namespace owned_files {

void add(const std::string &path);
/// Does not allocate memory; for a file that already exists.
void add(std::set<std::string> &&paths) noexcept;
void drop(const std::string &path) noexcept;
void removeAll(); ///< removes the files, but keeps their names

} // namespace owned_files

/// Path of an incomplete file: `.halftone-PID-N.tmp` in the folder of its target. Its creator holds flock() on it until it is removed, so
/// that other processes can recognise files of killed runs.
std::string temporaryName(unsigned long process, unsigned number);

/// Path of the lock on `output`: `.halftone-HASH.lock`, equally long for every name. Held by flock(), too.
std::string lockName(const std::string &output);

/// Removes temporary files and locks of killed runs from a folder: those that no process holds and whose process has ended. Files
/// that cannot be removed stay; never fails.
void removeLeftovers(const std::string &folder);

} // namespace halftone
