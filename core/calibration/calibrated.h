#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/thresholds.h"
#include "core/io/arrays/npz.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::calibration {

/// Statistics of a tensor of a model.
struct CalibratedTensor
{
    std::string name; ///< as MXNet lists it: an input's or parameter's own name, else "<node>_output"
    std::string node;
    std::string op; ///< as its format calls it, also where it is a variable
    bool isParameter = false;
    TensorStatistics statistics;
    /// Of weights of convolutions and fully connected layers, one an output channel; else empty.
    std::vector<ChannelRange> channels{};
    Threshold threshold{};
    /// Mse, or minmax where that costs clearly less at the outputs of the layers that read the tensor; nothing where that was not measured.
    std::optional<ThresholdMethod> atOutputs{};
};

/// The range that a symbol is given for a tensor: all values where nothing is clipped, else 0..t or -t..t.
ChannelRange calibratedRange(const TensorStatistics &statistics, const Threshold &threshold);

/// SQNR in dB of int8 codes with one scale an output channel, from the channels' ranges: the error of a code is taken to be even within
/// its step, and channels to be of one size. Nothing without channels, or where all values are zero.
std::optional<double> channelSqnrDb(const CalibratedTensor &tensor);

/// A bare array and its threshold.
struct CalibratedArray
{
    std::string name;
    TensorStatistics statistics;
    Threshold threshold;
};

/// Statistics and threshold of every array of floating point. `batches`, if not empty: only of the arrays of that name and a number from
/// 0 on, which are batches of one array of that name.
/// fails: BadInput when there is no such array (where = its name); Cancelled
Result<std::vector<CalibratedArray>> calibrateArrays(std::span<const io::NamedTensor> arrays,
                                                     const std::string &batches,
                                                     const ThresholdOptions &options,
                                                     const Progress &progress = {});

} // namespace halftone::calibration
