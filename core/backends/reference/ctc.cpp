#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace halftone::backends::reference {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(eᵃ + eᵇ).
double logSum(double a, double b)
{
    const double larger = std::max(a, b);
    return larger == kNever ? kNever : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// Minus the logarithm of the chance of a label under chances of T steps (A. Graves et al., Connectionist Temporal
/// Classification, 2006, section 4.1): alpha over the label with blanks around and between its classes.
template <class LogChance>
double ctcLoss(const std::vector<std::size_t> &label, std::size_t blank, std::size_t steps,
               const LogChance &logChance)
{
    const std::size_t states = 2 * label.size() + 1;
    const auto classOf = [&](std::size_t state) { return state % 2 == 0 ? blank : label[state / 2]; };
    std::vector<double> alpha(states, kNever);
    alpha[0] = 0; // before the first step: it enters state 0, and from there state 1
    for (std::size_t t = 0; t < steps; ++t) {
        for (std::size_t s = states; s-- > 0;) { // downwards: what stands before s is still the last step's
            double reach = alpha[s];
            if (s > 0)
                reach = logSum(reach, alpha[s - 1]);
            if (s > 1 && s % 2 == 1 && classOf(s) != classOf(s - 2))
                reach = logSum(reach, alpha[s - 2]);
            alpha[s] = reach == kNever ? kNever : reach + logChance(t, classOf(s));
        }
    }
    return -(states > 1 ? logSum(alpha[states - 1], alpha[states - 2]) : alpha[0]);
}

/// How many of at most `most`; not below 0.
template <class Real>
std::size_t lengthOf(Real given, std::size_t most)
{
    return given > 0 ? static_cast<std::size_t>(std::min(given, static_cast<Real>(most))) : 0;
}

} // namespace

template <class Real>
Result<void> compute(const ops::CtcLoss &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto batch = static_cast<std::size_t>(dims[1]);
    const auto classes = static_cast<std::size_t>(dims[2]);
    const auto longest = static_cast<std::size_t>(arrays.inDims(1)[1]);
    if (classes == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "one class or more");
    if (arrays.out.size() > 1 && arrays.out[1]) // the gradient, for training
        std::fill_n(arrays.out[1], arrays.outCount(1), Real(0));
    const std::size_t blank = op.blankLast ? classes - 1 : 0;
    const Real padding = op.blankLast ? Real(-1) : Real(0);
    for (std::size_t n = 0; n < batch; ++n) {
        const std::size_t steps = op.useDataLengths
            ? lengthOf(arrays.in[2][n], static_cast<std::size_t>(dims[0]))
            : static_cast<std::size_t>(dims[0]);
        const Real *given = arrays.in[1] + n * longest;
        const std::size_t length = op.useLabelLengths
            ? lengthOf(arrays.in[op.useDataLengths ? 3 : 2][n], longest)
            : static_cast<std::size_t>(std::find(given, given + longest, padding) - given);
        std::vector<std::size_t> label;
        for (std::size_t i = 0; i < length; ++i) {
            if (!(given[i] >= 0 && given[i] < static_cast<Real>(classes)))
                return badInput("input 1", "a label that is not a class",
                                "0 to " + std::to_string(classes) + " - 1");
            label.push_back(static_cast<std::size_t>(given[i]));
        }
        std::vector<double> logTotals(steps);
        const auto activations = [&](std::size_t t) { return arrays.in[0] + (t * batch + n) * classes; };
        for (std::size_t t = 0; t < steps; ++t) {
            double total = kNever;
            for (std::size_t c = 0; c < classes; ++c)
                total = logSum(total, static_cast<double>(activations(t)[c]));
            logTotals[t] = total;
        }
        arrays.out[0][n] = static_cast<Real>(ctcLoss(label, blank, steps, [&](std::size_t t, std::size_t c) {
            return static_cast<double>(activations(t)[c]) - logTotals[t];
        }));
    }
    return {};
}

HALFTONE_BOTH(CtcLoss)

} // namespace halftone::backends::reference
