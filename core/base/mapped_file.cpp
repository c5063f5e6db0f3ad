#include "core/base/mapped_file.h"

#include "core/base/file_error.h"
#include "core/base/file_lease.h"
#include "core/base/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace halftone {

/// A place for a mapping; the handler reads them while others come and go.
struct MappedFile::Mapping
{
    std::atomic<bool> isTaken = false;
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0; ///< 0: nothing lies here
    std::atomic<bool> isCut = false;
    std::atomic<bool> isCopy
        = false; ///< memory stands in the file's place, that nothing can be read into again
};

namespace {

/// Up to here a copy costs less than a millisecond, and nothing can happen to it.
constexpr std::size_t kCopiedBytes = std::size_t{1} << 20;

constexpr std::size_t kMostMappings = 64; ///< at once; what comes then is copied
std::array<MappedFile::Mapping, kMostMappings> s_mappings;

std::mutex s_openMutex;

/// That are mapped. Never destroyed, since the thread that keeps leases outlives main().
std::set<MappedFile *> &openFiles()
{
    static auto *const files = new std::set<MappedFile *>;
    return *files;
}

std::shared_mutex s_swapping; ///< held alone while a copy is put in a mapping's place

std::atomic<bool> s_keepsContents = false;
constexpr std::uint64_t kShareOfMemory
    = 8; ///< an eighth of what is left holds a file that is copied beforehand

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
    return {Errc::BadInput,
            path,
            {},
            "the file was changed while it was open",
            "; run again when no program is writing it"};
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

void MappedFile::keepContents()
{
    leases::begin(&MappedFile::onWriter);
    s_keepsContents = true;
}

std::shared_ptr<const MappedFile> MappedFile::ofBytes(std::string path, std::vector<std::byte> bytes)
{
    const std::shared_ptr<MappedFile> file(new MappedFile(std::move(path)));
    file->m_copy = std::move(bytes);
    file->m_bytes = file->m_copy;
    return file;
}

Result<void> MappedFile::checkAll()
{
    const std::lock_guard lock(s_openMutex);
    for (const MappedFile *const file : openFiles())
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
    const std::shared_lock lock(s_swapping);
    for (const Mapping &mapping : s_mappings) {
        // Pages that nobody writes to hold nothing that the file has not, nor does what stands for lost ones.
        if (begin >= mapping.begin && end <= mapping.end && !mapping.isCopy)
            ::madvise(pages, end - begin, MADV_DONTNEED);
    }
}

MappedFile::~MappedFile()
{
    if (m_mapping == nullptr)
        return;
    {
        const std::lock_guard lock(s_openMutex);
        openFiles().erase(this);
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

MappedFile::Version MappedFile::versionOf(const struct stat &status)
{
    return {{status.st_dev, status.st_ino},
            static_cast<std::size_t>(status.st_size),
            status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
}

Result<MappedFile::Version> MappedFile::version() const
{
    struct stat status = {};
    if (::fstat(m_file.number(), &status) != 0)
        return fileError(m_path, "open", errno);
    if (!S_ISREG(status.st_mode))
        return Error{Errc::BadInput, m_path, {}, kindOf(status.st_mode), "a regular file"};
    return versionOf(status);
}

Result<void> MappedFile::read()
{
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    m_file = FileDescriptor(::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!m_file.isOpen())
        return fileError(m_path, "open", errno);
    HALFTONE_TRY(m_version, version());
    if (m_version.size <= kCopiedBytes)
        return copy();
    m_isLeased = s_keepsContents && leases::take(m_file.number());
    HALFTONE_TRY(m_version, version()); // somebody may have written to it before it was leased
    const bool isCopied
        = s_keepsContents && !m_isLeased && m_version.size <= availableMemory() / kShareOfMemory;
    Mapping *const mapping = isCopied ? nullptr : freeMapping();
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

Result<void> MappedFile::readInto(std::span<std::byte> memory) const
{
    for (std::size_t at = 0; at < memory.size();) {
        const ssize_t got
            = ::pread(m_file.number(), memory.data() + at, memory.size() - at, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fileError(m_path, "read", errno);
        if (got == 0)
            return changed(m_path);
        at += static_cast<std::size_t>(got);
    }
    return {};
}

Result<void> MappedFile::copy()
{
    m_copy.resize(m_version.size);
    HALFTONE_CHECK(readInto(m_copy));
    m_isLeased = false;
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
    m_mapping->isCopy = false;
    m_mapping->begin = reinterpret_cast<std::uintptr_t>(start);
    m_mapping->end = m_mapping->begin + m_version.size;
    const std::lock_guard lock(s_openMutex);
    openFiles().insert(this);
    if (m_isLeased && leases::isWanted(m_file.number()))
        beforeWrite(); // whose notice came too early to find this file
    return {};
}

bool MappedFile::isKept() const
{
    return (m_mapping == nullptr && !m_file.isOpen()) || m_isLeased
        || (m_mapping != nullptr && m_mapping->isCopy);
}

Result<void> MappedFile::check() const
{
    if (isKept())
        return {};
    HALFTONE_TRY(const Version now, version());
    if (now != m_version || m_isLost || (m_mapping != nullptr && m_mapping->isCut))
        return changed(m_path);
    return {};
}

MappedFile::OnDisk MappedFile::onDisk() const
{
    struct stat status = {};
    if (::stat(m_path.c_str(), &status) != 0)
        return OnDisk::Missing;
    const Version now = versionOf(status);
    if (now == m_version || (m_isLeased && now.identity == m_version.identity))
        return m_isLost ? OnDisk::Changed : OnDisk::AsRead;
    if (now.size != m_version.size || m_version.size > kCopiedBytes)
        return OnDisk::Changed;
    const auto there = open(m_path); // a copy is compared at once
    return there.ok() && there.value()->text() == text() ? OnDisk::AsRead : OnDisk::Changed;
}

/// Somebody is about to write to one of the files, and waits.
void MappedFile::onWriter()
{
    const std::lock_guard lock(s_openMutex);
    for (MappedFile *const file : openFiles()) {
        if (file->m_isLeased && leases::isWanted(file->m_file.number()))
            file->beforeWrite();
    }
}

void MappedFile::beforeWrite()
{
    m_isLost = !keep();
    m_isLeased = false;
    leases::giveBack(m_file.number());
}

/// What nobody has written to yet goes into memory, at the same addresses. false: there is no room, or it was too late.
bool MappedFile::keep()
{
    const std::size_t size = m_version.size;
    if (size > availableMemory() / 2)
        return false;
    void *const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    const bool isRead = readInto({static_cast<std::byte *>(memory), size}).ok();
    const auto now = version();
    if (isRead && now.ok() && now.value() == m_version && swapIn(memory))
        return true;
    ::munmap(memory, size);
    return false;
}

/// Threads that read the pages meanwhile see the file's or the copy's.
bool MappedFile::swapIn(void *copied)
{
    const std::size_t size = m_version.size;
    ::mprotect(copied, size, PROT_READ);
    const std::unique_lock lock(s_swapping);
    void *const place = const_cast<std::byte *>(m_bytes.data());
    m_mapping->isCopy = ::mremap(copied, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place;
    return m_mapping->isCopy;
}

} // namespace halftone
