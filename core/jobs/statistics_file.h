#pragma once

#include "core/base/result.h"
#include "core/jobs/calibrate.h"
#include "core/jobs/compare.h"
#include "core/jobs/part.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// Statistics of a part of the examples as a file (core/jobs/SCALE.md): written by `--shard`, joined by `merge`.
namespace halftone::jobs {

/// What parts have in common that add up.
struct StatisticsOrigin
{
    std::string model; ///< the file's name, for messages
    std::uint64_t modelHash = 0; ///< of graph and parameters, of both models of a comparison
    std::uint64_t dataHash = 0; ///< of the examples: arrays and rules by content, pictures by name and size
    std::string settings; ///< whatever else has a say in a value, as JSON
    std::string cpu; ///< cpuKind()
    std::size_t all = 0; ///< examples there are
};

struct CalibrationShard
{
    calibration::ThresholdOptions threshold{};
    CollectedStatistics statistics;
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
    CompareParts parts;
    std::vector<LayerName> names;
    std::vector<std::string> outputs;
    std::optional<double> threshold; ///< as CompareSettings::threshold
    double seconds = 0;
};

struct StatisticsShard
{
    StatisticsOrigin origin;
    Part part;
    std::size_t examples = 0; ///< in the part
    std::variant<CalibrationShard, ComparisonShard> content;
};

std::string statisticsBytes(const StatisticsShard &shard);
/// fails: BadInput for what is no such file, one of another version, a wrong checksum, numbers that no statistics have; all
/// memory that a count asks for is bounded by the length of the bytes
Result<StatisticsShard> readStatistics(std::span<const std::byte> bytes);

/// The files, joined: the same content as that of one part that is the whole.
/// fails: BadInput for what readStatistics() refuses, for shards of another origin, for missing and doubled ones, each named
Result<StatisticsShard> mergeStatistics(const std::vector<std::string> &paths);

/// Graph, with its bodies, and parameters.
std::uint64_t hashOf(const graph::Model &model);
/// fails: what reading the files refuses
Result<std::uint64_t> hashOf(const ExampleOptions &options, const std::string &modelPath);

} // namespace halftone::jobs
