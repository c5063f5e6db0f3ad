#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/result.h"

#include <string>

namespace halftone {

/// Keeps a second process (or a second job of this one) from writing what belongs together under one name. Gone with its
/// holder, however that ends: a lock file that a killed run left is taken over.
class OutputLock
{
public:
    /// `output`: the path that the files have in common. Where the file system knows no locks there is none.
    /// fails: BadInput when somebody holds it, naming the process, or when the folder is missing or not writable
    static Result<OutputLock> take(const std::string &output);

    /// Is somebody writing `output` at this moment?
    static bool isHeld(const std::string &output);

    OutputLock(OutputLock &&other) noexcept;
    OutputLock &operator=(OutputLock &&) = delete;
    ~OutputLock();

private:
    OutputLock(FileDescriptor file, std::string path);

    FileDescriptor m_file;
    std::string m_path; ///< of the lock file; empty once it is another's
};

} // namespace halftone
