#pragma once

#include "core/policy/threshold_choice.h"

#include <array>

class QComboBox;

namespace halftone::widgets {

/// In the order in which they are offered.
inline constexpr std::array kThresholdMethods{
    policy::ThresholdMethod::MinMax, policy::ThresholdMethod::Entropy, policy::ThresholdMethod::Percentile,
    policy::ThresholdMethod::Mse};

void addMethods(QComboBox &box); ///< a row each, with its explanation as a tool tip

} // namespace halftone::widgets
