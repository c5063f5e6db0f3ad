#include "app/cli/shards.h"

#include "app/cli/output.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/walks/independent_examples.h"

#include <iostream>

namespace halftone::cli {

void ShardOptions::addTo(Command &command)
{
    command
        .option(
            "--shard", &text,
            "Compute only the K-th of N equal shards and write a file for 'merge' to --out; -/N reads shard "
            "numbers from standard input, one per line")
        .type("K/N");
}

void ShardOptions::addCountTo(Command &command)
{
    command.flag("--count-shards", isCount, "Print the maximum number of shards and exit");
}

Result<void> ShardOptions::take(const std::string &out)
{
    if (isGiven() && isCount)
        return badCall("--count-shards", "cannot be combined with --shard", "; pass one of the two");
    if (!isGiven())
        return {};
    constexpr std::int64_t kMost = std::int64_t{1} << 20;
    const std::size_t slash = std::min(text.find('/'), text.size());
    m_areAsked = text.starts_with("-/");
    const auto index
        = m_areAsked ? std::optional<std::int64_t>(1) : parseInteger(std::string_view(text).substr(0, slash));
    const auto of = parseInteger(std::string_view(text).substr(std::min(slash + 1, text.size())));
    if (!index || !of || *of < 1 || *of > kMost || *index < 1 || *index > *of)
        return badCall(
            "--shard", '"' + printable(text, 60) + '"',
            "K/N, such as 1/4 for the first of four, or -/N to read shard numbers from standard input");
    if (out.empty())
        return badCall("--shard", "needs a file for the statistics", "; pass --out");
    first = {static_cast<std::size_t>(*index - 1), static_cast<std::size_t>(*of)};
    return {};
}

Result<void> ShardOptions::forEach(const std::function<Result<void>(const walks::Shard &)> &write) const
{
    if (!m_areAsked)
        return write(first);
    for (std::string line; std::getline(std::cin, line);) {
        const auto index = parseInteger(line);
        if (!index || *index < 1 || static_cast<std::size_t>(*index) > first.of)
            return inFile(badInput("--shard", '"' + printable(line, 60) + '"',
                                   "1 to " + std::to_string(first.of) + ", one per line"),
                          "standard input");
        HALFTONE_CHECK(write({static_cast<std::size_t>(*index - 1), first.of}));
        HALFTONE_CHECK(writeOutput());
    }
    return {};
}

Result<void> printMaxShards(const io::LoadedModel &source, const walks::ExampleOptions &data,
                            const std::string &backend, std::size_t batch, std::size_t memory)
{
    HALFTONE_TRY(const std::size_t most,
                 walks::maxShards(source.model, source.modelPath, data, backend, batch, memory));
    print(std::to_string(most) + '\n');
    return {};
}

Result<shards::StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                          const walks::ExampleOptions &data, const Json &settings)
{
    return shards::originOf(model, modelPath, data, jsonText(settings));
}

Result<void> writeShard(const shards::StatisticsShard &shard, const std::string &path)
{
    HALFTONE_CHECK(writeWhole(path, shards::statisticsBytes(shard)));
    print("wrote " + printable(path) + ": shard " + std::to_string(shard.which.index + 1) + " of "
          + std::to_string(shard.which.of) + ", " + std::to_string(shard.examples) + " of "
          + std::to_string(shard.origin.all)
          + (std::holds_alternative<shards::SearchShard>(shard.content) ? " candidates\n" : " examples\n"));
    return {};
}

} // namespace halftone::cli
