#pragma once

#include "halftone/calibrate.h"
#include "halftone/convert.h"

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::api {

/// The family of MXNet's int8 operators to write.
enum class QuantizedForm : std::uint8_t
{
    Fused, ///< fused operators of the oneDNN backend
    Plain, ///< one int8 operator per operator
};

struct QuantizeOptions
{
    QuantizedForm form = QuantizedForm::Fused;
    Codes codes = Codes::Auto;
    bool full
        = false; ///< quantize every supported operator; otherwise convolutions, fully connected layers and operators between two of these
    bool perChannel
        = false; ///< scales of fully connected weights per channel; fused convolutions always use one per channel
    std::vector<std::string> excluded; ///< nodes that stay in float32
    std::vector<std::string> excludedOperators;
    std::vector<std::string> onlyOperators; ///< empty: all operators with an int8 form
};

struct SkippedNode
{
    std::string name;
    std::string op;
    std::string why;
};

struct Quantization
{
    Model model; ///< ready to run and save
    std::vector<std::string> quantized; ///< nodes
    std::vector<SkippedNode> skipped;
    std::vector<Warning> warnings;
    std::vector<std::string> notes;
};

/// Quantizes a model to int8, as MXNet 1.9.1's quantization does, with ranges from a calibration. The range of a tensor that is missing
/// there is determined at run time, with a note.
/// fails: BadInput for a model without parameters; BadCall for an unknown name in an exclusion; Cancelled
Result<Quantization> quantize(const Model &model, const Calibration &calibration,
                              const QuantizeOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
