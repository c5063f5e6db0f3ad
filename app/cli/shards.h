#pragma once

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "core/shards/statistics_file.h"

#include <functional>
#include <string>

namespace halftone::cli {

/// --shard k/n, and what the file of a shard says of where it comes from.
struct ShardOptions
{
    std::string text; ///< "k/n", or "-/n": standard input names those; empty: no shard
    walks::Shard first; ///< of "-/n" the first one
    bool isCount = false; ///< how many there can be, and nothing else

    void addTo(Command &command);
    void addCountTo(Command &command);
    bool isGiven() const { return !text.empty(); }
    /// Reads `text`. fails: BadCall for what is no shard; for one without a file to write
    Result<void> take(const std::string &out);
    /// Writes `first`, or, of "-/n", those that standard input names, a line each with its number, until it ends. What is told of one is
    /// on standard output before the next one is asked for. fails: as `write`; BadInput for a line that is no number of a shard
    Result<void> forEach(const std::function<Result<void>(const walks::Shard &)> &write) const;

private:
    bool m_areAsked = false;
};

/// --count-shards: tells how many shards there can be. fails: as walks::maxShards()
Result<void> printMaxShards(const io::LoadedModel &source, const walks::ExampleOptions &data,
                            const std::string &backend, std::size_t batch, std::size_t memory);

/// fails: what reading the data refuses
Result<shards::StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                          const walks::ExampleOptions &data, const Json &settings);

/// Writes the file and says so. fails: as AtomicFile
Result<void> writeShard(const shards::StatisticsShard &shard, const std::string &path);

} // namespace halftone::cli
