#include "app/cli_data_options.h"

namespace halftone::cli {

Result<void> checkCounts(std::initializer_list<std::pair<std::string_view, std::int64_t>> counts)
{
    for (const auto &[name, count] : counts) {
        if (count < 0 || count > (std::int64_t{1} << 30))
            return badCall(std::string(name), std::to_string(count), "a positive number");
    }
    return {};
}

void DataOptions::addTo(Command &command, Labels labels)
{
    const Option inputs
        = command.option("--inputs", &data.inputs, "Arrays by input name, or a folder of pictures")
              .type("F.npz|DIR");
    command
        .option("--preprocess", &data.preprocess,
                "How pictures become inputs; default: preprocess.json beside the model")
        .type("FILE.json");
    if (labels == Labels::Accuracy) {
        inputs.required();
        command.option("--labels", &data.labels, "The right classes: adds the accuracy")
            .type("FILE.csv|.npz");
    } else {
        command.option("--labels", &data.labels, "Pictures in the order of this file (column file)")
            .type("FILE");
    }
    command.option("--examples", &examples, "Only the first N").type("N");
    command.option("--batch", &batch, "N examples at a time").type("N");
    command.option("--backend", &backend, backends::backendNames()).type("NAME");
    command.option("--threads", &threads, "Default: as many as the machine has").type("N");
}

} // namespace halftone::cli
