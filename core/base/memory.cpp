#include "core/base/memory.h"

#include "core/base/file_descriptor.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

namespace halftone {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kReserve = std::size_t{256} << 10;

std::atomic<void *> s_reserve = nullptr;
std::atomic<std::uint64_t> s_refused = 0;

/// The beginning of a small text that the system makes, in place.
class SystemText
{
public:
    explicit SystemText(const char *path)
    {
        const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
        const ssize_t got = file.isOpen() ? ::read(file.number(), m_bytes.data(), m_bytes.size()) : 0;
        m_length = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }

    /// The first number behind `key`; behind nothing, the first of all.
    std::optional<std::uint64_t> numberAfter(std::string_view key) const
    {
        std::string_view text(m_bytes.data(), m_length);
        const std::size_t at = text.find(key);
        if (at == std::string_view::npos)
            return std::nullopt;
        text.remove_prefix(at + key.size());
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        std::uint64_t number = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        return failure == std::errc() ? std::optional(number) : std::nullopt;
    }

private:
    std::array<char, 4096> m_bytes{};
    std::size_t m_length = 0;
};

std::uint64_t leftOf(std::optional<std::uint64_t> limit, std::optional<std::uint64_t> used)
{
    return limit && used ? *limit - std::min(*limit, *used) : kUnlimited;
}

std::uint64_t leftInSystem()
{
    const auto kibibytes = SystemText("/proc/meminfo").numberAfter("MemAvailable:");
    return kibibytes ? *kibibytes * 1024 : kUnlimited;
}

/// Of the control group as a container sees it. What its files take of it is given back when it is wanted.
std::uint64_t leftInGroup()
{
    const auto given = SystemText("/sys/fs/cgroup/memory.stat").numberAfter("inactive_file ");
    const std::uint64_t left = leftOf(SystemText("/sys/fs/cgroup/memory.max").numberAfter(""),
                                      SystemText("/sys/fs/cgroup/memory.current").numberAfter(""));
    return left == kUnlimited ? left : left + given.value_or(0);
}

std::uint64_t leftOfAddresses()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kUnlimited;
    const auto pages = SystemText("/proc/self/statm").numberAfter("");
    const auto pageSize = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return leftOf(limit.rlim_cur, pages ? std::optional(*pages * pageSize) : std::nullopt);
}

} // namespace

std::uint64_t availableMemory()
{
    return std::min({leftInSystem(), leftInGroup(), leftOfAddresses()});
}

Error outOfMemory(std::uint64_t bytes, const std::string &what)
{
    return noMemory("out of memory: " + humanBytes(bytes) + " requested"
                    + (what.empty() ? "" : " for " + what) + ", " + humanBytes(availableMemory()) + " left");
}

Result<void> checkRoom(std::uint64_t bytes, const std::string &what)
{
    if (bytes < kLargeRequest || bytes <= availableMemory())
        return {};
    return outOfMemory(bytes, what);
}

void checkMemory(const std::error_code &code)
{
    if (code == std::errc::not_enough_memory)
        throw std::bad_alloc();
}

void noteRefusal(std::uint64_t bytes) noexcept
{
    s_refused = bytes;
}

std::uint64_t lastRefusal() noexcept
{
    return s_refused;
}

void reserveMemory()
{
    void *const reserve = std::malloc(kReserve);
    std::free(s_reserve.exchange(reserve));
}

void releaseReserve() noexcept
{
    std::free(s_reserve.exchange(nullptr));
}

} // namespace halftone
