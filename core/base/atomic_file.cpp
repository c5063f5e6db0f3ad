#include "core/base/atomic_file.h"

#include "core/base/file_error.h"
#include "core/base/leftover_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <system_error>

namespace halftone {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferSize = std::size_t{1} << 16;
constexpr unsigned kPermissionBits = 0777;

std::timed_mutex s_renaming; ///< held while files that belong together are put in place

void removeTemporary(const std::string &name)
{
    ::unlink(name.c_str());
    owned_files::drop(name);
}

/// A name beside `target` that no other process or thread picks.
std::string unusedNameBeside(const std::string &target)
{
    static std::atomic<unsigned> counter = 0;
    const fs::path folder = fs::path(target).parent_path();
    for (;;) {
        const std::string name = temporaryName(static_cast<unsigned long>(::getpid()), counter++);
        std::string path = (folder / name).string();
        if (::access(path.c_str(), F_OK) != 0)
            return path;
    }
}

/// Locks a file against removal as a leftover; false when somebody has removed it already. A file system without locks
/// keeps nothing, and there removeLeftovers() finds no file that it could lock.
bool hold(const FileDescriptor &file)
{
    struct stat status = {};
    ::flock(file.number(), LOCK_EX | LOCK_NB);
    return ::fstat(file.number(), &status) == 0 && status.st_nlink > 0;
}

/// The rename is on the disk only when its folder is. Some file systems cannot do that; the file is whole all
/// the same.
void syncFolderOf(const std::string &path)
{
    const std::string folder = fs::path(path).parent_path().string();
    const FileDescriptor descriptor(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.isOpen())
        ::fsync(descriptor.number());
}

std::string withLinkResolved(const std::string &path)
{
    std::error_code error;
    if (!fs::is_symlink(path, error))
        return path;
    const fs::path target = fs::weakly_canonical(path, error);
    return error ? path : target.string();
}

} // namespace

AtomicFile::AtomicFile(std::string path, std::string target, Sources sources)
    : m_path(std::move(path))
    , m_target(std::move(target))
    , m_sources(sources)
{
    m_buffer.reserve(kBufferSize);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : m_path(std::move(other.m_path))
    , m_target(std::move(other.m_target))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_kept(std::exchange(other.m_kept, {}))
    , m_replaces(other.m_replaces)
    , m_mode(other.m_mode)
    , m_sources(other.m_sources)
    , m_failure(other.m_failure)
    , m_file(std::move(other.m_file))
    , m_hold(std::move(other.m_hold))
    , m_keptHold(std::move(other.m_keptHold))
    , m_buffer(std::move(other.m_buffer))
{
}

AtomicFile::~AtomicFile()
{
    if (!m_temporary.empty())
        removeTemporary(m_temporary);
    dropOld();
}

void AtomicFile::removeTemporaries()
{
    constexpr std::chrono::milliseconds kPatience(100);
    static_cast<void>(s_renaming.try_lock_for(kPatience)); // and never given back
    owned_files::removeAll();
}

Result<AtomicFile> AtomicFile::create(const std::string &path, Sources sources)
{
    AtomicFile file(path, withLinkResolved(path), sources);
    struct stat status = {};
    if (::stat(file.m_target.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return Error{Errc::BadInput, path, {}, "exists and is not a regular file", {}};
        file.m_replaces = FileIdentity{status.st_dev, status.st_ino};
        file.m_mode = status.st_mode & kPermissionBits;
    }
    removeLeftovers(fs::path(file.m_target).parent_path().string());
    HALFTONE_CHECK(file.openTemporary());
    return file;
}

Result<void> AtomicFile::openTemporary()
{
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::string name = unusedNameBeside(m_target);
        owned_files::add(name);
        FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!file.isOpen()) {
            const int failure = errno;
            owned_files::drop(name);
            if (failure == EEXIST)
                continue;
            return fileError(m_path, "write", failure);
        }
        if (!hold(file))
            continue;
        m_temporary = name;
        m_hold = FileDescriptor(::fcntl(file.number(), F_DUPFD_CLOEXEC, 0));
        m_file = std::move(file);
        if (m_mode && ::fchmod(m_file.number(), *m_mode) != 0)
            return fileError(m_path, "set the permissions", errno);
        return {};
    }
    return fileError(m_path, "write", EEXIST);
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes)
{
    if (m_buffer.size() + bytes.size() > kBufferSize)
        HALFTONE_CHECK(flush());
    if (bytes.size() >= kBufferSize)
        return writeOut(bytes);
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
    return {};
}

