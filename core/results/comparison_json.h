#pragma once

#include "core/base/json.h"
#include "core/shards/statistics_file.h"
#include "core/walks/compare.h"

#include <cstddef>
#include <string>

namespace halftone::results {

std::string nameOf(const walks::CompareOutcome &outcome, std::size_t layer);
bool isAnalysed(const walks::CompareOutcome &outcome); ///< in a format for analysis

/// What of a comparison does not depend on the examples: backend, arithmetic, warnings, effect, unmatched nodes.
OrderedJson settingsJson(const walks::CompareOutcome &outcome, const std::string &backend,
                         const std::string &effect);

/// What 'compare --json' prints (app/README.md). settings  as settingsJson() gives them
OrderedJson comparisonJson(const walks::CompareOutcome &outcome, const OrderedJson &settings);

/// The same of a comparison that this process has made, with the memory that it took.
OrderedJson compareJson(const walks::CompareOutcome &outcome, const walks::CompareOptions &options,
                        const std::string &effect);

/// A merged comparison, with a graph of nothing but names in its models' place.
walks::CompareOutcome outcomeOf(const shards::StatisticsShard &merged);

} // namespace halftone::results
