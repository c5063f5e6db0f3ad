#pragma once

#include "core/base/result.h"

#include <span>
#include <string>

namespace halftone {

/// A file that is read or written, and what the caller calls it: an option, "the model".
struct NamedFile
{
    std::string what;
    std::string path;
};

/// For a command to call before its work begins: its outputs can be written, and replace neither what it reads nor one
/// another. Files are told apart by what they are (device and inode, through links), not by name; outputs that are not
/// there yet by their folder and name.
/// fails: BadCall for an output that is a file of `reads`, another output, a folder, or has no name; what the file system
///        says of an output's folder. Files of `reads` that are not there are left to whoever reads them.
Result<void> checkOutputs(std::span<const NamedFile> reads, std::span<const NamedFile> writes);

} // namespace halftone
