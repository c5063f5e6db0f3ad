#include "core/walks/quantize.h"

#include "core/backends/backends.h"
#include "core/base/mapped_file.h"
#include "core/base/progress_part.h"
#include "core/dialect/dialect.h"
#include "core/infer/shown_outputs.h"
#include "core/infer/stored_types.h"
#include "core/infer/variables.h"
#include "core/kernels/buffer.h"
#include "core/mixed/hold/hold_positions.h"
#include "core/quantize/pairs.h"
#include "core/report/calibration_json.h"
#include "core/rewrite/strip_casts.h"
#include "core/walks/feature_means.h"
#include "core/walks/int8_ranges.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <unordered_set>
#include <utility>

namespace halftone::walks {
namespace {

calibration::CodeType codeTypeOf(quantize::QuantizedCodes codes)
{
    return codes == quantize::QuantizedCodes::Int8 ? calibration::CodeType::Int8
        : codes == quantize::QuantizedCodes::UInt8 ? calibration::CodeType::Uint8
                                                   : calibration::CodeType::Auto;
}

/// Uniform in [-1, 1), the same in every process.
Result<tensor::Tensor> randomValues(const tensor::Shape &shape)
{
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({tensor::DType::F32, shape}));
    std::mt19937 engine(1);
    constexpr float kScale = 0x1p-31F;
    for (std::size_t i = 0; i < buffer.tensor.elementCount(); ++i) {
        const float value = static_cast<float>(engine()) * kScale - 1;
        std::memcpy(buffer.bytes + i * sizeof value, &value, sizeof value);
    }
    return buffer.tensor;
}

void cutTo(double least, double greatest, quantize::QuantizedRange &range)
{
    range.low = std::max(range.low, static_cast<float>(std::min(least, 0.0)));
    range.high = std::min(range.high, static_cast<float>(std::max(greatest, 0.0)));
}

} // namespace

Result<quantize::QuantizeOptions> withPositionsHeld(const graph::Model &model,
                                                    quantize::QuantizeOptions options)
{
    std::vector<policy::Warning> told; // of names that no policy gives here
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, policy::Policy(), told));
    const std::vector<std::string> refusals = mixed::refusalsOfPositions(
        model.graph, mixed::findPositions(model.graph, variables, tensor::DType::I8));
    options.refusals.resize(refusals.size());
    for (graph::NodeId id = 0; id < refusals.size(); ++id)
        if (options.refusals[id].empty())
            options.refusals[id] = refusals[id];
    return options;
}

quantize::QuantizedRanges calibratedRanges(std::span<const calibration::CalibratedTensor> tensors)
{
    quantize::QuantizedRanges ranges;
    for (const calibration::CalibratedTensor &tensor : tensors) {
        const auto range = calibration::calibratedRange(tensor.statistics, tensor.threshold);
        ranges[tensor.name] = {range.min, range.max};
    }
    return ranges;
}

void cutToValues(std::span<const calibration::CalibratedTensor> tensors, quantize::QuantizedRanges &ranges)
{
    for (const calibration::CalibratedTensor &tensor : tensors) {
        const auto found = ranges.find(tensor.name);
        if (found == ranges.end())
            continue;
        cutTo(tensor.statistics.min, tensor.statistics.max, found->second);
    }
}

Result<quantize::QuantizedRanges> rangesInTable(const std::string &path, const graph::Graph &graph)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    auto read = report::readCalibrationTable(mapped->text());
    if (!read.ok())
        return inFile(std::move(read).error(), path);
    quantize::QuantizedRanges ranges;
    for (const report::NamedRange &row : read.value()) {
        quantize::QuantizedRange &range = ranges[row.name] = {row.low, row.high};
        if (quantize::isInPairs(graph) && row.least && row.greatest)
            cutTo(*row.least, *row.greatest, range);
    }
    return ranges;
}

