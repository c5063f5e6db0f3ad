#include "core/base/leftover_files.h"

#include "core/base/file_descriptor.h"
#include "core/base/fnv1a.h"
#include "core/base/hex.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>

namespace halftone {
namespace {

namespace fs = std::filesystem;

std::mutex s_ownedMutex;
std::set<std::string> s_owned;

constexpr std::string_view kPrefix = ".halftone-";
constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr std::string_view kLockSuffix = ".lock";

/// The process in the name of a temporary file; 0 for another name.
std::int64_t processOf(std::string_view name)
{
    if (!name.starts_with(kPrefix) || !name.ends_with(kTemporarySuffix))
        return 0;
    name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kTemporarySuffix.size());
    const std::size_t dash = name.find('-');
    const bool hasNumber = dash != std::string_view::npos && parseInteger(name.substr(dash + 1));
    return hasNumber ? parseInteger(name.substr(0, dash)).value_or(0) : 0;
}

/// Of this one the locks alone speak.
bool isAnotherLiving(std::int64_t process)
{
    return process != ::getpid() && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

/// With the lock in hand, so that nobody takes it meanwhile.
void removeIfFree(const std::string &path)
{
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status = {};
    if (file.isOpen() && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)
        && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
}

bool isLock(std::string_view name)
{
    return name.starts_with(kPrefix) && name.ends_with(kLockSuffix);
}

} // namespace

void owned_files::add(const std::string &path)
{
    const std::lock_guard lock(s_ownedMutex);
    s_owned.insert(path);
}

void owned_files::add(std::set<std::string> &&paths) noexcept
{
    const std::lock_guard lock(s_ownedMutex);
    s_owned.merge(paths);
}

void owned_files::drop(const std::string &path) noexcept
{
    const std::lock_guard lock(s_ownedMutex);
    s_owned.erase(path);
}

void owned_files::removeAll()
{
    const std::lock_guard lock(s_ownedMutex);
    for (const std::string &path : s_owned)
        ::unlink(path.c_str());
}

std::string temporaryName(unsigned long process, unsigned number)
{
    return std::string(kPrefix) + std::to_string(process) + '-' + std::to_string(number)
        + std::string(kTemporarySuffix);
}

std::string lockName(const std::string &output)
{
    Fnv1a hash;
    hash.add(fs::path(output).filename().string());
    return std::string(kPrefix) + hexDigits(hash.value()) + std::string(kLockSuffix);
}

void removeLeftovers(const std::string &folder)
{
    std::error_code error;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        const std::int64_t process = processOf(name);
        if (process > 0 ? !isAnotherLiving(process) : isLock(name))
            removeIfFree(at->path().string());
    }
}

} // namespace halftone
