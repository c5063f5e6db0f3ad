#include "core/runtimes/find_library.h"

#include "core/base/text.h"
#include "core/runtimes/ask_python.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace halftone::runtimes {
namespace {

namespace fs = std::filesystem;

std::string environment(std::string_view name)
{
    const char *const text = std::getenv(std::string(name).c_str());
    return text == nullptr ? std::string() : text;
}

std::vector<fs::path> entriesOf(const fs::path &folder)
{
    std::error_code none;
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(folder, none); !none && at != fs::directory_iterator(); at.increment(none))
        entries.push_back(at->path());
    std::ranges::sort(entries);
    return entries;
}

/// Of the files in a folder that are the library, that with the longest name, which has the whole version.
std::string libraryIn(const fs::path &folder, const RuntimeKind &kind)
{
    std::string best;
    for (const fs::path &path : entriesOf(folder)) {
        const std::string name = path.filename().string();
        const bool isLibrary = name.starts_with(kind.library)
            && (name.size() == kind.library.size() || name[kind.library.size()] == '.');
        if (isLibrary && path.string().size() >= best.size())
            best = path.string();
    }
    return best;
}

/// Folders with the packages of a Python of this prefix.
std::vector<fs::path> packagesBelow(const fs::path &prefix)
{
    std::vector<fs::path> folders;
    for (const char *const lib : {"lib", "lib64", "local/lib"})
        for (const fs::path &python : entriesOf(prefix / lib))
            if (python.filename().string().starts_with("python3"))
                for (const char *const packages : {"site-packages", "dist-packages"})
                    if (std::error_code none; fs::is_directory(python / packages, none))
                        folders.push_back(python / packages);
    return folders;
}

/// The prefix of an environment's own Python behind `pyvenv.cfg`, if it sees that one's packages too.
std::optional<fs::path> outerPrefix(const fs::path &prefix)
{
    std::ifstream file(prefix / "pyvenv.cfg");
    std::string home;
    bool seesOuter = false;
    for (std::string line; std::getline(file, line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos)
            continue;
        const std::string_view key = trimmed(std::string_view(line).substr(0, equals));
        const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
        if (key == "home")
            home = value;
        if (key == "include-system-site-packages")
            seesOuter = lowerCase(value) == "true";
    }
    return seesOuter && !home.empty() ? std::optional(fs::path(home).parent_path()) : std::nullopt;
}

/// The first `python3` in PATH.
std::optional<fs::path> firstPython()
{
    const std::string path = environment("PATH");
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find(':', from), path.size());
        const fs::path program = fs::path(path.substr(from, end - from)) / "python3";
        from = end + 1;
        if (::access(program.c_str(), X_OK) == 0)
            return program;
    }
    return std::nullopt;
}

/// Its prefixes: where its name lies, and where the link ends.
std::vector<fs::path> pythonPrefixes()
{
    const std::optional<fs::path> program = firstPython();
    if (!program)
        return {};
    std::vector<fs::path> prefixes{program->parent_path().parent_path()};
    std::error_code none;
    const fs::path target = fs::canonical(*program, none).parent_path().parent_path();
    if (!none && target != prefixes[0] && !fs::exists(prefixes[0] / "pyvenv.cfg", none))
        prefixes.push_back(target);
    if (!environment("HOME").empty())
        prefixes.push_back(fs::path(environment("HOME")) / ".local");
    return prefixes;
}

std::vector<fs::path> prefixes()
{
    std::vector<fs::path> all;
    if (const std::string given = environment("VIRTUAL_ENV"); !given.empty())
        all.emplace_back(given);
    for (fs::path &prefix : pythonPrefixes())
        all.push_back(std::move(prefix));
    const std::size_t given = all.size();
    for (std::size_t k = 0; k < given; ++k)
        if (auto outer = outerPrefix(all[k]))
            all.push_back(std::move(*outer));
    return all;
}

/// Folders that the loader searches, as far as they can be told without loading.
std::vector<fs::path> loaderFolders()
{
    std::vector<fs::path> folders;
    const std::string path = environment("LD_LIBRARY_PATH");
    for (std::size_t from = 0; from < path.size();) {
        const std::size_t end = std::min(path.find(':', from), path.size());
        if (end > from)
            folders.emplace_back(path.substr(from, end - from));
        from = end + 1;
    }
    for (const char *const folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                                     "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
        folders.emplace_back(folder);
    return folders;
}

/// ".1.22.0" as it is, and "2641" of "libopenvino_c.so.2641" as 2026.4.1: two digits of the year, the release and its update.
std::string versionOf(const std::string &file, const RuntimeKind &kind)
{
    std::error_code none;
    const fs::path target = fs::canonical(file, none);
    const std::string name = (none ? fs::path(file) : target).filename().string();
    if (!name.starts_with(kind.library) || name.size() <= kind.library.size() + 1)
        return {};
    std::string suffix = name.substr(kind.library.size() + 1);
    if (suffix.size() == 4 && parseInteger(suffix))
        return "20" + suffix.substr(0, 2) + '.' + suffix[2] + '.' + suffix[3];
    return suffix;
}

bool take(const fs::path &folder, const RuntimeKind &kind, FoundLibrary &found)
{
    found.file = libraryIn(folder, kind);
    found.tried.push_back(folder.string());
    return !found.file.empty();
}

void search(const RuntimeKind &kind, FoundLibrary &found)
{
    if (const std::string given = environment(kind.variable); !given.empty()) {
        std::error_code none;
        if (fs::is_directory(given, none)) {
            take(given, kind, found);
        } else {
            found.tried.push_back(given);
            found.file = fs::exists(given, none) ? given : std::string();
        }
        return;
    }
    for (const fs::path &prefix : prefixes())
        for (const fs::path &packages : packagesBelow(prefix))
            if (take(packages / kind.folder, kind, found))
                return;
    for (const fs::path &folder : loaderFolders())
        if (take(folder, kind, found))
            return;
}

FoundLibrary withVersion(FoundLibrary found, const RuntimeKind &kind)
{
    if (!found.file.empty())
        found.version = versionOf(found.file, kind);
    return found;
}

} // namespace

FoundLibrary findLibrary(const RuntimeKind &kind)
{
    FoundLibrary found;
    search(kind, found);
    const std::optional<fs::path> python = firstPython();
    found.mayBeAsked
        = found.file.empty() && environment(kind.variable).empty() && python && isScript(python->string());
    return withVersion(std::move(found), kind);
}

FoundLibrary askForLibrary(const RuntimeKind &kind, FoundLibrary found)
{
    const std::optional<fs::path> python = firstPython();
    const auto prefix = python ? askedPrefix(python->string()) : std::nullopt;
    if (!prefix)
        return found;
    for (const fs::path &packages : packagesBelow(*prefix))
        if (take(packages / kind.folder, kind, found))
            break;
    return withVersion(std::move(found), kind);
}

} // namespace halftone::runtimes
