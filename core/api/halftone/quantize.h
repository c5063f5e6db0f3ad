#pragma once

#include "halftone/calibrate.h"
#include "halftone/convert.h"

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::api {

/// Which of MXNet's two families of int8 operators is written.
enum class QuantizedForm : std::uint8_t
{
    Fused, ///< of its oneDNN backend
    Plain, ///< one operator for one
};

struct QuantizeOptions
{
    QuantizedForm form = QuantizedForm::Fused;
    Codes codes = Codes::Auto;
    bool full
        = false; ///< all that can be; otherwise convolutions, fully connected layers and what lies between two of those
    bool perChannel = false; ///< weights of fully connected layers; those of fused convolutions always are
    std::vector<std::string> excluded; ///< nodes that stay in float32
    std::vector<std::string> excludedOperators;
    std::vector<std::string> onlyOperators; ///< empty: all that have an int8 form
};

struct SkippedNode
{
    std::string name;
    std::string op;
    std::string why;
};

struct Quantization
{
    Model model; ///< ready to be run and saved
    std::vector<std::string> quantized; ///< nodes
    std::vector<SkippedNode> skipped;
    std::vector<Warning> warnings;
    std::vector<std::string> notes;
};

/// The whole model in int8, as MXNet 1.9.1's quantization writes it, with ranges from a calibration. A tensor that this lacks finds its
/// range at run time, with a note.
/// fails: BadInput for a model without parameters; BadCall for an excluded node or operator that is none; Cancelled
Result<Quantization> quantize(const Model &model, const Calibration &calibration,
                              const QuantizeOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
