#include "core/base/thread_share.h"

#include "core/base/file_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

namespace halftone {

std::optional<std::chrono::nanoseconds> timeWaited()
{
    const FileDescriptor file(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
    if (!file.isOpen())
        return std::nullopt;
    std::array<char, 128> text{}; // nanoseconds that it ran, nanoseconds that it waited, turns that it had
    const ssize_t size = ::read(file.number(), text.data(), text.size());
    if (size <= 0)
        return std::nullopt;
    const std::string_view line(text.data(), static_cast<std::size_t>(size));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos)
        return std::nullopt;
    long long waited = 0;
    const auto [end, error] = std::from_chars(line.data() + space + 1, line.data() + line.size(), waited);
    return error == std::errc() ? std::optional(std::chrono::nanoseconds(waited)) : std::nullopt;
}

void stepBehind([[maybe_unused]] int steps)
{
#ifdef __linux__
    const auto thread = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + steps);
#endif
}

} // namespace halftone
