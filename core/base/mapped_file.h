#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

/// Which file a path led to, whatever its name: two paths with equal identities are one file.
struct FileIdentity
{
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    bool operator==(const FileIdentity &) const = default;
};

/// A regular file mapped read-only, shared by whoever needs its bytes. Pages are read on first touch, so
/// opening costs nothing per byte. The file must not be cut while it is mapped (touching a page that is gone
/// ends the program); replacing it by a rename is safe.
class MappedFile
{
public:
    /// fails: no such file, no permission, or not a regular file (a folder, a pipe, a device; a pipe is
    /// refused without waiting on it).
    static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);

    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    ~MappedFile();

    const std::string &path() const { return m_path; }
    FileIdentity identity() const { return m_identity; }
    std::span<const std::byte> bytes() const { return m_bytes; }
    std::string_view text() const { return {reinterpret_cast<const char *>(m_bytes.data()), m_bytes.size()}; }

private:
    MappedFile(std::string path, FileIdentity identity, std::span<const std::byte> bytes);

    std::string m_path;
    FileIdentity m_identity;
    std::span<const std::byte> m_bytes;
};

} // namespace halftone
