#pragma once

#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"
#include "core/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::mpi {

/// A program that is ended when the rank that started it is. Its errors are those of the rank.
class Child
{
public:
    enum class Output
    {
        Dropped,
        Shown,
        Read ///< by readLine()
    };

    /// takesLines  tell() gives it lines on standard input
    /// fails: BadInput when it cannot be started
    Result<void> start(const std::vector<std::string> &arguments, Output output = Output::Dropped,
                       bool takesLines = false);
    /// fails: BadInput when it has ended
    Result<void> tell(const std::string &line);
    /// Waits for a line of standard output. Nothing: it has ended, or closed it.
    std::optional<std::string> readLine();
    /// Waits for its end. The exit code; 128 and more after a signal.
    int wait();

private:
    ChildProcess m_process;
    FileDescriptor m_input;
    FileDescriptor m_output;
    std::string m_read; ///< behind the last line
};

/// start() and wait().
Result<int> runProgram(const std::vector<std::string> &arguments,
                       Child::Output output = Child::Output::Dropped);

} // namespace halftone::mpi
