#include "core/calibration/chosen_thresholds.h"

#include "core/base/share_work.h"

namespace halftone::calibration {

namespace {

std::optional<double> reachableDb(const CalibratedTensor &tensor, const std::stop_token &stop)
{
    if (tensor.isParameter || tensor.statistics.absMax == 0)
        return std::nullopt;
    const ThresholdMethod best = tensor.atOutputs.value_or(ThresholdMethod::Mse);
    return thresholdBy({best, std::nullopt}, tensor, stop).sqnrDb;
}

} // namespace

policy::ThresholdChoice choiceFor(const policy::Policy &policy, const CalibratedTensor &tensor)
{
    if (tensor.isParameter)
        return {ThresholdMethod::MinMax, std::nullopt};
    if (const auto own = policy.thresholds.find(tensor.name); own != policy.thresholds.end())
        return own->second;
    return {policy.thresholdMethod.value_or(tensor.atOutputs.value_or(policy::kDefaultThresholdMethod)),
            std::nullopt};
}

Threshold thresholdBy(const policy::ThresholdChoice &choice, const CalibratedTensor &tensor,
                      const std::stop_token &stop)
{
    const Threshold &calibrated = tensor.threshold;
    if (choice.value) {
        Threshold threshold = calibrated;
        threshold.value = *choice.value;
        threshold.keepsEnds = false;
        threshold.divergence.reset();
        threshold.errorBound = 0;
        threshold.note.clear();
        threshold.sqnrDb = sqnrFromHistogram(tensor.statistics, threshold.value, threshold.range);
        return threshold;
    }
    // What it fell back to would say so; percentiles may have been other ones.
    if (choice.method == calibrated.method && choice.method != ThresholdMethod::Percentile
        && calibrated.note.empty())
        return calibrated;
    ThresholdOptions options;
    options.method = choice.method;
    options.codes = calibrated.range == CodeRange::OneSided ? CodeType::Auto : CodeType::Int8;
    return chooseThreshold(tensor.statistics, options, stop);
}

std::shared_ptr<const std::vector<ChosenThreshold>>
chosenThresholds(std::span<const CalibratedTensor> tensors, const policy::Policy &policy,
                 std::span<const ChosenThreshold> before, const std::stop_token &stop)
{
    auto chosen = std::make_shared<std::vector<ChosenThreshold>>(tensors.size());
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        (*chosen)[k].choice = choiceFor(policy, tensors[k]);
        if (k < before.size() && before[k].choice == (*chosen)[k].choice)
            (*chosen)[k] = before[k];
        else
            left.push_back(k);
    }
    const auto choose = [&](std::size_t part, unsigned) {
        const std::size_t k = left[part];
        ChosenThreshold &one = (*chosen)[k];
        one.threshold = thresholdBy(one.choice, tensors[k], stop);
        one.clipped = clippedShare(tensors[k].statistics, one.threshold.value);
        one.reachableDb = k < before.size() ? before[k].reachableDb : reachableDb(tensors[k], stop);
        return !stop.stop_requested();
    };
    shareParts(machineThreads(), left.size(), choose);
    return stop.stop_requested() ? nullptr : chosen;
}

} // namespace halftone::calibration
