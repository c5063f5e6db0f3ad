#include "app/cli/tune_shards.h"

#include "core/tune/shared_basis.h"

#include <vector>

namespace halftone::cli {

Result<void> writeSearchShard(tune::RecordingOracle &oracle, shards::StatisticsOrigin origin,
                              const walks::Shard &shard, const std::string &out, const Progress &progress)
{
    HALFTONE_TRY(tune::Network network, oracle.profile(Progress{progress.stop, {}}));
    const std::vector<tune::Candidate> candidates = tune::candidatesOf(network);
    tune::Record record{tune::basisOf(origin),      std::move(network), {}, {}, {}, {},
                        oracle.record().conversions};
    // Where shards are more than candidates, the last ones have none; nobody knows how many there are before groups were timed.
    for (std::size_t k = shard.index; k < candidates.size(); k += shard.of) {
        const auto [group, label] = candidates[k];
        progress.tell(static_cast<double>(k) / static_cast<double>(candidates.size()),
                      "isolated error of " + record.network->groups[group].name);
        HALFTONE_TRY(const double error, oracle.errorAlone(group, label, Progress{progress.stop, {}}));
        record.alone[{group, label}] = error;
    }
    origin.all = candidates.size();
    const std::size_t own = record.alone.size();
    return writeShard(
        {std::move(origin), shard, own, shards::SearchShard{{{shard.index, tune::writeRecord(record)}}}},
        out);
}

Result<std::string> mergedState(const shards::StatisticsShard &merged)
{
    std::vector<tune::Record> records;
    for (const auto &[index, text] : std::get<shards::SearchShard>(merged.content).records) {
        const std::string where = "shard " + std::to_string(index + 1);
        auto record = tune::readRecord(text);
        if (!record.ok())
            return inFile(std::move(record).error(), where);
        if (record.value().basis != tune::basisOf(merged.origin))
            return badInput(where, "holds measurements of a different search than its file");
        records.push_back(std::move(record).value());
    }
    HALFTONE_TRY(const tune::Record state, tune::mergedRecord(records));
    return tune::writeRecord(state);
}

} // namespace halftone::cli