Result<quantize::QuantizedRanges> rangesOnRandomValues(const graph::Model &model,
                                                       const std::vector<std::string> &names,
                                                       const infer::KnownShapes &inputs, unsigned threads,
                                                       const Progress &progress)
{
    const std::unordered_set<std::string> wanted(names.begin(), names.end());
    HALFTONE_TRY(const kernels::BackendChain backends,
                 backends::backendChain(backends::kDefaultBackend, threads));
    HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(model, backends));
    quantize::QuantizedRanges ranges;
    const auto take = [&](const std::string &name, const tensor::Tensor &value) {
        if (!wanted.contains(name) || value.dtype() != tensor::DType::F32 || value.elementCount() == 0)
            return;
        const std::vector<float> values = value.values<float>();
        const auto [low, high] = std::ranges::minmax_element(values);
        ranges[name] = {*low, *high};
    };
    interpret::Feed feed;
    for (const std::string &name : interpreter.inputs()) {
        const auto shape = inputs.find(name);
        if (shape == inputs.end() || !shape->second.isComplete())
            return orElse(badInput(name, "its shape is unknown"), Field::Shape, "for every input");
        HALFTONE_TRY(feed[name], randomValues(shape->second));
        take(name, feed[name]);
    }
    const std::vector<std::size_t> shown = infer::shownOutputs(model.graph);
    interpret::RunOptions run;
    run.progress = progress;
    run.tap = [&](const interpret::NodeValue &value) -> Result<void> {
        for (std::uint32_t k = 0; k < std::min(shown[value.node], value.outputs.size()); ++k)
            take(dialect::of(model.graph).entryName(model.graph, {value.node, k, 0}), value.outputs[k]);
        return {};
    };
    const auto heads = interpreter.run(feed, run);
    if (!heads.ok())
        return heads.error();
    return ranges;
}

namespace {

/// Nothing for a model without 16 bit, or of a format in which int8 knows what to do with it.
Result<std::optional<rewrite::Rewritten>> widened(const graph::Model &model, const Progress &progress)
{
    if (!quantize::isInPairs(model.graph))
        return std::optional<rewrite::Rewritten>();
    HALFTONE_TRY(const infer::TypeMap types, infer::storedTypes(model));
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!std::ranges::any_of(types.outputs(id), tensor::isHalf))
            continue;
        HALFTONE_TRY(rewrite::Rewritten made, rewrite::stripCasts(model, {progress.stop, {}}));
        return std::optional(std::move(made));
    }
    return std::optional<rewrite::Rewritten>();
}

/// `refusals`, by NodeId of one graph, by that of another with nodes of the same names.
std::vector<std::string> movedTo(const graph::Graph &to, const graph::Graph &from,
                                 const std::vector<std::string> &refusals)
{
    std::unordered_map<std::string_view, std::string_view> byName;
    for (graph::NodeId id = 0; id < refusals.size(); ++id)
        byName.emplace(from.node(id).name, refusals[id]);
    std::vector<std::string> moved;
    for (graph::NodeId id = 0; !refusals.empty() && id < to.nodeCount(); ++id) {
        const auto found = byName.find(to.node(id).name);
        moved.emplace_back(found == byName.end() ? std::string_view() : found->second);
    }
    return moved;
}

