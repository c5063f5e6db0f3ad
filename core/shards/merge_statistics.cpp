#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/shards/statistics_file.h"

#include <algorithm>
#include <array>

namespace halftone::shards {
namespace {

std::string nameOf(const walks::Shard &shard)
{
    return std::to_string(shard.index + 1) + '/' + std::to_string(shard.of);
}

std::string_view kindOf(const StatisticsShard &shard)
{
    constexpr std::array<std::string_view, 3> kKinds{"a calibration", "a comparison", "a search"};
    return kKinds[shard.content.index()];
}

/// What a shard has that another one of the same work has not.
Result<void> checkSame(const StatisticsShard &first, const StatisticsShard &other)
{
    const auto differs = [](const std::string &what) {
        return badInput("origin", what, "shards of one run: the same model, data, settings and kind of CPU");
    };
    const StatisticsOrigin &a = first.origin;
    const StatisticsOrigin &b = other.origin;
    if (first.content.index() != other.content.index())
        return differs(std::string(kindOf(other)) + ", but the first file is " + std::string(kindOf(first)));
    if (a.modelHash != b.modelHash)
        return differs("a different model (" + printable(b.model) + ") than the first file's ("
                       + printable(a.model) + ')');
    if (a.dataHash != b.dataHash || a.all != b.all)
        return differs("different data than in the first file");
    if (a.settings != b.settings)
        return differs("different settings (" + printable(b.settings) + ") than the first file's ("
                       + printable(a.settings) + ')');
    if (a.cpu != b.cpu)
        return differs("a different kind of CPU (" + printable(b.cpu) + ") than the first file's ("
                       + printable(a.cpu) + "), whose results differ in the last bits");
    if (first.which.of != other.which.of)
        return differs("shard " + nameOf(other.which) + ", but the first file is shard "
                       + nameOf(first.which));
    return {};
}

Result<void> add(const CalibrationShard &from, CalibrationShard &to)
{
    const auto nameOfTensor
        = [](const walks::CollectedTensor &one) -> const std::string & { return one.tensor.name; };
    if (!std::ranges::equal(from.statistics.tensors, to.statistics.tensors, {}, nameOfTensor, nameOfTensor))
        return badInput("tensors", "a different list than in the first file", "shards of one run");
    for (std::size_t k = 0; k < to.statistics.tensors.size(); ++k) {
        walks::CollectedTensor &tensor = to.statistics.tensors[k];
        if (!tensor.tensor.isParameter) // which every shard has seen once
            tensor.collector.add(from.statistics.tensors[k].collector);
    }
    to.statistics.seconds += from.statistics.seconds;
    return {};
}

Result<void> add(const ComparisonShard &from, ComparisonShard &to)
{
    const auto place = [](const compare::LayerParts &layer) { return std::pair(layer.node, layer.output); };
    if (!std::ranges::equal(from.parts.parts.layers, to.parts.parts.layers, {}, place, place)
        || from.outputs != to.outputs)
        return badInput("layers", "a different list than in the first file", "shards of one run");
    compare::addParts(from.parts.parts, to.parts.parts);
    to.parts.reference.add(from.parts.reference);
    to.parts.other.add(from.parts.other);
    to.parts.task.add(from.parts.task);
    to.seconds += from.seconds;
    return {};
}

Result<void> add(const StatisticsShard &from, StatisticsShard &to)
{
    to.examples += from.examples;
    if (auto *const calibration = std::get_if<CalibrationShard>(&to.content))
        return add(std::get<CalibrationShard>(from.content), *calibration);
    if (auto *const search = std::get_if<SearchShard>(&to.content)) {
        search->records.merge(SearchShard(std::get<SearchShard>(from.content)).records);
        return {};
    }
    return add(std::get<ComparisonShard>(from.content), std::get<ComparisonShard>(to.content));
}

Error missing(const std::vector<std::string> &seen)
{
    std::vector<std::string> names;
    for (std::size_t k = 0; k < seen.size(); ++k) {
        if (seen[k].empty())
            names.push_back(nameOf({k, seen.size()}));
    }
    return badInput("shards", joined(names) + (names.size() == 1 ? " is missing" : " are missing"),
                    "all " + std::to_string(seen.size()));
}

} // namespace

Result<void> ShardSum::add(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    auto read = readStatistics(file->bytes());
    if (!read.ok())
        return inFile(std::move(read).error(), path);
    Result<void> added = addShard(std::move(read).value(), path);
    return added.ok() ? added : inFile(std::move(added).error(), path);
}

Result<void> ShardSum::addShard(StatisticsShard shard, const std::string &path)
{
    if (m_sum)
        HALFTONE_CHECK(checkSame(*m_sum, shard));
    m_seen.resize(shard.which.of);
    std::string &seen = m_seen[shard.which.index];
    if (!seen.empty())
        return badInput("shard " + nameOf(shard.which), "is given twice, first in " + printable(seen),
                        "each shard once");
    seen = path;
    if (m_sum)
        return shards::add(shard, *m_sum);
    m_sum = std::move(shard);
    return {};
}

Result<StatisticsShard> ShardSum::take()
{
    if (!m_sum)
        return badCall("merge", "no shards given", "at least one");
    if (std::ranges::any_of(m_seen, [](const std::string &path) { return path.empty(); }))
        return missing(m_seen);
    StatisticsShard sum = *std::move(m_sum);
    sum.which = {};
    if (auto *const calibration = std::get_if<CalibrationShard>(&sum.content)) {
        calibration->statistics.examples = sum.examples;
        calibration->statistics.all = sum.origin.all;
    }
    return sum;
}

walks::CompareOutcome outcomeOf(const StatisticsShard &whole)
{
    const auto &shard = std::get<ComparisonShard>(whole.content);
    walks::CompareOutcome outcome;
    outcome.comparison = compare::comparisonOf(shard.parts.parts, shard.threshold);
    outcome.outputs = shard.outputs;
    outcome.examples = outcome.expected = outcome.all = whole.examples;
    outcome.batch = 1;
    outcome.seconds = shard.seconds;
    outcome.reference = accuracyOf(shard.parts.reference);
    outcome.other = accuracyOf(shard.parts.other);
    outcome.task = shard.parts.task.result();
    outcome.parts = shard.parts;
    return outcome;
}

Result<StatisticsShard> mergeStatistics(const std::vector<std::string> &paths)
{
    ShardSum sum;
    for (const std::string &path : paths)
        HALFTONE_CHECK(sum.add(path));
    return sum.take();
}

} // namespace halftone::shards
