#include "halftone/quantize.h"

#include "core/api/inside.h"
#include "core/dialect/dialect.h"
#include "core/machines/local_chips.h"
#include "core/mixed/chip_warnings.h"
#include "core/mixed/restrict_to_hardware.h"
#include "core/policy/policy_options.h"
#include "core/quantize/pairs.h"
#include "core/quantize/quantize.h"
#include "core/results/quantization_json.h"
#include "core/results/weights_json.h"
#include "core/walks/gptq_weights.h"
#include "core/walks/quantize.h"
#include "core/weights/lower_weights.h"

#include <array>
#include <chrono>
#include <iterator>
#include <utility>

namespace halftone::api {
namespace {

std::string_view nameOf(QuantizedForm form)
{
    switch (form) {
    case QuantizedForm::QOperator:
        return "qoperator";
    case QuantizedForm::Fused:
        return "onednn";
    case QuantizedForm::Plain:
        return "plain";
    case QuantizedForm::Qdq:
        break;
    }
    return "qdq";
}

/// fails: BadCall for one that the format does not have
halftone::Result<QuantizedForm> formOf(const QuantizeOptions &asked, const graph::Graph &graph)
{
    const bool inPairs = quantize::isInPairs(graph);
    const QuantizedForm form = asked.form.value_or(inPairs ? QuantizedForm::Qdq : QuantizedForm::Fused);
    const bool isOfPairs = form == QuantizedForm::Qdq || form == QuantizedForm::QOperator;
    if (isOfPairs != inPairs)
        return badCall("form",
                       std::string(nameOf(form)) + " is not available for "
                           + std::string(dialect::of(graph).title()) + " models",
                       inPairs ? "qdq or qoperator" : "onednn or plain");
    if (inPairs && asked.isNeutral)
        return badCall("levels",
                       "not available for form " + std::string(nameOf(form))
                           + ": its codes always end at 127 and 255",
                       "; leave it out");
    return form;
}

void setOptions(const QuantizeOptions &asked, QuantizedForm form, quantize::QuantizeOptions &options)
{
    const bool inPairs = form == QuantizedForm::Qdq || form == QuantizedForm::QOperator;
    options.form
        = form == QuantizedForm::Plain ? quantize::QuantizedForm::Plain : quantize::QuantizedForm::Onednn;
    options.asOperators = form == QuantizedForm::QOperator;
    options.codes = asked.codes == Codes::Int8 ? quantize::QuantizedCodes::Int8
        : asked.codes == Codes::UInt8          ? quantize::QuantizedCodes::UInt8
                                               : quantize::QuantizedCodes::Auto;
    options.isFull = asked.full;
    options.isNeutral = asked.isNeutral;
    options.perChannel = asked.perChannel.value_or(inPairs);
    options.excludedNames = asked.excluded;
    options.excludedOps = asked.excludedOperators;
    options.quantizedOps = asked.onlyOperators;
}

/// What the chip has no unit for stays as it is.
halftone::Result<void> setHardware(const std::string &name, const graph::Graph &graph,
                                   quantize::QuantizeOptions &options, std::vector<policy::Warning> &warnings)
{
    if (name.empty())
        return {};
    HALFTONE_TRY(const auto chip, machines::findChip(name));
    options.refusals = mixed::refusalsOfCodes(graph, *chip);
    if (auto slow = mixed::slowPathWarning(*chip, tensor::DType::I8))
        warnings.push_back(*std::move(slow));
    return {};
}

halftone::Result<Quantization> quantizationOf(const Model &source, const walks::QuantizeOutcome &outcome,
                                              const results::QuantizationSettings &told)
{
    const quantize::QuantizedModel &made = outcome.quantized;
    HALFTONE_TRY(Model quantized, Inside::modelFrom(source, made.model));
    std::vector<SkippedNode> skipped;
    for (const quantize::SkippedNode &node : made.skipped)
        skipped.push_back({node.name, node.op, node.why});
    return Quantization{std::move(quantized),
                        made.quantized,
                        std::move(skipped),
                        warningsOf(made.warnings),
                        made.notes,
                        outcome.correctedBiases,
                        textOf(results::quantizationJson(outcome, told, {}))};
}

/// The ranges come from a calibration, or, where there is none, from what `asked` says.
halftone::Result<Quantization> quantized(const Model &model, const Calibration *calibration,
                                         const QuantizeOptions &asked, const halftone::Progress &progress)
{
    HALFTONE_CHECK(progress.checkStop());
    const graph::Model &source = Inside::graphModelOf(model);
    walks::QuantizeSettings settings;
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const QuantizedForm form, formOf(asked, source.graph));
    setOptions(asked, form, settings.options);
    HALFTONE_CHECK(setHardware(asked.hardware, source.graph, settings.options, warnings));
    HALFTONE_CHECK(setWork(settings.calibrate, asked.data, asked.compute));
    settings.table = asked.rangeTable;
    settings.correctsBiases = asked.correctBiases;
    const bool hasTable = calibration != nullptr || !asked.rangeTable.empty();
    settings.options.isCalibrated = hasTable || asked.data.isGiven();
    settings.calibrate.weighsOutputs = !asked.method;
    settings.calibrate.threshold.method = methodOf(asked.method.value_or(ThresholdMethod::Mse));
    settings.calibrate.threshold.percentile = asked.percentile;
    if (quantize::isInPairs(source.graph) && !settings.options.isCalibrated)
        return badCall("calib",
                       "form " + std::string(nameOf(form))
                           + " stores the ranges in the model and needs calibration data",
                       "; pass data, a table or a calibration");
    if (asked.correctBiases && !asked.data.isGiven())
        return badCall("correct_biases", "needs calibration data", "; pass data");
    if (calibration != nullptr)
        settings.calibration = Inside::of(*calibration).outcome;
    HALFTONE_TRY(walks::QuantizeOutcome outcome, Inside::sessionOf(model).quantize(settings, progress));
    std::ranges::move(warnings, std::back_inserter(outcome.quantized.warnings));
    const std::string calib = hasTable ? "table"
        : !asked.data.isGiven()        ? "none"
        : !asked.method                ? "output"
                        : std::string(calibration::nameOf(settings.calibrate.threshold.method));
    return quantizationOf(model, outcome,
                          {std::string(nameOf(form)), asked.hardware, calib == "minmax" ? "naive" : calib});
}

/// fails: BadCall for what concerns int8 operators alone
halftone::Result<void> checkWeightsAlone(const QuantizeOptions &asked)
{
    const std::array<std::pair<const char *, bool>, 6> others{{{"form", asked.form.has_value()},
                                                               {"table", !asked.rangeTable.empty()},
                                                               {"calib", asked.method.has_value()},
                                                               {"granularity", asked.perChannel.has_value()},
                                                               {"correct_biases", asked.correctBiases},
                                                               {"int8_op", !asked.onlyOperators.empty()}}};
    for (const auto &[setting, isGiven] : others)
        if (isGiven)
            return badCall(setting, "cannot be combined with weights",
                           "; quantize weights alone, or operators to int8");
    return {};
}

halftone::Result<Quantization> lowered(const Model &model, const QuantizeOptions &asked,
                                       const halftone::Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_CHECK(checkWeightsAlone(asked));
    policy::Policy policy;
    HALFTONE_CHECK(policy::addWeights(policy, {asked.weights, asked.weightMethod, asked.weightForm}));
    weights::WeightsRequest request = weights::weightsOf(policy);
    weights::keep(request, asked.excluded);
    weights::keep(request, asked.excludedOperators);
    walks::CalibrateOptions data;
    HALFTONE_CHECK(setWork(data, asked.data, asked.compute));
    const io::LoadedModel &source = Inside::sessionOf(model).source();
    HALFTONE_TRY(const weights::LoweredModel made,
                 walks::lowerWeights(source.model, source.modelPath, request, data, progress));
    HALFTONE_TRY(Model result, Inside::modelFrom(model, made.model));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    Quantization quantization{std::move(result),
                              {},
                              {},
                              {},
                              made.notes,
                              0,
                              textOf(results::loweredJson(made, {}, seconds.count()))};
    for (const weights::LoweredWeights &one : made.weights)
        quantization.quantized.push_back(one.node);
    for (const quantize::SkippedNode &node : made.skipped)
        quantization.skipped.push_back({node.name, node.op, node.why});
    return quantization;
}

} // namespace

Result<Quantization> quantize(const Model &model, const QuantizeOptions &options, const Progress &progress)
{
    return answer([&] {
        return options.weights.empty() ? quantized(model, nullptr, options, progressOf(progress))
                                       : lowered(model, options, progressOf(progress));
    });
}

Result<Quantization> quantize(const Model &model, const Calibration &calibration,
                              const QuantizeOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Quantization> {
        if (!options.weights.empty())
            return badCall("weights", "cannot be combined with a calibration", "; pass data");
        return quantized(model, &calibration, options, progressOf(progress));
    });
}

} // namespace halftone::api
