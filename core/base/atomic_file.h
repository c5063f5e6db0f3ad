#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/mapped_file.h"
#include "core/base/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// Writes a file whole or not at all: into a temporary file beside the target, which commit() puts in its
/// place. Destroyed without a commit, or after any failure, it leaves the target as it was and nothing else
/// behind, but for one that is killed: its temporary file goes when the next one is created in that folder. An existing
/// target keeps its permissions; one that is a symbolic link stays a link, and the file that it points to is replaced.
class AtomicFile
{
public:
    /// What has to hold of the files that are mapped for what is written to be right.
    enum class Sources
    {
        Unchanged, ///< it is made of them
        Any
    };

    /// fails: the folder is missing or not writable, or the target exists and is no regular file.
    static Result<AtomicFile> create(const std::string &path, Sources sources = Sources::Unchanged);

    /// Of all files that are being written, and locks, for a program that ends at once. From then on none is committed; waits, though not
    /// for long, for those that are.
    static void removeTemporaries();

    AtomicFile(AtomicFile &&other) noexcept;
    AtomicFile &operator=(AtomicFile &&) = delete;
    ~AtomicFile();

    /// As the caller gave it.
    const std::string &path() const { return m_path; }
    /// The file that commit() will replace, if there is one.
    std::optional<FileIdentity> replaces() const { return m_replaces; }

    Result<void> write(std::span<const std::byte> bytes);
    Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }

    /// Everything written is on the disk and the temporary file closed: all that can fail for want of space
    /// has not. fails: also when a file that it was made of was changed meanwhile.
    Result<void> prepare();
    /// prepare() if that was not done, then the rename.
    Result<void> commit();

    /// Commits files that belong together: all are prepared before the first is put in place, and when one
    /// cannot be, those already in place are taken back. (Only a power cut or kill between two renames can
    /// separate them; they are put in place in the order given.)
    static Result<void> commitTogether(std::span<AtomicFile *const> files);

private:
    AtomicFile(std::string path, std::string target, Sources sources);

    Result<void> openTemporary();
    Result<void> flush();
    Result<void> writeOut(std::span<const std::byte> bytes);
    Result<void> putInPlace();
    void keepOld();
    void takeBack();
    void dropOld();

    std::string m_path;
    std::string m_target; ///< m_path with a link resolved
    std::string m_temporary; ///< empty once it is in place or gone
    std::string m_kept; ///< second name of the replaced file while commitTogether() may have to take back
    std::optional<FileIdentity> m_replaces;
    std::optional<unsigned> m_mode; ///< permissions of the replaced file
    Sources m_sources;
    int m_failure = 0; ///< errno of the write that failed: what lies there is not to be committed
    FileDescriptor m_file;
    FileDescriptor m_hold; ///< the lock that says that the temporary file is no leftover; outlives m_file
    FileDescriptor m_keptHold; ///< likewise for m_kept
    std::vector<std::byte> m_buffer;
};

/// A file that holds `text` and nothing else. fails: as create(), write() and commit()
Result<void> writeWhole(const std::string &path, std::string_view text);

} // namespace halftone
