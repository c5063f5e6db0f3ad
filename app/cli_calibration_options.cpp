#include "app/cli_calibration_options.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace halftone::cli {

void CalibrationOptions::addTo(CLI::App &command, const std::string &percentileOf)
{
    session::ExampleOptions &data = settings.examples;
    command.add_option("--inputs", data.inputs, "Arrays by input name, or a folder of pictures")
        ->type_name("F.npz|DIR");
    command
        .add_option("--preprocess", data.preprocess,
                    "How pictures become inputs; default: preprocess.json beside the model")
        ->type_name("FILE.json");
    command.add_option("--examples", examples, "Only the first N")->type_name("N");
    command.add_option("--labels", data.labels, "Pictures in the order of this file (column file)")
        ->type_name("FILE");
    command.add_option("--batch", batch, "N examples at a time")->type_name("N");
    command.add_option("--percentile", percentile, "With " + percentileOf + " percentile; default 99.99")
        ->type_name("P");
    command.add_option("--backend", settings.backend, "cpu (default), reference or cuda")->type_name("NAME");
    command.add_option("--threads", threads, "Default: as many as the machine has")->type_name("N");
}

Result<void> CalibrationOptions::take()
{
    const std::pair<std::string_view, std::int64_t> counts[]
        = {{"--examples", examples}, {"--batch", batch}, {"--threads", threads}};
    for (const auto &[name, count] : counts) {
        if (count < 0 || count > (std::int64_t{1} << 30))
            return badCall(std::string(name), std::to_string(count), "a positive number");
    }
    if (!(percentile > 0 && percentile <= 100)) {
        std::array<char, 40> text{};
        std::snprintf(text.data(), text.size(), "%g", percentile);
        return badCall("--percentile", text.data(), "a number above 0, at most 100");
    }
    settings.examples.examples = static_cast<std::size_t>(examples);
    settings.batch = static_cast<std::size_t>(batch);
    settings.threads = static_cast<unsigned>(std::min<std::int64_t>(threads, 1024));
    settings.threshold.percentile = percentile;
    return {};
}

} // namespace halftone::cli
