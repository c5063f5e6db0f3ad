#include "core/runtimes/ask_python.h"

#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace halftone::runtimes {
namespace {

using Clock = std::chrono::steady_clock;

/// The first line that comes before the deadline.
std::optional<std::string> lineFrom(const FileDescriptor &end, Clock::time_point deadline)
{
    constexpr std::size_t kLongest = 4096; ///< of paths
    std::string text;
    while (text.size() < kLongest) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd polled{end.number(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&polled, 1, static_cast<int>(left.count())) <= 0)
            return std::nullopt;
        std::array<char, 512> part{};
        const ssize_t count = ::read(end.number(), part.data(), part.size());
        if (count <= 0)
            return std::nullopt;
        text.append(part.data(), static_cast<std::size_t>(count));
        if (const std::size_t line = text.find('\n'); line != std::string::npos)
            return std::string(trimmed(std::string_view(text).substr(0, line)));
    }
    return std::nullopt;
}

} // namespace

bool isScript(const std::string &program)
{
    std::array<char, 2> start{};
    std::ifstream(program, std::ios::binary).read(start.data(), start.size());
    return start == std::array{'#', '!'};
}

std::optional<std::string> askedPrefix(const std::string &program, std::chrono::milliseconds limit)
{
    const Clock::time_point deadline = Clock::now() + limit;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return std::nullopt;
    const FileDescriptor read(ends[0]);
    FileDescriptor write(ends[1]);
    const auto child
        = ChildProcess::start({program, "-c", "import sys; print(sys.prefix)"}, {.output = write.number()});
    write.close();
    return child.ok() ? lineFrom(read, deadline) : std::nullopt;
}

} // namespace halftone::runtimes
