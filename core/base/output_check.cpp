#include "core/base/output_check.h"

#include "core/base/file_error.h"
#include "core/base/mapped_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace halftone {
namespace {

namespace fs = std::filesystem;

/// What a path leads to: a file that is there (the name is then empty), or a place in a folder.
struct Place
{
    FileIdentity identity;
    std::string name;

    bool operator==(const Place &) const = default;
};

std::optional<Place> placeOf(const std::string &path)
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0)
        return Place{{status.st_dev, status.st_ino}, {}};
    const fs::path target = path;
    const std::string folder = target.parent_path().string();
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0)
        return std::nullopt;
    return Place{{status.st_dev, status.st_ino}, target.filename().string()};
}

Result<void> checkWritable(const NamedFile &file)
{
    const fs::path path = file.path;
    struct stat status = {};
    const bool isThere = ::stat(file.path.c_str(), &status) == 0;
    if (path.filename().empty() || (isThere && !S_ISREG(status.st_mode)))
        return badCall(file.what,
                       file.path.empty()                         ? "empty file name"
                           : isThere && !S_ISDIR(status.st_mode) ? file.path + " is not a regular file"
                                                                 : file.path + " is a folder",
                       "a file name");
    const std::string folder = path.parent_path().string();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
        return fileError(file.path, "write", errno);
    return {};
}

} // namespace

Result<void> checkOutputs(std::span<const NamedFile> reads, std::span<const NamedFile> writes)
{
    std::vector<std::pair<Place, const NamedFile *>> taken;
    for (const NamedFile &file : reads) {
        if (const auto place = placeOf(file.path); place && place->name.empty())
            taken.emplace_back(*place, &file);
    }
    for (const NamedFile &file : writes) {
        HALFTONE_CHECK(checkWritable(file));
        const auto place = placeOf(file.path);
        if (!place)
            return fileError(file.path, "write", errno);
        const auto clash = std::ranges::find(taken, *place, [](const auto &entry) { return entry.first; });
        if (clash != taken.end())
            return badCall(file.what,
                           file.path + " is the same file as " + clash->second->what + " ("
                               + clash->second->path + ')',
                           "a different file");
        taken.emplace_back(*place, &file);
    }
    return {};
}

} // namespace halftone
