#pragma once

#include "core/ops/element_function.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_quantized.h"
#include "core/ops/op_types.h"

#include <cstddef>
#include <optional>

/// Layers on codes of 8 bits with what is fused into them.
namespace halftone::ops {

/// Codes that stand for amax: 127.5 or 255.5, as MXNet's oneDNN operators have it.
double codesOfData(DType type);
/// Codes for 1 of a range; for an empty one the largest that MXNet has.
double scaleOfRange(DType type, double low, double high);
/// The least and the largest real that codes of a range stand for: int8 is symmetric, uint8 begins at 0.
/// Needs: both ends
CalibratedRange codeLimits(const CalibratedRange &range, DType type);

/// Codes of 8 bits that sums become first, as Requantize makes them.
struct Requantized
{
    DType type = DType::I8;
    double most
        = 0; ///< what 127 (of uint8: 255) stands for when codes are made; afterwards it is half a code more

    double scale() const { return (type == DType::U8 ? 255 : 127) / most; } ///< codes for 1
    bool operator==(const Requantized &) const = default;
};

/// A convolution or fully connected layer on codes with what a framework's backend has fused into it, or a plain one with the
/// operators that follow it. Inputs: data, weight[, bias][, gamma, beta, mean, variance][, addend], then low and
/// high of each that is codes. Outputs: the result, low, high; or the result alone, as reals.
struct FusedProduct
{
    std::optional<Conv> conv{}; ///< otherwise `full`
    FullyConnected full{};
    std::optional<BatchNormalization> norm{};
    bool hasSum = false;
    std::optional<ElementFunction> activation{}; ///< behind the sum, where there is one
    CalibratedRange range{}; ///< of the result; empty: the result is sums of 32 bits
    /// What the result is cut to before it is coded, where its codes count in a wider range; empty: nothing.
    CalibratedRange limits{};
    bool realOutput = false;
    bool codedWeights = false; ///< weight and bias are codes with ranges; else reals that are quantized here
    /// Of plain operators: a range of sums counts 127 and 255 codes, not half a code more, and a bias is cut, not
    /// rounded. Coded weights only.
    bool isPlain = false;
    std::optional<Requantized> requantized{}; ///< before the activation; of plain ones only

    bool hasBias() const { return conv ? conv->hasBias : full.hasBias; }
    bool isCalibrated() const { return range.low && range.high; }
    /// Is the result, of that type, the requantized codes, or ReLU of them? Then they need not be rounded twice.
    bool keepsCodes(DType resultType) const;
    /// Codes of the data for 1, as the sums count them.
    double dataScale(DType type, double low, double high) const;

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

    bool operator==(const FusedProduct &) const = default;
};

/// What a plain product on codes computes, as sums of 32 bits; nothing for other operators.
std::optional<FusedProduct> plainProduct(const Operator &op);

/// Nothing where the range is to be found at run time, is empty, or begins below zero though the codes cannot.
std::optional<Requantized> requantizedTo(const Requantize &op, DType type);

} // namespace halftone::ops
