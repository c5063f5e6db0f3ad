#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>

/// Operators that divide by a statistic of their input.
namespace halftone::ops {

/// Inputs: data, gamma, beta, moving mean, moving variance (the last two are written in training). Outputs:
/// data, [mean, 1 / deviation].
struct BatchNormalization
{
    std::int64_t axis = 1; ///< of the channels; negative counts from the end
    double epsilon = 1e-3;
    double momentum = 0.9;
    bool fixGamma = true; ///< gamma counts as 1
    bool useGlobalStats = false;
    bool outputStatistics = false;

    bool operator==(const BatchNormalization &) const = default;
};

/// Over all axes from one on. Inputs: data, gamma[, beta], which stretch to these axes. Outputs: data, [mean, 1 / deviation].
struct LayerNormalization
{
    std::int64_t axis = -1;
    double epsilon = 1e-5;
    bool hasBeta = true;
    bool centred = true; ///< otherwise nothing is subtracted: divided by the root of the mean square
    /// Over that axis alone, along which gamma and beta are vectors; the deviation itself is the third output.
    bool oneAxis = false;
    bool outputStatistics = false; ///< oneAxis: they are there to be read

    bool operator==(const LayerNormalization &) const = default;
};

/// Over groups of channels and all spatial axes. Inputs: data, gamma, beta (one value a group, or a channel). Outputs:
/// data, [mean, deviation].
struct GroupNormalization
{
    std::int64_t groups = 1;
    double epsilon = 1e-5;
    bool perChannel = false; ///< gamma and beta
    bool outputStatistics = false;

    bool operator==(const GroupNormalization &) const = default;
};

/// Over the spatial axes. Inputs: data (N, C, …), gamma, beta (C).
struct InstanceNormalization
{
    double epsilon = 1e-3;

    bool operator==(const InstanceNormalization &) const = default;
};

/// Division by a norm. Outputs: data, [norms].
struct LpNormalization
{
    std::int64_t axis = -1;
    std::int64_t p = 2; ///< 1 or 2
    bool toEnd = false; ///< over the axis, counted from the front, and all behind it together
    /// Added to the sum under the root. Nothing: it is not, and elements whose norm is 0 become 0.
    std::optional<double> epsilon{};
    std::int64_t leastRank = 1; ///< of the data

    bool operator==(const LpNormalization &) const = default;
};

/// Batch normalisation by the batch's own statistics. Inputs: as BatchNormalization. Outputs: data, [moving mean, moving variance],
/// momentum · old + (1 - momentum) · the batch's.
struct BatchNormTraining
{
    double epsilon = 1e-5;
    double momentum = 0.9;

    bool operator==(const BatchNormTraining &) const = default;
};

/// (x - mean) / (deviation + 1e-9) over some axes.
struct MeanVarianceNormalization
{
    Dims axes{};

    bool operator==(const MeanVarianceNormalization &) const = default;
};

/// Local response normalisation across `size` neighbouring channels: x / (k + alpha / size · Σ x²)^beta.
struct LRN
{
    std::int64_t size = 1;
    double alpha = 1e-4;
    double beta = 0.75;
    double k = 2;

    bool operator==(const LRN &) const = default;
};

} // namespace halftone::ops
