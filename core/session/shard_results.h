#pragma once

#include "core/base/result.h"
#include "core/session/snapshot.h"
#include "core/shards/statistics_file.h"
#include "core/walks/compare.h"

/// What was computed elsewhere, in shards, as results of an open document.
namespace halftone::session {

/// whole  merged. fails: BadInput for what is no comparison, or one of a model that has not these layers
Result<walks::CompareOutcome> comparisonFrom(const shards::StatisticsShard &whole, const Snapshot &snapshot);

/// Thresholds are chosen here, in parallel. fails: BadInput for what is no calibration, or one of another model; Cancelled
Result<walks::CalibrateOutcome> calibrationFrom(const shards::StatisticsShard &whole,
                                                const Snapshot &snapshot, unsigned threads,
                                                const Progress &progress = {});

} // namespace halftone::session
