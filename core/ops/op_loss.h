#pragma once

#include <cstdint>

/// Losses of speech and of margins (those of classification and regression are in op_reduce.h).
namespace halftone::ops {

/// Connectionist temporal classification. Inputs: activations (T, N, classes), labels (N, L)[, data lengths (N)][, label
/// lengths (N)]. Outputs: losses (N), and the gradient as scratch.
struct CtcLoss
{
    bool useDataLengths = false;
    bool useLabelLengths = false;
    bool blankLast = false; ///< the last class is blank, otherwise the first

    bool operator==(const CtcLoss &) const = default;
};

/// Passes data on; its gradient is that of a support vector machine. Inputs: data, labels (data's shape without the last
/// axis).
struct SvmOutput
{
    double margin = 1;
    double regularisation = 1;
    bool linear = false;

    bool operator==(const SvmOutput &) const = default;
};

/// Passes data on; its gradient pulls the mean activation to a target. Inputs: data, moving average (features).
struct SparsityPenalty
{
    double target = 0.1;
    double penalty = 0.001;
    double momentum = 0.9;

    bool operator==(const SparsityPenalty &) const = default;
};

} // namespace halftone::ops
