#pragma once

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "core/jobs/statistics_file.h"

#include <string>

namespace halftone::cli {

/// --shard k/n, and what the file of a shard says of where it comes from.
struct ShardOptions
{
    std::string text; ///< "k/n"; empty: no shard
    jobs::Part part;

    void addTo(Command &command);
    bool isGiven() const { return !text.empty(); }
    /// Reads `text`. fails: BadCall for what is no shard; for one without a file to write
    Result<void> take(const std::string &out);
};

/// fails: what reading the data refuses
Result<jobs::StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                        const jobs::ExampleOptions &data, const Json &settings);

/// Writes the file and says so. fails: as AtomicFile
Result<void> writeShard(const jobs::StatisticsShard &shard, const std::string &path);

} // namespace halftone::cli
