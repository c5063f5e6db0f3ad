#pragma once

#include "core/calibration/threshold_study.h"
#include "core/policy/threshold_choice.h"

#include <QString>

/// How thresholds are called wherever they are shown.
namespace halftone::widgets {

QString methodText(policy::ThresholdMethod method); ///< "minmax", "entropy", "percentile", "mse"
QString markText(const calibration::ThresholdMark &mark); ///< the same, percentiles as "p99.9"
QString shareText(double share); ///< "0.12 %", "none"
QString clippedText(double share); ///< "0.12 % clipped", "nothing clipped"
/// "0.12 % clipped · KL 0.0123 · 34.5 dB"; with minmax's SQNR beside, if it is given.
QString figuresText(const calibration::ThresholdFigures &figures, const std::optional<double> &minMaxDb = {});

} // namespace halftone::widgets
