#include "app/cli/mcp_folders.h"

#include "core/base/text.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace halftone::cli {
namespace {

namespace fs = std::filesystem;

bool isInside(const fs::path &path, const fs::path &folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

} // namespace

Result<Folders> Folders::of(const std::vector<std::string> &paths)
{
    Folders folders;
    for (const std::string &path : paths) {
        std::error_code failure;
        const fs::path folder = fs::canonical(path, failure);
        if (failure || !fs::is_directory(folder, failure))
            return badCall("FOLDER", '"' + path + '"', "an existing folder");
        folders.m_paths.push_back(folder.string());
    }
    return folders;
}

Result<std::string> Folders::resolved(const std::string &path) const
{
    std::error_code failure;
    const fs::path found = fs::weakly_canonical(fs::path(m_paths.front()) / path, failure);
    const auto holds = [&found](const std::string &folder) { return isInside(found, folder); };
    if (path.empty() || failure || !std::ranges::any_of(m_paths, holds))
        return badCall({}, '"' + path + '"', "a path in " + joined(m_paths));
    return found.string();
}

} // namespace halftone::cli