Result<QuantizeOutcome> quantizeWide(const graph::Model &model, const std::string &modelPath,
                                     const QuantizeSettings &settings, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_TRY(const quantize::QuantizeOptions options, withPositionsHeld(model, settings.options));
    QuantizeOutcome outcome;
    quantize::QuantizedRanges ranges;
    quantize::PlannedQuantization planned;
    const bool calibrates = options.isCalibrated && settings.table.empty() && !settings.calibration;
    const double calibrating = !calibrates ? 0 : settings.correctsBiases ? 0.5 : 1; // of the whole
    if (options.isCalibrated && !settings.table.empty()) {
        HALFTONE_TRY(ranges, rangesInTable(settings.table, model.graph));
    } else if (options.isCalibrated && settings.calibration) {
        ranges = calibratedRanges(settings.calibration->tensors);
        if (quantize::isInPairs(model.graph))
            cutToValues(settings.calibration->tensors, ranges);
    } else if (options.isCalibrated) {
        HALFTONE_TRY(planned, quantize::planQuantization(model, options));
        CalibrateOptions calibrate = settings.calibrate;
        calibrate.threshold.codes = codeTypeOf(options.codes);
        calibrate.rangesOnly = true;
        calibrate.asBatches = isMeantAsBatches(model.graph, calibrate.threshold.method);
        for (const quantize::ObservedTensor &tensor : planned.observed)
            calibrate.tensors.push_back(tensor.source);
        if (!calibrate.tensors.empty()) {
            HALFTONE_TRY(CalibrateOutcome calibrated,
                         calibrateModel(model, modelPath, calibrate, partOf(progress, 0, calibrating)));
            outcome.tensors = std::move(calibrated.tensors);
            outcome.examples = calibrated.examples;
        }
        ranges = calibratedRanges(outcome.tensors);
        if (quantize::isInPairs(model.graph))
            cutToValues(outcome.tensors, ranges);
    }
    quantize::QuantizeOptions first = options;
    first.asOperators &= !settings.correctsBiases; // where products are still told by their pairs
    HALFTONE_TRY(outcome.quantized, quantize::quantize(model, first, ranges, {planned.plan.get()}));
    if (settings.correctsBiases) {
        const auto products = quantize::int8Products(model.graph, outcome.quantized.model.graph);
        HALFTONE_TRY(const auto means,
                     featureMeans(model, modelPath, products, ranges, options.codes, settings.calibrate,
                                  partOf(progress, calibrating, 1 - calibrating)));
        HALFTONE_TRY(const quantize::CorrectedBiases corrected,
                     quantize::correctBiases(model, products, means));
        HALFTONE_TRY(outcome.quantized, quantize::quantize(corrected.model, options, ranges));
        outcome.correctedBiases = corrected.corrected;
        outcome.quantized.notes.insert(outcome.quantized.notes.end(), corrected.notes.begin(),
                                       corrected.notes.end());
    }
    for (const calibration::CalibratedTensor &tensor : outcome.tensors) {
        if (!tensor.threshold.note.empty())
            outcome.quantized.notes.push_back(tensor.name + ": " + tensor.threshold.note);
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace

Result<QuantizeOutcome> quantizeModel(const graph::Model &model, const std::string &modelPath,
                                      const QuantizeSettings &settings, const Progress &progress)
{
    HALFTONE_TRY(const std::optional<rewrite::Rewritten> wide, widened(model, progress));
    if (!wide)
        return quantizeWide(model, modelPath, settings, progress);
    QuantizeSettings moved = settings;
    moved.options.refusals = movedTo(wide->model.graph, model.graph, settings.options.refusals);
    moved.calibrate.examples.widens = true;
    HALFTONE_TRY(QuantizeOutcome outcome, quantizeWide(wide->model, modelPath, moved, progress));
    outcome.quantized.notes.insert(outcome.quantized.notes.begin(), wide->notes.begin(), wide->notes.end());
    return outcome;
}

Result<graph::Model> quantizedForProfile(const graph::Model &model, const infer::KnownShapes &inputs,
                                         const std::string &table, unsigned threads, const Progress &progress)
{
    HALFTONE_TRY(const quantize::QuantizeOptions options, withPositionsHeld(model, {}));
    quantize::QuantizedRanges ranges;
    quantize::PlannedQuantization planned;
    if (!table.empty()) {
        HALFTONE_TRY(ranges, rangesInTable(table, model.graph));
    } else {
        HALFTONE_TRY(planned, quantize::planQuantization(model, options));
        std::vector<std::string> names;
        for (const quantize::ObservedTensor &tensor : planned.observed)
            names.push_back(tensor.source);
        HALFTONE_TRY(ranges, rangesOnRandomValues(model, names, inputs, threads, progress));
    }
    HALFTONE_TRY(quantize::QuantizedModel quantized,
                 quantize::quantize(model, options, ranges, {planned.plan.get()}));
    return std::move(quantized.model);
}

} // namespace halftone::walks
