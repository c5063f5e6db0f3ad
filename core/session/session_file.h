#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/io/model_io.h"
#include "core/policy/policy.h"
#include "core/walks/examples.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

/// What a `.halftone` file holds: JSON with the keys `halftone` (format version, 1), `model` {`symbol`, `params`, `hash`, `external_hash`},
/// `history` [{`policy`, `what`}, …], `current`, `data` {`inputs`, `preprocess`, `labels`, `examples`, `targets`, `metric`}, `view` {name:
/// text} and `results` (saved_results.h). Paths are relative to the file's folder where they lie in it or below, else absolute. One that
/// is no UTF-8 stands once more, in hexadecimal digits, under its key with `_bytes` behind it.
struct SessionFile
{
    std::string modelPath; ///< all of the model, or its graph
    std::string paramsPath; ///< of parameters in a file of their own; empty: without
    /// contentHash() of the symbol and the parameters that the session was made with; nothing in files that say none.
    std::optional<std::uint64_t> modelHash;
    std::optional<std::uint64_t>
        externalHash; ///< of the files that an ONNX model's values lie in; nothing: there are none
    History history;
    std::optional<walks::ExampleOptions> data;
    std::map<std::string, std::string> view; ///< what the window keeps for itself
    std::string results; ///< of the current state, as resultsText() writes them; empty: none
    std::vector<std::string>
        unknown; ///< keys that were read and that this version does not know; not written

    bool operator==(const SessionFile &) const = default;
};

/// fails: BadInput with the JSON path of what does not fit, the file's name in every case.
Result<SessionFile> readSession(const std::string &path);
Result<SessionFile> readSession(const MappedFile &file);
/// Writes it whole or not at all. Gives the contentHash() of the file.
Result<std::uint64_t> writeSession(const SessionFile &session, const std::string &path);

/// The same as text, paths relative to `folder`. oneLine: without line breaks but the last.
std::string sessionText(const SessionFile &session, const std::string &folder, bool oneLine = false);
/// fails: as readSession(), without the file's name.
Result<SessionFile> parseSession(std::string_view text, const std::string &folder);

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv), over the bytes of the files in turn, as they were read: tells whether a
/// model is the one that a session was made with, nothing more.
std::uint64_t contentHash(std::span<const std::shared_ptr<const MappedFile>> files);
/// Says in `session` which content its model has. fails: where a file was written to since it was read; then nothing is changed.
Result<void> putHashes(const io::LoadedModel &source, SessionFile &session);
/// Whether `source` has the content that the session was made with; true where it says none. fails: as putHashes()
Result<bool> isModelOf(const SessionFile &session, const io::LoadedModel &source);

} // namespace halftone::session
