#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/tune_shards.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/report/calibration_json.h"
#include "core/results/comparison_json.h"
#include "core/shards/statistics_file.h"

#include <iostream>
#include <memory>

namespace halftone::cli {
namespace {

struct MergeOptions
{
    std::vector<std::string> shards;
    std::string out;
    std::string statistics;
};

Result<void> writeCalibration(const shards::CalibrationShard &shard, AtomicFile &file,
                              const std::stop_token &stop)
{
    HALFTONE_TRY(const walks::CalibrateOutcome table,
                 walks::calibrated(shard.statistics, shard.threshold, 0, progress(stop)));
    HALFTONE_CHECK(report::writeCalibration(table.tensors, shard.threshold.method, table.examples,
                                            table.seconds,
                                            [&file](std::string_view piece) { return file.write(piece); }));
    return file.write("\n");
}

/// Those of the call, or, for "-", those that standard input names, a line each, as they come.
Result<shards::StatisticsShard> mergedShards(const MergeOptions &options, std::size_t &count)
{
    shards::ShardSum sum;
    if (options.shards != std::vector<std::string>{"-"}) {
        count = options.shards.size();
        for (const std::string &shard : options.shards)
            HALFTONE_CHECK(sum.add(shard));
        return sum.take();
    }
    for (std::string line; std::getline(std::cin, line); ++count)
        HALFTONE_CHECK(sum.add(line));
    return sum.take();
}

Result<void> merge(const MergeOptions &options, const std::stop_token &stop)
{
    CommandFiles files;
    for (const std::string &shard : options.shards)
        if (shard != "-")
            files.reads("SHARD", shard);
    HALFTONE_CHECK(files.writes("--out", options.out).writes("--statistics", options.statistics).check());
    std::size_t count = 0;
    HALFTONE_TRY(const shards::StatisticsShard merged, mergedShards(options, count));
    if (!options.statistics.empty() && std::holds_alternative<shards::SearchShard>(merged.content))
        return badCall("--statistics",
                       "not available for shards of tune: --out already is their merged state");
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(options.out));
    if (const auto *const calibration = std::get_if<shards::CalibrationShard>(&merged.content)) {
        HALFTONE_CHECK(writeCalibration(*calibration, file, stop));
    } else if (std::holds_alternative<shards::SearchShard>(merged.content)) {
        HALFTONE_TRY(const std::string state, mergedState(merged));
        HALFTONE_CHECK(file.write(state));
    } else {
        const Json settings = parseOrdered(merged.origin.settings);
        HALFTONE_CHECK(
            file.write(jsonText(results::comparisonJson(results::outcomeOf(merged), settings), 1) + '\n'));
    }
    if (!options.statistics.empty())
        HALFTONE_CHECK(writeWhole(options.statistics, shards::statisticsBytes(merged)));
    HALFTONE_CHECK(file.commit());
    print("wrote " + printable(options.out) + ": " + counted(count, "shard", "shards") + ", "
          + (std::holds_alternative<shards::SearchShard>(merged.content)
                 ? counted(merged.examples, "candidate", "candidates") + "; tune --state resumes from it"
                 : counted(merged.examples, "example", "examples"))
          + '\n');
    return {};
}

} // namespace

void addMerge(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<MergeOptions>();
    Command command = app.command("merge", "Merge shards written by calibrate, compare or tune");
    command
        .option("SHARD", &options->shards,
                "Files written with --shard; - reads their names from standard input, one per line")
        .type("")
        .required();
    command.option("--out", &options->out, "Write the merged result as JSON; for tune, a file for --state")
        .type("T.json")
        .notEmpty()
        .required();
    command
        .option("--statistics", &options->statistics,
                "Also write the merged statistics as a single-shard file")
        .type("S")
        .notEmpty();
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return merge(*options, stop); };
    });
}

} // namespace halftone::cli
