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

/// Statistics of a shard of the examples as a file (core/shards/SCALE.md): written by `--shard`, joined by `merge`.
namespace halftone::shards {

/// What shards have in common that add up.
struct StatisticsOrigin
{
    std::string model; ///< the file's name, for messages
    std::uint64_t modelHash = 0; ///< of graph and parameters, of both models of a comparison
    std::uint64_t dataHash = 0; ///< of the examples: arrays and rules by content, pictures by name and size
    std::string settings; ///< whatever else has a say in a value, as JSON
    std::string cpu; ///< cpuKind()
    std::size_t all = 0; ///< examples there are; of a search: candidates
};

struct CalibrationShard
{
    calibration::ThresholdOptions threshold{};
    walks::CollectedStatistics statistics;
};

/// A layer as a table calls it, by NodeId of the reference.
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

/// Of a search for layers that must stay wide: what it asked of the model, as tune::writeRecord() gives it, by shard.
struct SearchShard
{
    std::map<std::size_t, std::string> records;
};

struct StatisticsShard
{
    StatisticsOrigin origin;
    walks::Shard which;
    std::size_t examples = 0; ///< in the shard; of a search: candidates
    std::variant<CalibrationShard, ComparisonShard, SearchShard> content;
};

/// Needs: of a search, one record.
std::string statisticsBytes(const StatisticsShard &shard);
/// fails: BadInput for what is no such file, one of another version, a wrong checksum, numbers that no statistics have; all
/// memory that a count asks for is bounded by the length of the bytes
Result<StatisticsShard> readStatistics(std::span<const std::byte> bytes);

/// Joins files as they come.
class ShardSum
{
public:
    /// fails: BadInput for what readStatistics() refuses, for a shard of another origin, for one that was there before; with the
    /// file's name. The sum is then of no further use
    Result<void> add(const std::string &path);
    /// The same content as that of one shard that is the whole. Takes it away.
    /// fails: BadInput for missing shards, each named; BadCall for none at all
    Result<StatisticsShard> take();

private:
    Result<void> addShard(StatisticsShard shard, const std::string &path);

    std::optional<StatisticsShard> m_sum;
    std::vector<std::string> m_seen; ///< by shard: the file
};

/// All at once. fails: as ShardSum
Result<StatisticsShard> mergeStatistics(const std::vector<std::string> &paths);

/// A merged comparison, but for its models: nodes are those of the model that was read. Needs: a comparison
walks::CompareOutcome outcomeOf(const StatisticsShard &whole);

/// On this machine; `all` is yet to be told. fails: what reading the data refuses
Result<StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                  const walks::ExampleOptions &data, std::string settings);
/// Graph, with its bodies, and parameters.
std::uint64_t hashOf(const graph::Model &model);
/// fails: what reading the files refuses
Result<std::uint64_t> hashOf(const walks::ExampleOptions &options, const std::string &modelPath);

} // namespace halftone::shards
