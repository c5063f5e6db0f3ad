#pragma once

#include "core/tune/surrogate.h"

#include <optional>
#include <span>
#include <vector>

namespace halftone::tune {

/// A network that was measured, as far as a limit is concerned.
struct Trial
{
    Labels labels;
    double error = 0; ///< Σd² / Σr² at the outputs; infinite for one that overflows
    bool holds = false; ///< it meets the limit
};

/// By group: how many times more its errors weigh among others than alone. Each measured network corrects the groups that it lowers,
/// those most that its sum consists of (multiplicative updates; Kivinen and Warmuth, "Exponentiated gradient versus gradient descent for
/// linear predictors", 1997).
/// kappa  what all groups begin with
std::vector<double> correctedWeights(const Surrogate &surrogate, double kappa, std::span<const Trial> trials);

/// What to measure next: the fastest labels that are predicted to lose no more than `allowed`, among those that steps lead to from
/// what was measured (a group changes, a run of neighbours does, two exchange labels, one is widened to make room for others), and that
/// are predicted to be faster than all that hold. Where nothing is, up to 6 dB more are tried: predictions err on both sides.
/// Nothing: no step leads further. The same trials give the same labels.
/// allowed  Σd² / Σr²
std::optional<Labels> nextTrial(const Surrogate &surrogate, double kappa, std::span<const Trial> trials,
                                double allowed);

} // namespace halftone::tune
