#include "core/base/mapped_file.h"

#include "core/base/file_error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <set>

namespace halftone {

/// A place for a mapping; the handler reads them while others come and go.
struct MappedFile::Mapping
{
    std::atomic<bool> isTaken = false;
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0; ///< 0: nothing lies here
    std::atomic<bool> isCut = false;
};

namespace {

/// Up to here a copy costs less than a millisecond, and nothing can happen to it.
constexpr std::size_t kCopiedBytes = std::size_t{1} << 20;

constexpr std::size_t kMostMappings = 64; ///< at once; what comes then is copied
std::array<MappedFile::Mapping, kMostMappings> s_mappings;

std::mutex s_openMutex;
std::set<const MappedFile *> s_open; ///< that are mapped

std::string kindOf(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

MappedFile::Mapping *freeMapping()
{
    for (MappedFile::Mapping &mapping : s_mappings) {
        if (!mapping.isTaken.exchange(true))
            return &mapping;
    }
    return nullptr;
}

/// The rest of a mapping whose file has become shorter reads as zeros. False where the address is in none. Only what a
/// handler of signals may do.
bool replaceLost(std::uintptr_t address)
{
    const auto pageSize = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (MappedFile::Mapping &mapping : s_mappings) {
        const std::uintptr_t end = mapping.end;
        if (address < mapping.begin || address >= end)
            continue;
        const std::uintptr_t from = address / pageSize * pageSize;
        mapping.isCut = true;
        void *const pages
            = reinterpret_cast<void *>(from); // NOLINT(performance-no-int-to-ptr): a signal tells it
        return ::mmap(pages, end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                      -1, 0)
            != MAP_FAILED;
    }
    return false;
}

void onBusError(int, siginfo_t *info, void *)
{
    const int before = errno;
    if (!replaceLost(reinterpret_cast<std::uintptr_t>(info->si_addr)))
        std::signal(SIGBUS, SIG_DFL); // it comes again, and ends the program
    errno = before;
}

Error changed(const std::string &path)
{
    return {Errc::BadInput, path, {}, "the file was changed while it was open", "one that nobody writes to"};
}

} // namespace

void MappedFile::surviveCuts()
{
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
}

Result<void> MappedFile::checkAll()
{
    const std::lock_guard lock(s_openMutex);
    for (const MappedFile *const file : s_open)
        HALFTONE_CHECK(file->check());
    return {};
}

void MappedFile::release(std::span<const std::byte> bytes)
{
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
    const std::uintptr_t begin = (first + page - 1) / page * page;
    const std::uintptr_t end = (first + bytes.size()) / page * page;
    if (begin >= end)
        return;
    auto *const pages = const_cast<std::byte *>(bytes.data()) + (begin - first);
    for (const Mapping &mapping : s_mappings) {
        // Pages that nobody writes to hold nothing that the file has not, nor does what stands for lost ones.
        if (begin >= mapping.begin && end <= mapping.end)
            ::madvise(pages, end - begin, MADV_DONTNEED);
    }
}

MappedFile::~MappedFile()
{
    if (m_mapping == nullptr)
        return;
    {
        const std::lock_guard lock(s_openMutex);
        s_open.erase(this);
    }
    m_mapping->end = 0;
    ::munmap(const_cast<std::byte *>(m_bytes.data()), m_bytes.size());
    m_mapping->isTaken = false;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path)
{
    const std::shared_ptr<MappedFile> file(new MappedFile(path));
    HALFTONE_CHECK(file->read());
    return std::shared_ptr<const MappedFile>(file);
}

Result<MappedFile::Version> MappedFile::version() const
{
    struct stat status = {};
    if (::fstat(m_file.number(), &status) != 0)
        return fileError(m_path, "open", errno);
    if (!S_ISREG(status.st_mode))
        return Error{Errc::BadInput, m_path, {}, kindOf(status.st_mode), "a regular file"};
    return Version{{status.st_dev, status.st_ino},
                   static_cast<std::size_t>(status.st_size),
                   status.st_mtim.tv_sec,
                   status.st_mtim.tv_nsec};
}

Result<void> MappedFile::read()
{
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    m_file = FileDescriptor(::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!m_file.isOpen())
        return fileError(m_path, "open", errno);
    HALFTONE_TRY(m_version, version());
    Mapping *const mapping = m_version.size > kCopiedBytes ? freeMapping() : nullptr;
    if (mapping == nullptr)
        return copy();
    m_mapping = mapping;
    Result<void> mapped = map();
    if (!mapped.ok()) {
        m_mapping = nullptr;
        mapping->isTaken = false;
    }
    return mapped;
}

Result<void> MappedFile::copy()
{
    m_copy.resize(m_version.size);
    for (std::size_t at = 0; at < m_copy.size();) {
        const ssize_t got = ::read(m_file.number(), m_copy.data() + at, m_copy.size() - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fileError(m_path, "read", errno);
        if (got == 0)
            return changed(m_path);
        at += static_cast<std::size_t>(got);
    }
    HALFTONE_CHECK(check());
    m_file.close();
    m_bytes = m_copy;
    return {};
}

Result<void> MappedFile::map()
{
    void *const start = ::mmap(nullptr, m_version.size, PROT_READ, MAP_PRIVATE, m_file.number(), 0);
    if (start == MAP_FAILED)
        return fileError(m_path, "map", errno);
    m_bytes = {static_cast<const std::byte *>(start), m_version.size};
    m_mapping->isCut = false;
    m_mapping->begin = reinterpret_cast<std::uintptr_t>(start);
    m_mapping->end = m_mapping->begin + m_version.size;
    const std::lock_guard lock(s_openMutex);
    s_open.insert(this);
    return {};
}

Result<void> MappedFile::check() const
{
    HALFTONE_TRY(const Version now, version());
    if (now != m_version || (m_mapping != nullptr && m_mapping->isCut))
        return changed(m_path);
    return {};
}

} // namespace halftone
