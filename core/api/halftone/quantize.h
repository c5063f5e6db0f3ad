#pragma once

#include "halftone/calibrate.h"
#include "halftone/convert.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// How a quantized model is written.
enum class QuantizedForm : std::uint8_t
{
    Qdq, ///< ONNX: pairs of QuantizeLinear and DequantizeLinear
    QOperator, ///< ONNX: integer operators
    Fused, ///< MXNet: fused operators of the oneDNN backend
    Plain, ///< MXNet: one int8 operator per operator
};

struct QuantizeOptions
{
    std::optional<QuantizedForm> form; ///< absent: the first of the model's format
    Codes codes = Codes::Auto;
    bool full
        = false; ///< quantize every supported operator; otherwise convolutions, fully connected layers and operators between two of these
    std::optional<bool>
        perChannel; ///< scales of weights per channel; absent: only for ONNX. MXNet's fused convolutions always have one per channel
    bool isNeutral = false; ///< MXNet: codes of the largest values are 127 and 255 instead of 127.5 and 255.5
    std::vector<std::string> excluded; ///< nodes that stay in float32
    std::vector<std::string> excludedOperators;
    std::vector<std::string> onlyOperators; ///< empty: all operators with an int8 form
    std::string
        hardware; ///< quantize only what this chip has int8 units for: as Policy::hardware; empty: any
    /// Ranges, if there is no calibration: a table written by saveCalibration(), otherwise measured on `data`. Without all of these, an MXNet
    /// model determines ranges at run time.
    std::string rangeTable;
    Data data;
    Compute compute; ///< for `data`
    std::optional<ThresholdMethod>
        method; ///< for `data`; absent: Mse, or MinMax for tensors where that gives clearly smaller errors in the next layers
    double percentile = 99.99; ///< for ThresholdMethod::Percentile, in percent
    bool correctBiases = false; ///< correct the biases of int8 layers for the mean error measured on `data`
    /// "[TARGET=]FORMAT", such as "uint4/32": store weights alone as codes, and quantize nothing else. Then only `excluded`,
    /// `excludedOperators`, `data` and `compute` count beside these two.
    std::vector<std::string> weights;
    std::string weightMethod; ///< "rtn", "mse" or "gptq"; empty: "gptq" with data, otherwise "mse"
    std::string weightForm; ///< "nbits" or "qdq"; empty: "nbits" where there is one
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
    std::vector<std::string> quantized; ///< nodes in int8, or whose weights are codes
    std::vector<SkippedNode> skipped;
    std::vector<Warning> warnings;
    std::vector<std::string> notes;
    std::size_t correctedBiases = 0; ///< number of layers
    std::string report; ///< as JSON: what `quantize --json` prints
};

/// Quantizes a model to int8, or its weights alone. A 16-bit ONNX model is first widened to float32, with a note.
/// fails: BadInput for a model without parameters, or invalid data; BadCall for an unknown name in an exclusion, a form that the model's
///        format does not have, ONNX without ranges, or bias correction without data; Cancelled
Result<Quantization> quantize(const Model &model, const QuantizeOptions &options = {},
                              const Progress &progress = {});

/// The same with ranges from a calibration. The range of a tensor that is missing there is determined at run time, with a note.
Result<Quantization> quantize(const Model &model, const Calibration &calibration,
                              const QuantizeOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
