#pragma once

#include "core/base/result.h"
#include "core/jobs/examples.h"
#include "core/policy/policy.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// One state of the history: a policy and the edit that led to it.
struct HistoryEntry
{
    policy::Policy policy;
    std::string what;

    bool operator==(const HistoryEntry &) const = default;
};

/// All states of a document, oldest first, and the one of now.
struct History
{
    std::vector<HistoryEntry> entries; ///< at least one
    std::size_t current = 0;

    bool operator==(const History &) const = default;
};

/// What a `.halftone` file holds: JSON with the keys `halftone` (format version, 1), `model` {`symbol`, `params`, `hash`},
/// `history` [{`policy`, `what`}, …], `current`, `data` {`inputs`, `preprocess`, `labels`, `examples`, `targets`, `metric`}, `view` {name:
/// text} and `results` (saved_results.h). Paths are relative to the file's folder where they lie in it or below, else absolute.
struct SessionFile
{
    std::string modelPath; ///< all of the model, or its graph
    std::string paramsPath; ///< of parameters in a file of their own; empty: without
    /// contentHash() of the symbol and the parameters when the session was saved; nothing in files that say none.
    std::optional<std::uint64_t> modelHash;
    History history;
    std::optional<jobs::ExampleOptions> data;
    std::map<std::string, std::string> view; ///< what the window keeps for itself
    std::string results; ///< of the current state, as resultsText() writes them; empty: none

    bool operator==(const SessionFile &) const = default;
};

/// fails: BadInput with the JSON path of what does not fit, the file's name in every case.
Result<SessionFile> readSession(const std::string &path);
/// Writes it whole or not at all.
Result<void> writeSession(const SessionFile &session, const std::string &path);

/// The same as text, paths relative to `folder`. oneLine: without line breaks but the last.
std::string sessionText(const SessionFile &session, const std::string &folder, bool oneLine = false);
/// fails: as readSession(), without the file's name.
Result<SessionFile> parseSession(std::string_view text, const std::string &folder);

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv), over the bytes of the files in turn: tells whether a model is
/// the one that a session was made with, nothing more. fails: for a file that cannot be read.
Result<std::uint64_t> contentHash(const std::vector<std::string> &paths);

} // namespace halftone::session
