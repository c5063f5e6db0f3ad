#pragma once

#include "app/cli/shards.h"
#include "core/tune/candidates.h"
#include "core/tune/model_oracle.h"

#include <string>

/// A search cut into shards: candidates' errors on many machines, the search itself on one.
namespace halftone::cli {

/// Errors of the shard's candidates, every so-manieth since the last groups' take the least time. fails: as the oracle
Result<void> writeSearchShard(tune::RecordingOracle &oracle, shards::StatisticsOrigin origin,
                              const walks::Shard &shard, const std::string &out, const Progress &progress);

/// What the shards know, as a file for --state. fails: BadInput for records that do not belong together
Result<std::string> mergedState(const shards::StatisticsShard &merged);

} // namespace halftone::cli
