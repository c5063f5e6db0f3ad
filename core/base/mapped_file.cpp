#include "core/base/mapped_file.h"

#include "core/base/file_descriptor.h"
#include "core/base/file_error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace halftone {
namespace {

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

} // namespace

MappedFile::MappedFile(std::string path, FileIdentity identity, std::span<const std::byte> bytes)
    : m_path(std::move(path))
    , m_identity(identity)
    , m_bytes(bytes)
{
}

MappedFile::~MappedFile()
{
    if (!m_bytes.empty())
        ::munmap(const_cast<std::byte *>(m_bytes.data()), m_bytes.size());
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path)
{
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    if (!file.isOpen() || ::fstat(file.number(), &status) != 0)
        return fileError(path, "open", errno);
    if (!S_ISREG(status.st_mode))
        return Error{Errc::BadInput, path, {}, kindOf(status.st_mode), "a regular file"};
    const FileIdentity identity{status.st_dev, status.st_ino};
    const auto size = static_cast<std::size_t>(status.st_size);
    std::span<const std::byte> bytes;
    if (size > 0) {
        void *const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
        if (start == MAP_FAILED)
            return fileError(path, "map", errno);
        bytes = {static_cast<const std::byte *>(start), size};
    }
    return std::shared_ptr<const MappedFile>(new MappedFile(path, identity, bytes));
}

} // namespace halftone
