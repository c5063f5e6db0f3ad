#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/result.h"
#include "core/session/session_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::session {

/// Every step of a history, written down as it is made, so that a killed program loses at most the last one. Lines of
/// JSON: the session as it was (session_file.h), where it was saved and how many of its steps were not, then one for each edit, undo and
/// redo, for each new state of the view and for other data. A line that is torn, or that this version does not understand, is left
/// out and named: whoever goes on from the others keeps the file.
class Journal
{
public:
    struct Head
    {
        SessionFile state{}; ///< what the steps go on from
        std::string sessionPath; ///< empty: never saved
        std::optional<std::uint64_t>
            sessionHash{}; ///< contentHash() of that file as it was read or written last; nothing: not known
        std::size_t steps
            = 0; ///< edits, undos and redos that were not saved; of read() those that follow too
        bool hasOtherData = false; ///< read() found other data attached than it began with; not written
        std::vector<std::string> lost{}; ///< what read() did not understand: "line 3: no JSON"; not written

        bool operator==(const Head &) const = default;
    };

    /// Begins a journal in place of any at `path`. fails: what the file system says.
    static Result<Journal> create(const std::string &path, const Head &head);
    Result<void> edited(const HistoryEntry &entry); ///< what could be redone is gone
    Result<void> undone();
    Result<void> redone();
    Result<void> viewChanged(const std::map<std::string, std::string> &view);
    Result<void> dataAttached(const walks::ExampleOptions &data);

    /// The head with the history, the data and the view as the journal's steps leave them. fails: BadInput where the first line is
    /// torn or none that this version understands.
    static Result<Head> read(const std::string &path);

private:
    Journal(FileDescriptor file, std::string path);
    Result<void> append(const std::string &line);

    FileDescriptor m_file;
    std::string m_path;
};

} // namespace halftone::session
