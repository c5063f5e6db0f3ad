#include "core/session/quantize.h"

#include "core/base/mapped_file.h"
#include "core/dialect/mxnet/entry_name.h"
#include "core/report/calibration_json.h"
#include "core/runtime/backends.h"
#include "core/runtime/buffer.h"
#include "core/runtime/shown_outputs.h"
#include "core/session/feature_means.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <unordered_set>
#include <utility>

namespace halftone::session {
namespace {

calibration::CodeType codeTypeOf(passes::QuantizedCodes codes)
{
    return codes == passes::QuantizedCodes::Int8 ? calibration::CodeType::Int8
        : codes == passes::QuantizedCodes::UInt8 ? calibration::CodeType::Uint8
                                                 : calibration::CodeType::Auto;
}

/// Uniform in [-1, 1), the same in every process.
Result<tensor::Tensor> randomValues(const tensor::Shape &shape)
{
    HALFTONE_TRY(const runtime::Buffer buffer, runtime::allocate({tensor::DType::F32, shape}));
    std::mt19937 engine(1);
    constexpr float kScale = 1.0F / (1U << 31);
    for (std::size_t i = 0; i < buffer.tensor.elementCount(); ++i) {
        const float value = static_cast<float>(engine()) * kScale - 1;
        std::memcpy(buffer.bytes + i * sizeof value, &value, sizeof value);
    }
    return buffer.tensor;
}

} // namespace

Result<passes::QuantizedRanges> rangesInTable(const std::string &path)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    auto read = report::readCalibrationTable(mapped->text());
    if (!read.ok())
        return inFile(std::move(read).error(), path);
    passes::QuantizedRanges ranges;
    for (const report::NamedRange &range : read.value())
        ranges[range.name] = {range.low, range.high};
    return ranges;
}

Result<passes::QuantizedRanges>
rangesOnRandomValues(const graph::Model &model, const std::vector<std::string> &names,
                     const std::unordered_map<std::string, tensor::Shape> &inputs, unsigned threads,
                     const Progress &progress)
{
    const std::unordered_set<std::string> wanted(names.begin(), names.end());
    HALFTONE_TRY(const runtime::BackendChain backends, runtime::backendChain("cpu", threads));
    HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(model, backends));
    passes::QuantizedRanges ranges;
    const auto take = [&](const std::string &name, const tensor::Tensor &value) {
        if (!wanted.contains(name) || value.dtype() != tensor::DType::F32 || value.elementCount() == 0)
            return;
        const std::vector<float> values = value.values<float>();
        const auto [low, high] = std::ranges::minmax_element(values);
        ranges[name] = {*low, *high};
    };
    runtime::Feed feed;
    for (const std::string &name : interpreter.inputs()) {
        const auto shape = inputs.find(name);
        if (shape == inputs.end() || !shape->second.isComplete())
            return badInput(name, "its shape is not known", "--shape for every input");
        HALFTONE_TRY(feed[name], randomValues(shape->second));
        take(name, feed[name]);
    }
    const std::vector<std::size_t> shown = runtime::shownOutputs(model.graph);
    runtime::RunOptions run;
    run.progress = progress;
    run.tap = [&](const runtime::NodeValue &value) -> Result<void> {
        for (std::uint32_t k = 0; k < std::min(shown[value.node], value.outputs.size()); ++k)
            take(dialect::mxnet::entryName(model.graph, {value.node, k, 0}), value.outputs[k]);
        return {};
    };
    const auto heads = interpreter.run(feed, run);
    if (!heads.ok())
        return heads.error();
    return ranges;
}

Result<QuantizeOutcome> quantizeModel(const graph::Model &model, const std::string &symbolPath,
                                      const QuantizeSettings &settings, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    QuantizeOutcome outcome;
    passes::QuantizedRanges ranges;
    if (settings.options.isCalibrated && !settings.table.empty()) {
        HALFTONE_TRY(ranges, rangesInTable(settings.table));
    } else if (settings.options.isCalibrated) {
        HALFTONE_TRY(const std::vector<passes::ObservedTensor> observed,
                     passes::tensorsToObserve(model, settings.options));
        CalibrateOptions calibrate = settings.calibrate;
        calibrate.threshold.codes = codeTypeOf(settings.options.codes);
        calibrate.rangesOnly = true;
        for (const passes::ObservedTensor &tensor : observed)
            calibrate.tensors.push_back(tensor.source);
        if (!calibrate.tensors.empty()) {
            HALFTONE_TRY(CalibrateOutcome calibrated, calibrateModel(model, symbolPath, calibrate, progress));
            outcome.tensors = std::move(calibrated.tensors);
            outcome.examples = calibrated.examples;
        }
        for (const calibration::CalibratedTensor &tensor : outcome.tensors) {
            const auto range = calibration::calibratedRange(tensor.statistics, tensor.threshold);
            ranges[tensor.name] = {range.min, range.max};
        }
    }
    HALFTONE_TRY(outcome.quantized, passes::quantize(model, settings.options, ranges));
    if (settings.correctsBiases) {
        const auto products = passes::int8Products(model.graph, outcome.quantized.model.graph);
        HALFTONE_TRY(const auto means,
                     featureMeans(model, symbolPath, products, ranges, settings.options.codes,
                                  settings.calibrate, progress));
        HALFTONE_TRY(const passes::CorrectedBiases corrected, passes::correctBiases(model, products, means));
        HALFTONE_TRY(outcome.quantized, passes::quantize(corrected.model, settings.options, ranges));
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

Result<graph::Model> quantizedForProfile(const graph::Model &model,
                                         const std::unordered_map<std::string, tensor::Shape> &inputs,
                                         const std::string &table, unsigned threads, const Progress &progress)
{
    const passes::QuantizeOptions options;
    passes::QuantizedRanges ranges;
    if (!table.empty()) {
        HALFTONE_TRY(ranges, rangesInTable(table));
    } else {
        HALFTONE_TRY(const std::vector<passes::ObservedTensor> observed,
                     passes::tensorsToObserve(model, options));
        std::vector<std::string> names;
        for (const passes::ObservedTensor &tensor : observed)
            names.push_back(tensor.source);
        HALFTONE_TRY(ranges, rangesOnRandomValues(model, names, inputs, threads, progress));
    }
    HALFTONE_TRY(passes::QuantizedModel quantized, passes::quantize(model, options, ranges));
    return std::move(quantized.model);
}

} // namespace halftone::session
