#pragma once

#include "core/base/result.h"
#include "core/walks/calibrate.h"
#include "core/walks/compare.h"
#include "core/walks/shard.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// Files with the statistics of a shard of the examples (core/shards/SCALE.md): written by `--shard`, merged by `merge`.
namespace halftone::shards {

/// What shards must have in common to be merged.
struct StatisticsOrigin
{
    std::string model; ///< file name, for messages
    std::uint64_t modelHash = 0; ///< graph and parameters; for a comparison, of both models
    std::uint64_t dataHash = 0; ///< examples: arrays and preprocessing by content, pictures by name and size
    std::string settings; ///< all other settings that affect values, as JSON
    std::string cpu; ///< cpuKind()
    std::size_t all = 0; ///< number of all examples; for a search, of candidates
};

struct CalibrationShard
{
    calibration::ThresholdOptions threshold{};
    walks::CollectedStatistics statistics;
};

/// The name of a layer in tables, by NodeId of the reference.
struct LayerName
{
    graph::NodeId node = 0;
    std::string name;
    std::string op;
};

struct ComparisonShard
{
    walks::CompareParts parts;
    std::vector<LayerName> names;
    std::vector<std::string> outputs;
    std::optional<double> threshold; ///< as CompareSettings::threshold
    double seconds = 0;
};

/// Of a search for layers that must stay in float32: its measurements by tune::writeRecord(), by shard.
struct SearchShard
{
    std::map<std::size_t, std::string> records;
};

struct StatisticsShard
{
    StatisticsOrigin origin;
    walks::Shard which;
    std::size_t examples = 0; ///< in the shard; for a search, candidates
    std::variant<CalibrationShard, ComparisonShard, SearchShard> content;
};

/// Needs: for a search, one record.
std::string statisticsBytes(const StatisticsShard &shard);
/// fails: BadInput for other files and versions, a wrong checksum, or impossible numbers. Allocations are bounded by the number of bytes.
Result<StatisticsShard> readStatistics(std::span<const std::byte> bytes);

/// Merges files one by one.
class ShardSum
{
public:
    /// fails: as readStatistics(); BadInput for a shard of another origin, or one that was added before; with the file's name. Do not use the sum
    /// after that.
    Result<void> add(const std::string &path);
    /// Moves out the merged content, which equals that of a single shard of all examples.
    /// fails: BadInput for missing shards, naming each; BadCall if nothing was added
    Result<StatisticsShard> take();

private:
    Result<void> addShard(StatisticsShard shard, const std::string &path);

    std::optional<StatisticsShard> m_sum;
    std::vector<std::string> m_seen; ///< by shard: the file
};

/// Merges all files. fails: as ShardSum
Result<StatisticsShard> mergeStatistics(const std::vector<std::string> &paths);

/// A merged comparison without its models; nodes are those of the model that was read. Needs: a comparison
walks::CompareOutcome outcomeOf(const StatisticsShard &whole);

/// The origin on this machine, with `all` unset. fails: errors of reading the data
Result<StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                  const walks::ExampleOptions &data, std::string settings);
/// Hash of the graph, including bodies, and the parameters.
std::uint64_t hashOf(const graph::Model &model);
/// fails: errors of reading the files
Result<std::uint64_t> hashOf(const walks::ExampleOptions &options, const std::string &modelPath);

} // namespace halftone::shards
