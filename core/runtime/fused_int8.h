#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_quantized.h"
#include "core/runtime/backend.h"
#include "core/runtime/element_function.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::runtime {

/// Codes of 8 bits that sums become first, as `_contrib_requantize` makes them.
struct Requantized
{
    tensor::DType type = tensor::DType::I8;
    double most
        = 0; ///< what 127 (of uint8: 255) stands for when codes are made; afterwards it is half a code more

    double scale() const { return (type == tensor::DType::U8 ? 255 : 127) / most; } ///< codes for 1
    bool operator==(const Requantized &) const = default;
};

/// A convolution or fully connected layer on codes with what MXNet's oneDNN backend has fused into it (`_sg_mkldnn_conv`,
/// `_sg_onednn_fully_connected`, …), or one of its plain ones with the operators that follow it. Inputs: data, weight[, bias][, gamma, beta, mean, variance][, addend], then low and
/// high of each that is codes. Outputs: the result, low, high; or the result alone, as reals.
struct FusedInt8
{
    std::optional<ops::Conv> conv; ///< otherwise `full`
    ops::FullyConnected full;
    std::optional<ops::BatchNorm> norm;
    bool hasSum = false;
    std::optional<ops::Operator>
        activation; ///< a function of one element; behind the sum, where there is one
    ops::CalibratedRange range; ///< of the result; empty: the result is sums of 32 bits
    /// What the result is cut to before it is coded, where its codes count in a wider range; empty: nothing.
    ops::CalibratedRange limits{};
    bool realOutput = false;
    bool codedWeights = false; ///< weight and bias are codes with ranges; else reals that are quantized here
    /// Of MXNet's plain operators: a range of sums counts 127 and 255 codes, not half a code more, and a bias is cut, not
    /// rounded. Coded weights only.
    bool isPlain = false;
    std::optional<Requantized> requantized{}; ///< before the activation; of plain ones only

    bool hasBias() const { return conv ? conv->hasBias : full.hasBias; }
    bool isCalibrated() const { return range.low && range.high; }
    /// Is the result, of that type, the requantized codes, or ReLU of them? Then they need not be rounded twice.
    bool keepsCodes(tensor::DType resultType) const;
    /// Codes of the data for 1, as the sums count them.
    double dataScale(tensor::DType type, double low, double high) const;

    // Places of the inputs.
    std::size_t bias() const { return 2; }
    std::size_t gamma() const { return hasBias() ? 3 : 2; }
    std::size_t addend() const { return gamma() + (norm ? 4 : 0); }
    std::size_t ends() const { return addend() + (hasSum ? 1 : 0); } ///< low of the data; its high follows
    std::size_t weightEnds() const { return ends() + 2; } ///< with coded weights; those of the bias follow
    std::size_t addendEnds() const { return ends() + 2; }
    std::size_t inputCount() const
    {
        return ends() + 2 + (codedWeights ? (hasBias() ? 4 : 2) : 0) + (hasSum ? 2 : 0);
    }

    bool operator==(const FusedInt8 &) const = default;
};

/// Reads a node. Nothing for other nodes, fused ones on reals included.
/// fails: BadInput for a body that is none of the above, naming the node
Result<std::optional<FusedInt8>> readFusedInt8(const graph::NodeDef &node);

/// What a plain product computes, as sums of 32 bits; null for other operators.
std::shared_ptr<const FusedInt8> plainProduct(const ops::Operator &op);

/// Nothing where the range is to be found at run time, is empty, or begins below zero though the codes cannot.
std::optional<Requantized> requantizedTo(const ops::Requantize &op, tensor::DType type);

/// Weights of FusedInt8 as a kernel computes with them.
struct CodedWeights
{
    std::vector<std::int8_t> codes; ///< as the weight lies
    std::vector<double> scales; ///< codes for 1, by output channel, or one for all
    std::vector<std::int32_t> bias; ///< by output channel, in the scale of the sums; empty: none

    double scaleOf(std::size_t channel) const { return scales.size() == 1 ? scales[0] : scales[channel]; }
};

/// Codes that stand for amax: 127.5 or 255.5, as MXNet's oneDNN operators have it.
double codesOfData(tensor::DType type);
/// Codes for 1 of a range; for an empty one the largest that MXNet has.
double scaleOfRange(tensor::DType type, double low, double high);

/// The least and the largest real that codes of a range stand for: int8 is symmetric, uint8 begins at 0.
/// Needs: both ends
ops::CalibratedRange codeLimits(const ops::CalibratedRange &range, tensor::DType type);

/// Folds BatchNorm and quantizes weights and bias (spec: calibration-int8, section 3).
/// inputs     bytes of all inputs, dense
/// dataScale  codes for 1 of the data
CodedWeights codeWeights(const FusedInt8 &op, const std::vector<TensorDesc> &descs,
                         std::span<const std::byte *const> inputs, double dataScale);

/// A kernel of the first backend of the chain that has one.
Result<std::unique_ptr<Kernel>> fusedInt8Kernel(const FusedInt8 &op, const Operation &operation,
                                                std::span<const std::shared_ptr<const Backend>> backends);

/// The kernel of the reference backend: sums in 64-bit reals, which hold every sum of codes exactly.
std::unique_ptr<Kernel> referenceFusedInt8(const FusedInt8 &op, Operation operation, unsigned threads);

} // namespace halftone::runtime