Result<void> AtomicFile::flush()
{
    HALFTONE_CHECK(writeOut(m_buffer));
    m_buffer.clear();
    return {};
}

Result<void> AtomicFile::writeOut(std::span<const std::byte> bytes)
{
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30; // Linux writes at most 2 GiB a call
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_file.number(), bytes.data(), std::min(bytes.size(), kMostAtOnce));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            m_failure = errno;
            return fileError(m_path, "write", errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> AtomicFile::prepare()
{
    if (m_failure != 0)
        return fileError(m_path, "write", m_failure);
    if (!m_file.isOpen())
        return {};
    if (m_sources == Sources::Unchanged)
        HALFTONE_CHECK(MappedFile::checkAll());
    HALFTONE_CHECK(flush());
    if (::fsync(m_file.number()) != 0 && errno != EINVAL)
        return fileError(m_path, "write", errno);
    return m_file.close() ? Result<void>() : fileError(m_path, "write", errno);
}

Result<void> AtomicFile::commit()
{
    HALFTONE_CHECK(prepare());
    {
        const std::lock_guard renaming(s_renaming);
        HALFTONE_CHECK(putInPlace());
    }
    syncFolderOf(m_target);
    return {};
}

Result<void> AtomicFile::putInPlace()
{
    if (::rename(m_temporary.c_str(), m_target.c_str()) != 0)
        return fileError(m_path, "write", errno);
    owned_files::drop(m_temporary);
    m_temporary.clear();
    return {};
}

void AtomicFile::keepOld()
{
    if (!m_replaces)
        return;
    // Locked before it has a name that looks like a leftover's.
    m_keptHold = FileDescriptor(::open(m_target.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (m_keptHold.isOpen())
        ::flock(m_keptHold.number(), LOCK_EX | LOCK_NB);
    std::string name = unusedNameBeside(m_target);
    owned_files::add(name);
    if (::link(m_target.c_str(), name.c_str()) == 0)
        m_kept = std::move(name);
    else
        owned_files::drop(name);
}

void AtomicFile::dropOld()
{
    if (!m_kept.empty())
        removeTemporary(std::exchange(m_kept, {}));
    m_keptHold.close();
}

void AtomicFile::takeBack()
{
    if (!m_replaces)
        ::unlink(m_target.c_str());
    else if (!m_kept.empty() && ::rename(m_kept.c_str(), m_target.c_str()) == 0)
        owned_files::drop(std::exchange(m_kept, {}));
}

Result<void> AtomicFile::commitTogether(std::span<AtomicFile *const> files)
{
    for (AtomicFile *const file : files)
        HALFTONE_CHECK(file->prepare());
    for (AtomicFile *const file : files)
        file->keepOld();
    {
        const std::lock_guard renaming(s_renaming);
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (Result<void> done = files[i]->putInPlace(); !done.ok()) {
                for (AtomicFile *const earlier : files.first(i))
                    earlier->takeBack();
                return done;
            }
        }
    }
    for (AtomicFile *const file : files) {
        syncFolderOf(file->m_target);
        file->dropOld();
    }
    return {};
}

Result<void> writeWhole(const std::string &path, std::string_view text)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    HALFTONE_CHECK(file.write(text));
    return file.commit();
}

} // namespace halftone
