#include "core/base/output_lock.h"

#include "core/base/file_error.h"
#include "core/base/leftover_files.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

namespace halftone {
namespace {

std::string lockPath(const std::string &output)
{
    return (std::filesystem::path(output).parent_path() / lockName(output)).string();
}

/// Whoever held the lock before may have removed its file between our open() and flock().
bool isStillThere(const FileDescriptor &file, const std::string &path)
{
    struct stat held = {};
    struct stat named = {};
    return ::fstat(file.number(), &held) == 0 && ::stat(path.c_str(), &named) == 0
        && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/// "process 1234", as the holder wrote it.
std::string holderOf(const FileDescriptor &file)
{
    std::array<char, 24> text{};
    const ssize_t size = ::pread(file.number(), text.data(), text.size(), 0);
    const auto process = parseInteger(trimmed({text.data(), size > 0 ? static_cast<std::size_t>(size) : 0}));
    return process ? "process " + std::to_string(*process) : "another process";
}

void writeHolder(const FileDescriptor &file)
{
    const std::string text = std::to_string(::getpid()) + '\n';
    // Only for the message of who finds it taken.
    if (::ftruncate(file.number(), 0) == 0)
        static_cast<void>(::pwrite(file.number(), text.data(), text.size(), 0) == 0);
}

} // namespace

OutputLock::OutputLock(FileDescriptor file, std::string path)
    : m_file(std::move(file))
    , m_path(std::move(path))
{
}

OutputLock::OutputLock(OutputLock &&other) noexcept
    : m_file(std::move(other.m_file))
    , m_path(std::exchange(other.m_path, {}))
{
}

OutputLock::~OutputLock()
{
    if (m_path.empty())
        return;
    ::unlink(m_path.c_str());
    owned_files::drop(m_path);
}

Result<OutputLock> OutputLock::take(const std::string &output)
{
    constexpr int kAttempts = 20;
    // Whoever looks whether it is held has it for a moment.
    constexpr std::chrono::milliseconds kWait(5);
    std::string path = lockPath(output);
    std::set<std::string> owned{path};
    std::string holder;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!file.isOpen())
            return fileError(output, "write", errno);
        if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            holder = holderOf(file);
            std::this_thread::sleep_for(kWait);
        } else if (isStillThere(file, path)) {
            writeHolder(file);
            // From here on nothing asks for memory: an exception would leave the file.
            owned_files::add(std::move(owned));
            return OutputLock(std::move(file), std::move(path));
        }
    }
    return Error{
        Errc::BadInput, output, {}, holder + " is writing this file", "; wait for it or choose another name"};
}

bool OutputLock::isHeld(const std::string &output)
{
    const FileDescriptor file(
        ::open(lockPath(output).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    return file.isOpen() && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

} // namespace halftone
