#pragma once

#include "app/cli/output.h"
#include "core/shards/statistics_file.h"
#include "core/walks/compare.h"

#include <cstddef>
#include <string>

namespace halftone::cli {

std::string nameOf(const walks::CompareOutcome &outcome, std::size_t layer);
bool isAnalysed(const walks::CompareOutcome &outcome); ///< in a format for analysis

/// What of a comparison does not depend on the examples: backend, arithmetic, warnings, effect, unmatched nodes.
Json settingsJson(const walks::CompareOutcome &outcome, const std::string &backend,
                  const std::string &effect);

/// What 'compare --json' prints (app/README.md). settings  as settingsJson() gives them
Json comparisonJson(const walks::CompareOutcome &outcome, const Json &settings);

/// A merged comparison, with a graph of nothing but names in its models' place.
walks::CompareOutcome outcomeOf(const shards::StatisticsShard &merged);

} // namespace halftone::cli
