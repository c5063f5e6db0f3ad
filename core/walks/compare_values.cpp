#include "core/walks/compare_values.h"

#include "core/compare/output_rows.h"
#include "core/tasks/task_count.h"
#include "core/tensor/elements.h"
#include "core/walks/examples.h"
#include "core/walks/run.h"
#include "core/walks/value_names.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace halftone::walks {
namespace {

using graph::Entry;
using tensor::Tensor;

std::vector<float> floatsOf(const Tensor &tensor)
{
    std::vector<float> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

/// Nothing for values of different shapes.
std::optional<tensor::ErrorFigures> errorsOf(const Tensor &reference, const Tensor &value)
{
    if (reference.shape() != value.shape())
        return std::nullopt;
    tensor::ErrorMetrics metrics;
    metrics.add(floatsOf(reference), floatsOf(value));
    metrics.endExample();
    return metrics.figures();
}

/// The entries of a graph by the names that values may have; outputs win.
std::unordered_map<std::string, Entry> entriesByName(const graph::Graph &graph)
{
    std::unordered_map<std::string, Entry> entries;
    const std::vector<std::string> heads = sourceOutputNames(graph);
    for (std::size_t k = 0; k < heads.size(); ++k)
        entries.emplace(heads[k], graph.heads()[k]);
    const auto names = valueNames(graph);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (std::uint32_t k = 0; k < names[id].size(); ++k)
            entries.emplace(names[id][k], Entry{id, k, 0});
    return entries;
}

/// What both programs gave for an output.
struct OutputValues
{
    const Tensor *recorded = nullptr; ///< null: it was not recorded
    const Tensor *computed = nullptr;
};

/// How both programs do on labels and targets.
Result<void> judge(const graph::Model &model, const std::string &modelPath, const CompareOptions &options,
                   const OutputValues &first, CompareOutcome &outcome)
{
    HALFTONE_TRY(const auto source, openExamples(options.examples, model, modelPath));
    HALFTONE_TRY(auto task, taskOf(options.examples, *source, model.graph));
    tasks::AccuracyCount reference(source->labels());
    tasks::AccuracyCount other(source->labels());
    tasks::TaskCount score(std::move(task));
    HALFTONE_CHECK(reference.add(*first.recorded, 0));
    HALFTONE_CHECK(other.add(*first.computed, 0));
    HALFTONE_CHECK(score.add(*first.recorded, first.computed, 0));
    outcome.reference = reference.result();
    outcome.other = other.result();
    outcome.task = score.result();
    return {};
}

} // namespace

Result<CompareOutcome> compareValues(const graph::Model &model, const std::string &modelPath,
                                     std::span<const io::NamedTensor> values, const CompareOptions &options,
                                     const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    RunSettings settings;
    settings.examples = options.examples;
    settings.backend = options.backend;
    settings.threads = options.threads;
    settings.batch = options.batch;
    settings.accumulator = options.accumulator;
    settings.allNodes = true;
    HALFTONE_TRY(const RunOutcome ran, runModel(model, modelPath, settings, progress));
    std::unordered_map<std::string_view, const Tensor *> computed;
    for (const io::NamedTensor &one : ran.outputs)
        computed.emplace(one.name, &one.tensor);
    const auto entries = entriesByName(model.graph);
    const auto names = valueNames(model.graph);
    CompareOutcome outcome;
    std::vector<compare::LayerErrors> layers;
    std::vector<OutputValues> heads(model.graph.heads().size());
    for (const io::NamedTensor &value : values) {
        const auto entry = entries.find(value.name);
        const auto found = entry == entries.end() || entry->second.output >= names[entry->second.node].size()
            ? computed.end()
            : computed.find(names[entry->second.node][entry->second.output]);
        if (found == computed.end()) {
            outcome.unmatched.reference.push_back(value.name);
            continue;
        }
        compare::LayerErrors &layer = layers.emplace_back();
        layer.node = entry->second.node;
        layer.output = entry->second.output;
        layer.dtype = found->second->dtype();
        layer.cumulative = errorsOf(value.tensor, *found->second);
        layer.shapesDiffer = !layer.cumulative;
        for (std::size_t k = 0; k < heads.size(); ++k) {
            if (model.graph.heads()[k] == entry->second)
                heads[k] = {&value.tensor, found->second};
        }
    }
    if (layers.empty())
        return badInput("values", std::to_string(values.size()) + " values, none of which the model has",
                        "names of its outputs or nodes");
    const std::vector<std::string> headNames = sourceOutputNames(model.graph);
    compare::OutputRows rows(model.graph);
    std::vector<compare::OutputErrors> outputs;
    for (std::size_t k = 0; k < heads.size(); ++k) {
        if (heads[k].recorded == nullptr)
            continue;
        rows.add(k, *heads[k].recorded, *heads[k].computed, {});
        outputs.push_back(rows.outputs()[k]);
        outcome.outputs.push_back(headNames[k]);
    }
    std::ranges::sort(layers, {}, [](const auto &layer) { return std::pair(layer.node, layer.output); });
    outcome.comparison = compare::conclude(std::move(layers), std::move(outputs), options.settings.threshold);
    outcome.models.reference = outcome.models.other = model;
    outcome.batch = options.batch;
    if (!heads.empty() && heads[0].recorded != nullptr
        && heads[0].recorded->shape() == heads[0].computed->shape()) {
        if (auto judged = judge(model, modelPath, options, heads[0], outcome); !judged.ok())
            return std::move(judged).error();
    } else {
        outcome.other = ran.accuracy;
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace halftone::walks
