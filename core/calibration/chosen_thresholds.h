#pragma once

#include "core/calibration/calibrated.h"
#include "core/policy/policy.h"
#include "core/policy/threshold_choice.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace halftone::calibration {

/// What a policy says of one tensor: its own choice, else the policy's method, else what is best at the layers' outputs (mse where that is
/// not known). Parameters are always scaled by their largest
/// magnitude.
policy::ThresholdChoice choiceFor(const policy::Policy &policy, const CalibratedTensor &tensor);

/// The threshold of a choice, from the statistics, with the type of codes that the tensor was calibrated for. One that was set
/// by hand keeps no ends: its range is 0..t or -t..t.
Threshold thresholdBy(const policy::ThresholdChoice &choice, const CalibratedTensor &tensor,
                      const std::stop_token &stop = {});

struct ChosenThreshold
{
    policy::ThresholdChoice choice;
    Threshold threshold;
    double clipped = 0; ///< share of the finite values beyond it
    /// SQNR in dB of the method that is best at the layers' outputs, else of mse: what moving the threshold can reach. Nothing for
    /// parameters, whose threshold is not moved, and zeros.
    std::optional<double> reachableDb{};
};

/// Of every tensor, in the same order. before: what an earlier policy chose of the same tensors, or empty; what is chosen as
/// before is taken over. Null when stopped.
std::shared_ptr<const std::vector<ChosenThreshold>>
chosenThresholds(std::span<const CalibratedTensor> tensors, const policy::Policy &policy,
                 std::span<const ChosenThreshold> before = {}, const std::stop_token &stop = {});

} // namespace halftone::calibration
