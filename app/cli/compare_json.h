#pragma once

#include "app/cli/output.h"
#include "core/jobs/compare.h"
#include "core/jobs/statistics_file.h"

#include <cstddef>
#include <string>

namespace halftone::cli {

std::string nameOf(const jobs::CompareOutcome &outcome, std::size_t layer);
bool isAnalysed(const jobs::CompareOutcome &outcome); ///< in a format for analysis

/// What of a comparison does not depend on the examples: backend, arithmetic, warnings, effect, unmatched nodes.
Json settingsJson(const jobs::CompareOutcome &outcome, const std::string &backend, const std::string &effect);

/// What 'compare --json' prints (app/README.md). settings  as settingsJson() gives them
Json comparisonJson(const jobs::CompareOutcome &outcome, const Json &settings);

/// A merged comparison, with a graph of nothing but names in its models' place.
jobs::CompareOutcome outcomeOf(const jobs::StatisticsShard &merged);

} // namespace halftone::cli
