#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/collector.h"
#include "core/io/npz.h"

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
    std::string op; ///< "null" for inputs and parameters
    bool isParameter = false;
    TensorStatistics statistics;
    /// Of weights of convolutions and fully connected layers, one an output channel; else empty.
    std::vector<ChannelRange> channels;
};

/// Types of int8 codes that a range may be meant for.
enum class CodeType
{
    Int8,
    Uint8,
    Auto ///< uint8 where no value is negative
};

/// A bare array, and what int8 with a range from its smallest to its largest value loses.
struct CalibratedArray
{
    std::string name;
    TensorStatistics statistics;
    double threshold = 0; ///< the largest |x|
    std::optional<double> sqnrDb; ///< at the threshold; nothing for zeros
    std::string note; ///< what a person should know; may be empty
};

/// Statistics of every array of floating point. `batches`, if not empty: only of the arrays of that name and a number from
/// 0 on, which are batches of one array of that name.
/// fails: BadInput when there is no such array (where = its name); Cancelled
Result<std::vector<CalibratedArray>> calibrateArrays(std::span<const io::NamedTensor> arrays,
                                                     const std::string &batches, CodeType codes,
                                                     const Progress &progress = {});

} // namespace halftone::calibration
