#pragma once

#include "core/base/result.h"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace halftone {

/// Descriptors that a program gets as its standard streams; -1: /dev/null.
struct ChildStreams
{
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// A program that was started; killed and waited for at the end of its life here.
class ChildProcess
{
public:
    ChildProcess() = default; ///< none
    ChildProcess(ChildProcess &&other) noexcept
        : m_pid(std::exchange(other.m_pid, -1))
    {
    }
    ChildProcess &operator=(ChildProcess &&other) noexcept
    {
        std::swap(m_pid, other.m_pid);
        return *this;
    }
    ~ChildProcess();

    /// Looks the program up in PATH unless its name has a slash. Of this process it has the environment, but no blocked or ignored signals.
    /// fails: Unsupported if there is no such program or it cannot be started (where = its name)
    static Result<ChildProcess> start(const std::vector<std::string> &command, const ChildStreams &streams);

    void kill() const;
    void terminate() const; ///< SIGTERM, which lets it clean up
    /// Processor time that it has used; 0 where the system does not tell.
    std::chrono::milliseconds computed() const;
    /// Waits for its end. The exit code; 128 + signal when a signal ended it.
    int wait();

private:
    pid_t m_pid = -1;
};

} // namespace halftone
