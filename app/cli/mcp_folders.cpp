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

/// "m" of "m-symbol.json", "m.onnx" and "m"
std::string stemOf(const fs::path &path)
{
    std::string name = path.filename().string();
    name.resize(std::min(name.rfind("-symbol.json"), name.size()));
    return fs::path(name).stem().string();
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

bool Folders::hold(const fs::path &path) const
{
    return std::ranges::any_of(m_paths,
                               [&path](const std::string &folder) { return isInside(path, folder); });
}

std::optional<std::string> Folders::linkOutside(const fs::path &path) const
{
    const std::string stem = stemOf(path);
    for (const fs::path &folder : {path.parent_path(), path}) {
        std::error_code failure;
        fs::directory_iterator entry(folder, failure);
        for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
            std::error_code unresolved;
            const bool belongs = folder == path || entry->path().filename().string().starts_with(stem);
            if (belongs && entry->is_symlink(unresolved)
                && !hold(fs::weakly_canonical(entry->path(), unresolved)))
                return entry->path().string();
        }
    }
    return {};
}

Result<std::string> Folders::resolved(const std::string &path) const
{
    std::error_code failure;
    const fs::path found = fs::weakly_canonical(fs::path(m_paths.front()) / path, failure);
    if (path.empty() || failure || !hold(found))
        return badCall({}, '"' + path + '"', "a path in " + joined(m_paths));
    if (const auto link = linkOutside(found))
        return badCall({}, '"' + *link + "\" is a link that leads outside", "files in " + joined(m_paths));
    return found.string();
}

} // namespace halftone::cli
