#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/result.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct stat;

namespace halftone {

/// Which file a path led to, whatever its name: two paths with equal identities are one file.
struct FileIdentity
{
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    bool operator==(const FileIdentity &) const = default;
};

/// A regular file read-only in memory, shared by whoever needs its bytes. Small ones are copied; of large ones pages are
/// read on first touch, so that opening costs nothing per byte. Replacing a file by a rename is safe.
///
/// One that is cut while it is mapped ends the program when a page that is gone is touched, unless the program has called
/// surviveCuts(): such pages then read as zeros, and whatever was made of them must not be used. Ask checkAll() before
/// anything is shown or written. A program that keeps files open for long calls keepContents(), and what it has read mostly
/// stays as it was.
class MappedFile
{
public:
    /// fails: no such file, no permission, or not a regular file (a folder, a pipe, a device; a pipe is
    /// refused without waiting on it).
    static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);
    /// Bytes that lie in no file; errors about them name `path`.
    static std::shared_ptr<const MappedFile> ofBytes(std::string path, std::vector<std::byte> bytes);

    /// Takes SIGBUS for this process, once and for good.
    static void surviveCuts();

    /// From now on the bytes of files that are opened outlast a write to them: whoever writes waits until they have been copied, which
    /// costs nothing before (file_lease.h). Where that cannot be had, they are copied when the file is opened, if an eighth of
    /// the memory that is left holds them. For a process, once and for good.
    static void keepContents();

    /// Whether the bytes of all files that are mapped now are those that were there when they were opened.
    /// fails: BadInput for one that was cut or written to
    static Result<void> checkAll();
    /// The same of this one.
    Result<void> check() const;

    enum class OnDisk
    {
        AsRead,
        Changed, ///< the path leads to other content now
        Missing
    };
    /// What has become of the file at path(), whether or not bytes() are still what was read.
    OnDisk onDisk() const;

    /// Pages of mapped files that lie wholly in `bytes` leave the memory of this process; who touches them reads them again, mostly
    /// from where the system keeps the file. Other bytes stay as they are.
    static void release(std::span<const std::byte> bytes);

    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    ~MappedFile();

    const std::string &path() const { return m_path; }
    FileIdentity identity() const { return m_version.identity; }
    std::span<const std::byte> bytes() const { return m_bytes; }
    std::string_view text() const { return {reinterpret_cast<const char *>(m_bytes.data()), m_bytes.size()}; }

    struct Mapping; ///< where the handler of SIGBUS looks

private:
    /// What changes when somebody writes to a file.
    struct Version
    {
        FileIdentity identity;
        std::size_t size = 0;
        std::int64_t seconds = 0; ///< of the last change
        std::int64_t nanoseconds = 0;

        bool operator==(const Version &) const = default;
    };

    explicit MappedFile(std::string path)
        : m_path(std::move(path))
    {
    }
    Result<void> read();
    Result<void> readInto(std::span<std::byte> memory) const;
    Result<void> copy();
    Result<void> map();
    bool isKept() const;
    bool keep();
    bool swapIn(void *copied);
    void beforeWrite();
    static void onWriter();
    static Version versionOf(const struct stat &status);
    Result<Version> version() const;

    std::string m_path;
    FileDescriptor m_file; ///< closed where the bytes were copied
    Version m_version;
    Mapping *m_mapping = nullptr; ///< null where the bytes were copied
    std::atomic<bool> m_isLeased = false; ///< nobody has written to it
    std::atomic<bool> m_isLost = false; ///< somebody may have, and there was no room for a copy
    std::vector<std::byte> m_copy;
    std::span<const std::byte> m_bytes;
};

} // namespace halftone
