#pragma once

#include "core/base/result.h"
#include "core/report/front_figures.h"
#include "core/session/session.h"
#include "core/session/snapshot.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// What to write beside each other: the model's files, named PREFIX as io::saveModel() does; PREFIX.policy.json, PREFIX.html.
struct ExportOptions
{
    std::string prefix;
    bool model = true;
    bool parameters = true; ///< does the model have any?
    const io::ModelFormat *format
        = nullptr; ///< of the model; null: by the ending of the prefix, otherwise its own
    bool policy = true;
    bool report = true;
    /// The model to write in place of the snapshot's, as deriveCorrected() made it; null: the snapshot's own.
    std::shared_ptr<const mixed::ConvertedModel> corrected = nullptr;
    /// The comparison of `corrected`, for the report; null: none. That of the snapshot is not of it.
    std::shared_ptr<const walks::CompareOutcome> correctedComparison = nullptr;
    std::string made = {}; ///< for the report, as madeLine() says it
    std::shared_ptr<const report::FrontFigures> front = nullptr; ///< for the report; null: no search was made
};

/// The files that exportAll() will write of a model made from `source`.
std::vector<std::string> filesOf(const ExportOptions &options, const io::LoadedModel &source);

/// "Written on 2026-11-29 10:15 UTC by Halftone 0.1.0 on AMD EPYC 9B45."
std::string madeLine(std::string_view version);

/// The self-contained page that `report` writes too. Figures of another revision are left out.
/// graphSvg  the picture of the graph; empty: none
/// front     of a search for the layers that must stay wide; null: none
/// made      as madeLine(); empty: not told
std::string reportPage(const Snapshot &snapshot, const Figures &figures, const std::string &graphSvg,
                       const report::FrontFigures *front = nullptr, const std::string &made = {});

/// Writes them, each whole or not at all, and gives their paths. The parameters are stored in the target type where all
/// their readers want it if the policy says so, else as they were.
/// fails: BadCall when an output would replace a file of the source; what the file system says; a policy's own error;
/// policy::notExported() for a model whose policy asks for a format for analysis
Result<std::vector<std::string>> exportAll(const Snapshot &snapshot, const Figures &figures,
                                           const ExportOptions &options, const std::string &graphSvg);

} // namespace halftone::session
