#pragma once

#include "core/ops/element_function.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_spatial.h"
#include "core/ops/op_types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// What latency plans make of operators between DequantizeLinear and QuantizeLinear.
namespace halftone::ops {

/// What codes of 8 bits stand for: (code - zero) · step.
struct CodeScale
{
    DType type = DType::I8;
    double step = 1;
    std::int32_t zero = 0;

    double least() const { return type == DType::U8 ? 0 : -128; }
    double most() const { return type == DType::U8 ? 255 : 127; }
    bool operator==(const CodeScale &) const = default;
};

/// What is done to a real on its way.
struct CodedStep
{
    enum class Kind : std::uint8_t {
        Function, ///< `function`
        Recode, ///< it becomes codes of `scale`, and what these stand for
        Add, ///< of what the next addend's codes stand for
    } kind
        = Kind::Function;
    ElementFunction function{};
    CodeScale scale{};

    bool operator==(const CodedStep &) const = default;
};

/// Codes in; a product with constant weights, or none; steps; codes or reals out.
/// Inputs: data[, weight][, bias], then the addends of the steps in their order. The weight is int8, symmetric, and lies as the
/// product has it; the bias is float32, one an output channel.
struct CodedChain
{
    enum class Product : std::uint8_t { None, Window, Matrix } product = Product::None; ///< Window: `conv`
    Conv conv{};
    bool transposesWeight = false; ///< Matrix: the weight is (columns, depth), otherwise (depth, columns)
    bool hasBias = false;
    CodeScale data{};
    std::vector<float> weightSteps{}; ///< reals for code 1 of the weight: one, or one an output channel
    std::vector<CodedStep> steps{};
    std::optional<CodeScale> result{}; ///< nothing: reals

    std::size_t firstAddend() const { return product == Product::None ? 1U : hasBias ? 3U : 2U; }
    bool operator==(const CodedChain &) const = default;
};

/// A product of codes with constant weights, whose scale and zero point only a run tells. Inputs: data, weight[, zero point of
/// the data][, scale, one float32][, bias, float32, one an output channel]. The weight is int8, symmetric, and lies as ConvInteger
/// and MatMulInteger have it. Result: the sums, int32, or their float32, times scale and weightSteps, plus bias.
struct CodedSums
{
    CodedChain::Product product = CodedChain::Product::Window;
    Conv conv{};
    bool hasZero = false;
    bool hasScale = false;
    bool hasBias = false;
    std::vector<float> weightSteps{}; ///< empty: 1; else one, or one an output channel

    std::size_t scaleInput() const { return hasZero ? 3U : 2U; }
    std::size_t biasInput() const { return scaleInput() + (hasScale ? 1U : 0U); }
    bool operator==(const CodedSums &) const = default;
};

/// Average pooling between what codes stand for and codes. Inputs: data.
struct CodedAverage
{
    Pool pool{};
    CodeScale data{};
    CodeScale result{};

    bool operator==(const CodedAverage &) const = default;
};

/// The product, element by element, of what two tensors of codes stand for, as codes. The second stretches to the first.
struct CodedMultiply
{
    CodeScale first{};
    CodeScale second{};
    CodeScale result{};

    bool operator==(const CodedMultiply &) const = default;
};

} // namespace halftone::ops
