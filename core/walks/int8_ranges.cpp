#include "core/walks/int8_ranges.h"

#include "core/base/progress_part.h"
#include "core/calibration/chosen_thresholds.h"
#include "core/quantize/pairs.h"
#include "core/walks/quantize.h"

#include <algorithm>

namespace halftone::walks {
namespace {

using calibration::CalibratedTensor;
using calibration::CodeType;
using calibration::Threshold;

quantize::QuantizedRange rangeOf(const CalibratedTensor &tensor, const Threshold &threshold)
{
    const calibration::ChannelRange range = calibration::calibratedRange(tensor.statistics, threshold);
    return {range.min, range.max};
}

/// The threshold of a choice for codes of type auto, whatever type the tensor was calibrated for.
Threshold chosenFor(const policy::ThresholdChoice &choice, const CalibratedTensor &tensor,
                    const std::stop_token &stop)
{
    const calibration::CodeRange codes = calibration::codeRangeOf(tensor.statistics, CodeType::Auto);
    if (tensor.threshold.range == codes)
        return thresholdBy(choice, tensor, stop);
    if (!choice.value)
        return calibration::chooseThreshold(tensor.statistics, {choice.method, CodeType::Auto}, stop);
    Threshold threshold = thresholdBy(choice, tensor, stop);
    threshold.range = codes;
    return threshold;
}

} // namespace

bool asksForInt8(const policy::Policy &policy)
{
    return (policy.int8Ops && !policy.int8Ops->empty())
        || std::ranges::any_of(policy.nodeOverrides,
                               [](const auto &one) { return one.second == tensor::DType::I8; });
}

bool isMeantAsBatches(const graph::Graph &graph, calibration::ThresholdMethod method)
{
    return method == calibration::ThresholdMethod::Entropy && !quantize::isInPairs(graph);
}

RangeCache::RangeCache(std::shared_ptr<const CalibrateOutcome> calibration)
    : m_calibration(std::move(calibration))
{
    for (std::size_t k = 0; k < m_calibration->tensors.size(); ++k)
        m_index.emplace(m_calibration->tensors[k].name, k);
}

Result<quantize::QuantizedRanges> RangeCache::ranges(const std::vector<std::string> &names,
                                                     const policy::Policy &policy, const Progress &progress)
{
    quantize::QuantizedRanges ranges;
    for (std::size_t done = 0; done < names.size(); ++done) {
        HALFTONE_CHECK(progress.checkStop());
        progress.tell(static_cast<double>(done) / static_cast<double>(names.size()), "choosing thresholds");
        const auto found = m_index.find(names[done]);
        if (found == m_index.end())
            continue;
        const CalibratedTensor &tensor = m_calibration->tensors[found->second];
        const policy::ThresholdChoice choice = choiceFor(policy, tensor);
        if (choice.value) {
            ranges[tensor.name] = rangeOf(tensor, chosenFor(choice, tensor, progress.stop));
            continue;
        }
        const Key key{found->second, choice.method};
        {
            const std::lock_guard lock(m_mutex);
            if (const auto known = m_chosen.find(key); known != m_chosen.end()) {
                ranges[tensor.name] = rangeOf(tensor, known->second);
                continue;
            }
        }
        Threshold threshold = chosenFor(choice, tensor, progress.stop);
        HALFTONE_CHECK(progress.checkStop()); // a search that was broken off has found nothing
        ranges[tensor.name] = rangeOf(tensor, threshold);
        const std::lock_guard lock(m_mutex);
        m_chosen.insert_or_assign(key, std::move(threshold));
    }
    return ranges;
}

quantize::QuantizedRanges RangeCache::roughRanges(const std::vector<std::string> &names) const
{
    quantize::QuantizedRanges ranges;
    for (const std::string &name : names) {
        const auto found = m_index.find(name);
        if (found == m_index.end())
            continue;
        const calibration::TensorStatistics &statistics = m_calibration->tensors[found->second].statistics;
        ranges[name] = {static_cast<float>(statistics.min), static_cast<float>(statistics.max)};
    }
    return ranges;
}

namespace {

/// From statistics that are collected now.
Result<quantize::QuantizedRanges> rangesOnExamples(const graph::Model &model, const std::string &modelPath,
                                                   const policy::Policy &policy, const RangeSource &source,
                                                   std::vector<std::string> names, const Progress &progress)
{
    CalibrateOptions options = source.calibrate;
    options.threshold.codes = CodeType::Auto;
    options.threshold.method = policy.thresholdMethod.value_or(policy::kDefaultThresholdMethod);
    options.weighsOutputs = !policy.thresholdMethod;
    options.rangesOnly = true;
    options.tensors = std::move(names);
    options.asBatches = isMeantAsBatches(model.graph, options.threshold.method);
    constexpr double kCollecting = 0.9; // share of the time
    HALFTONE_TRY(CalibrateOutcome outcome,
                 calibrateModel(model, modelPath, options, partOf(progress, 0, kCollecting)));
    RangeCache cache(std::make_shared<const CalibrateOutcome>(std::move(outcome)));
    // A percentile of the call's own is known to the calibration alone.
    quantize::QuantizedRanges ranges;
    std::vector<std::string> own;
    for (const CalibratedTensor &tensor : cache.calibration()->tensors) {
        if (policy.thresholds.contains(tensor.name))
            own.push_back(tensor.name);
        else
            ranges[tensor.name] = rangeOf(tensor, tensor.threshold);
    }
    HALFTONE_TRY(quantize::QuantizedRanges chosen,
                 cache.ranges(own, policy, partOf(progress, kCollecting, 1 - kCollecting)));
    ranges.merge(chosen);
    if (quantize::isInPairs(model.graph))
        cutToValues(cache.calibration()->tensors, ranges);
    return ranges;
}

} // namespace

Result<quantize::QuantizedRanges> rangesFor(const graph::Model &model, const std::string &modelPath,
                                            const policy::Policy &policy, mixed::Decided &decided,
                                            const RangeSource &source, const Progress &progress)
{
    const quantize::QuantizedRanges none;
    if (!asksForInt8(policy))
        return none;
    if (!source.calibrated && !source.table.empty())
        return rangesInTable(source.table, model.graph);
    const bool hasData = !source.calibrate.examples.inputs.empty();
    if (!source.calibrated && !hasData && source.randomInputs == nullptr)
        return none;
    HALFTONE_TRY(std::vector<std::string> names, mixed::rangesToFind(model, decided));
    if (names.empty())
        return none;
    if (source.calibrated && source.isRough)
        return source.calibrated->roughRanges(names);
    if (source.calibrated) {
        HALFTONE_TRY(quantize::QuantizedRanges ranges, source.calibrated->ranges(names, policy, progress));
        if (quantize::isInPairs(model.graph))
            cutToValues(source.calibrated->calibration()->tensors, ranges);
        return ranges;
    }
    if (!hasData)
        return rangesOnRandomValues(model, names, *source.randomInputs, source.calibrate.threads, progress);
    return rangesOnExamples(model, modelPath, policy, source, std::move(names), progress);
}

} // namespace halftone::walks
