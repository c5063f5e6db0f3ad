#pragma once

#include "core/session/snapshot.h"

#include <QString>

#include <optional>

namespace halftone::app {

/// What a comparison says of the whole network in one number.
struct Score
{
    QString name; ///< "top-1", "PSNR to float32", "output"
    QString reference; ///< "98.1"; empty where the number is about the converted network alone
    QString converted;
    QString unit; ///< "%", "dB"; empty where there is none

    QString text() const; ///< "top-1 98.1 → 97.9 %"
};

/// What a comparison was made with.
enum class ComparedOn
{
    Data,
    DrawnInputs ///< which say nothing of accuracy
};

/// Nothing for a network without outputs.
std::optional<Score> scoreOf(const walks::CompareOutcome &outcome, ComparedOn inputs = ComparedOn::Data);

/// The status line: "31 of 57 ops in bfloat16 · 6 casts (2 shared) · top-1 98.1 → 98.1 % · 3.1 → 1.9 ms (×0.61 ±0.02)".
/// What is stale stands in brackets.
QString summaryOf(const session::Snapshot &snapshot, const session::Figures &figures,
                  ComparedOn inputs = ComparedOn::Data);

/// The end of it that is bad news: times that gain nothing, or are not to be trusted. Empty: none.
QString warningOf(const session::Snapshot &snapshot, const session::Figures &figures);

} // namespace halftone::app
