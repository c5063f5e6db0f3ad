#include "app/mpi/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace halftone::mpi {
Result<void> Child::start(const std::vector<std::string> &arguments, Output output, bool takesLines)
{
    const auto failure = [&](std::string why) {
        return inFile(badInput({}, std::move(why), "halftone-cli in the folder of halftone-mpi"),
                      arguments[0]);
    };
    int input[2] = {-1, -1};
    int told[2] = {-1, -1};
    if ((takesLines && ::pipe2(input, O_CLOEXEC) != 0)
        || (output == Output::Read && ::pipe2(told, O_CLOEXEC) != 0)) {
        const FileDescriptor made[] = {FileDescriptor(input[0]), FileDescriptor(input[1])};
        return failure(std::strerror(errno));
    }
    const FileDescriptor theirInput(input[0]);
    const FileDescriptor theirOutput(told[1]);
    m_input = FileDescriptor(input[1]);
    m_output = FileDescriptor(told[0]);
    std::signal(SIGPIPE, SIG_IGN); // tell() says it
    ::setenv("HALFTONE_END_WITH", std::to_string(::getpid()).c_str(), 1);
    auto started = ChildProcess::start(
        arguments,
        {theirInput.number(), output == Output::Shown ? STDOUT_FILENO : theirOutput.number(), STDERR_FILENO});
    if (!started.ok())
        return failure(started.error().found);
    m_process = std::move(started).value();
    return {};
}

Result<void> Child::tell(const std::string &line)
{
    const std::string bytes = line + '\n';
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written = ::write(m_input.number(), bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno != EINTR)
            return badInput("merge",
                            std::string("stopped early; see the error above (") + std::strerror(errno) + ')');
        done += static_cast<std::size_t>(written > 0 ? written : 0);
    }
    return {};
}

std::optional<std::string> Child::readLine()
{
    for (;;) {
        if (const std::size_t end = m_read.find('\n'); end != std::string::npos) {
            std::string line = m_read.substr(0, end);
            m_read.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> bytes{};
        const ssize_t count = ::read(m_output.number(), bytes.data(), bytes.size());
        if (count == 0 || (count < 0 && errno != EINTR))
            return std::nullopt;
        m_read.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
}

int Child::wait()
{
    m_input.close();
    return m_process.wait();
}

Result<int> runProgram(const std::vector<std::string> &arguments, Child::Output output)
{
    Child child;
    HALFTONE_CHECK(child.start(arguments, output));
    return child.wait();
}

} // namespace halftone::mpi
