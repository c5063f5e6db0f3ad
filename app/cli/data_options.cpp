#include "app/cli/data_options.h"

#include "core/base/text.h"

#include <array>

namespace halftone::cli {

Result<void> checkCounts(std::initializer_list<std::pair<std::string_view, std::int64_t>> counts)
{
    for (const auto &[name, count] : counts) {
        if (count < 0 || count > (std::int64_t{1} << 30))
            return badCall(std::string(name), std::to_string(count), "a positive number");
    }
    return {};
}

Result<std::size_t> memoryOf(const std::string &text)
{
    constexpr std::array<std::pair<std::string_view, int>, 3> kUnits{{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    std::string_view number = text;
    int shift = 20;
    for (const auto &[unit, bits] : kUnits) {
        if (number.ends_with(unit)) {
            number.remove_suffix(unit.size());
            shift = bits;
        }
    }
    const auto value = parseInteger(trimmed(number));
    if (!value || *value < 0 || *value > kMost)
        return badCall("--memory", '"' + printable(text, 60) + '"',
                       "a number of MiB, or a size such as 512MiB or 2GiB");
    return static_cast<std::size_t>(*value) << shift;
}

void TaskOptions::addTo(Command &command)
{
    command
        .option("--targets", &targets,
                "Expected values of the first output: an array, or a folder of pictures or masks")
        .type("F.npz|DIR");
    std::vector<std::string> names;
    for (const tasks::Metric one : tasks::allMetrics())
        names.emplace_back(tasks::nameOf(one));
    command.option("--metric", &metric, "Task metric (default: chosen from the outputs and labels)")
        .oneOf(names)
        .type("METRIC");
    command
        .option("--next-token", &nextToken,
                "Judge a language model by the next token of this input, by perplexity if no metric is given "
                "(default: with --metric perplexity and no labels, the only integer input with steps)")
        .type("INPUT");
}

walks::ExampleOptions TaskOptions::applied(walks::ExampleOptions data) const
{
    data.targets = targets;
    data.metric = tasks::metricNamed(metric);
    data.nextToken = nextToken;
    return data;
}

std::string taskText(const tasks::TaskScore &task)
{
    std::string text;
    if (task.reference)
        text = tasks::valueText(task.metric, *task.reference);
    if (task.reference && task.other)
        text = tasks::wordsOf(task)->values();
    if (const auto ratio = task.ratio())
        text += formatted(", ratio %.4f", *ratio);
    if (task.agreement)
        text += (text.empty() ? "to float32 " : "; to float32 ")
            + tasks::valueText(task.metric, *task.agreement);
    return text + (task.isGuessed ? " (the metric is a guess)" : "");
}

void DataOptions::addTo(Command &command, Labels labels)
{
    const Option inputs
        = command
              .option("--inputs", &data.inputs, "Input data: arrays by input name, or a folder of pictures")
              .type("F.npz|DIR");
    command
        .option("--preprocess", &data.preprocess,
                "Preprocessing of pictures (default: preprocess.json beside the model)")
        .type("FILE.json");
    if (labels == Labels::Accuracy) {
        inputs.required();
        command.option("--labels", &data.labels, "Correct classes, to measure accuracy")
            .type("FILE.csv|.npz");
        task.addTo(command);
    } else {
        command.option("--labels", &data.labels, "Take pictures in the order of this file's column 'file'")
            .type("FILE");
    }
    command.option("--examples", &examples, "Use only the first N examples").type("N").positive();
    command.option("--batch", &batch, "Batch size (default: 1)").type("N").positive();
    command.option("--backend", &backend, backends::backendNames()).type("NAME");
    command.option("--threads", &threads, "Number of worker threads (default: one per core)").type("N");
}

} // namespace halftone::cli
