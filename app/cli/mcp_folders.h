#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace halftone::cli {

/// The folders in which a client may name files.
class Folders
{
public:
    /// fails: BadCall if one of `paths` is not a folder
    static Result<Folders> of(const std::vector<std::string> &paths);

    /// `path` with symbolic links resolved, whether or not there is such a file; relative paths begin in the first folder.
    /// fails: BadCall if it lies outside the folders, or a link does that belongs to it: in the folder `path`, or beside the file with
    /// the same stem, such as the parameters of a model
    Result<std::string> resolved(const std::string &path) const;
    const std::vector<std::string> &paths() const { return m_paths; } ///< resolved; at least one

private:
    bool hold(const std::filesystem::path &path) const;
    std::optional<std::string> linkOutside(const std::filesystem::path &path) const;

    std::vector<std::string> m_paths;
};

} // namespace halftone::cli
