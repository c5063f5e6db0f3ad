#include "core/ops/cost.h"

#include "core/ops/dim.h"
#include "core/ops/einsum.h"
#include "core/ops/is_among.h"
#include "core/ops/numerics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace halftone::ops {
namespace {

using tensor::Shape;
using Shapes = std::span<const Shape>;

Dim elements(const Shape &shape)
{
    const auto count = shape.elementCount();
    return count ? Dim(*count) : shape.isComplete() ? Dim::outOfRange() : Dim::unknown();
}

Dim elementsAt(Shapes shapes, std::size_t i)
{
    return i < shapes.size() ? elements(shapes[i]) : Dim::unknown();
}

Dim lastOf(const Shape &shape)
{
    return shape.hasRank() && shape.rank() > 0 ? Dim::of(shape[shape.rank() - 1]) : Dim::unknown();
}

Dim allElements(Shapes shapes)
{
    Dim sum = 0;
    for (const Shape &shape : shapes)
        sum = sum + elements(shape);
    return sum;
}

/// Every output element is a sum over the weights of one output channel.
Dim convolutionFlops(std::int64_t outputChannels, Shapes inputs, const Shape &results)
{
    return elements(results) * 2 * (elementsAt(inputs, 1) / outputChannels);
}

Dim flopsOf(const Conv &op, Shapes inputs, Shapes outputs)
{
    return convolutionFlops(op.outputChannels, inputs, outputs[0]);
}

/// As Conv, seen from the other side: each input element is spread by the weights of its channel.
Dim flopsOf(const ConvTranspose &op, Shapes inputs, Shapes)
{
    const bool first = op.layout == Layout::ChannelsFirst;
    const Shape &data = inputs[0];
    if (!data.hasRank() || data.rank() < 3)
        return Dim::unknown();
    const Dim channels = Dim::of(data[first ? 1 : data.rank() - 1]);
    return elements(data) * 2 * (elementsAt(inputs, 1) / channels);
}

Dim flopsOf(const FullyConnected &op, Shapes inputs, Shapes outputs)
{
    return convolutionFlops(op.units, inputs, outputs[0]);
}

/// As Conv; the sampling of its taps, some operations each, is left out. The weight stands behind offsets and modulation.
Dim flopsOf(const DeformConv &op, Shapes inputs, Shapes outputs)
{
    const Dim weight = elementsAt(inputs, op.weight());
    return elements(outputs[0]) * 2 * (weight / op.conv.outputChannels);
}

/// Every place and displacement is a sum over a patch of all channels.
Dim flopsOf(const Correlation &op, Shapes inputs, Shapes outputs)
{
    const Shape &data = inputs[0];
    if (!data.hasRank() || data.rank() != 4)
        return Dim::unknown();
    return elements(outputs[0]) * 2 * Dim::of(data[1]) * (Dim(op.kernel) * op.kernel);
}

/// To the leading term of the usual algorithm, constants of decompositions left out.
Dim flopsOf(const LinearAlgebra &op, Shapes inputs, Shapes outputs)
{
    using Kind = LinearAlgebra::Kind;
    switch (op.kind) {
    case Kind::ExtractDiagonal:
    case Kind::MakeDiagonal:
    case Kind::ExtractTriangle:
    case Kind::MakeTriangle:
        return 0;
    case Kind::LogDiagonalSum:
        return elements(inputs[0]);
    case Kind::Symmetric:
        return elements(inputs[0]) * 2 * lastOf(outputs[0]);
    case Kind::TriangularProduct:
    case Kind::TriangularSolve:
        return elements(outputs[0]) * lastOf(inputs[0]);
    default:
        return elements(inputs[0]) * lastOf(inputs[0]);
    }
}

Dim flopsOf(const Quantized<Conv> &op, Shapes inputs, Shapes outputs)
{
    return flopsOf(op.op, inputs, outputs);
}

Dim flopsOf(const Quantized<FullyConnected> &op, Shapes inputs, Shapes outputs)
{
    return flopsOf(op.op, inputs, outputs);
}

Dim flopsOf(const FusedProduct &op, Shapes inputs, Shapes outputs)
{
    return op.conv ? flopsOf(*op.conv, inputs, outputs) : flopsOf(op.full, inputs, outputs);
}

Dim flopsOf(const MatMul &op, Shapes inputs, Shapes outputs)
{
    const Shape &a = inputs[0];
    if (!a.hasRank() || a.rank() == 0)
        return Dim::unknown();
    const std::size_t rank = a.rank();
    std::size_t summed = rank - 1;
    if (op.transposeA)
        summed = op.form == MatMul::Form::Dot ? 0 : rank < 2 ? 0 : rank - 2;
    return elements(outputs[0]) * 2 * Dim::of(a[summed]);
}

Dim flopsOf(const Gemm &op, Shapes inputs, Shapes outputs)
{
    const Shape &a = inputs[0];
    const auto rank = static_cast<std::int64_t>(a.rank());
    const std::int64_t row = op.axis < 0 ? op.axis + rank : op.axis;
    if (!a.hasRank() || row < 0 || row >= rank)
        return Dim::unknown();
    const Dim summed = op.transposeA ? Dim::of(a[static_cast<std::size_t>(row)]) : lastOf(a);
    return elements(outputs[0]) * 2 * summed + (op.hasAddend ? elements(outputs[0]) * 2 : Dim(0));
}

Dim flopsOf(const AttentionProduct &op, Shapes inputs, Shapes outputs)
{
    using Kind = AttentionProduct::Kind;
    if (op.kind == Kind::SelfValues || op.kind == Kind::CrossValues)
        return inputs.size() < 2 ? Dim::unknown() : elements(outputs[0]) * 2 * lastOf(inputs[1]);
    const std::int64_t parts = op.kind == Kind::SelfScores ? 3 : 1;
    return elements(outputs[0]) * 2 * (lastOf(inputs[0]) / (Dim(op.heads) * parts));
}

/// Weights and recurrent weights meet every element of the batch in every step once. Of a stack so do all parameters; a bias is
/// counted as half a multiply-add too many.
Dim flopsOf(const Recurrence &op, Shapes inputs, Shapes)
{
    const Shape &data = inputs[0];
    if (!data.hasRank() || data.rank() != 3)
        return Dim::unknown();
    const Dim weights = op.stack ? elementsAt(inputs, 1) : elementsAt(inputs, 1) + elementsAt(inputs, 2);
    return Dim::of(data[0]) * Dim::of(data[1]) * weights * 2;
}

/// Every query meets every key, and every weight every value, over the size of the heads.
Dim flopsOf(const Attention &, Shapes inputs, Shapes outputs)
{
    const Shape &keys = inputs.size() > 1 ? inputs[1] : inputs[0];
    if (!keys.hasRank() || keys.rank() < 3)
        return Dim::unknown();
    return (elements(inputs[0]) + elements(outputs[0])) * 2 * Dim::of(keys[keys.rank() - 2]);
}

Dim flopsOf(const CodedConv &op, Shapes inputs, Shapes outputs)
{
    return elements(outputs[0]) * 2 * (elementsAt(inputs, op.recodes ? 3 : 1) / op.conv.outputChannels);
}

Dim flopsOf(const CodedMatMul &, Shapes inputs, Shapes outputs)
{
    return elements(outputs[0]) * 2 * lastOf(inputs[0]);
}

/// A product for every place of all the letters.
Dim flopsOf(const Einsum &op, Shapes inputs, Shapes)
{
    std::vector<std::size_t> ranks;
    for (const Shape &input : inputs)
        ranks.push_back(input.rank());
    const auto labels = readEinsum(op.equation, ranks);
    if (!labels.ok())
        return Dim::unknown();
    std::map<int, std::int64_t> extents;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t axis = 0; axis < ranks[i]; ++axis)
            extents[labels.value().inputs[i][axis]]
                = std::max(extents[labels.value().inputs[i][axis]], inputs[i][axis]);
    Dim places = 2;
    for (const auto &[label, extent] : extents)
        places = places * Dim::of(extent);
    return places;
}

Dim flopsOf(const Pool &op, Shapes inputs, Shapes outputs)
{
    if (op.global)
        return elements(inputs[0]);
    Dim window = 1;
    for (const std::int64_t extent : op.kernel)
        window = window * extent;
    return elements(outputs[0]) * window;
}

/// Operators whose work goes with their larger side: passes over each element.
Dim flopsOfClass(NumericalClass kind, Shapes inputs, Shapes outputs)
{
    switch (kind) {
    case NumericalClass::DataMovement:
    case NumericalClass::Comparison:
        return 0;
    case NumericalClass::Normalisation:
        return elements(outputs[0]) * 4;
    case NumericalClass::Reduction:
        return allElements(inputs);
    case NumericalClass::Control:
    case NumericalClass::Unknown:
        return Dim::unknown();
    default:
        return elements(outputs[0]);
    }
}

Dim flopsOf(const Quantized<Pool> &op, Shapes inputs, Shapes outputs)
{
    return flopsOf(op.op, inputs, outputs);
}

Dim bytesOf(Shapes shapes, std::span<const std::size_t> sizes)
{
    Dim sum = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        sum = sum + elements(shapes[i]) * static_cast<std::int64_t>(sizes[i]);
    return sum;
}

/// Those whose flopsOf() looks at input 0.
template <class T>
inline constexpr bool kNeedsInput
    = kIsAmong<T, Conv, ConvTranspose, FullyConnected, MatMul, Gemm, AttentionProduct, Pool, Correlation,
               LinearAlgebra, Quantized<Pool>, FusedProduct, Recurrence, Attention, CodedConv, CodedMatMul>;

Dim flopsOfAny(const Operator &op, Shapes inputs, Shapes outputs)
{
    if (outputs.empty())
        return Dim::unknown();
    return visit(
        [&]<class T>(const T &alternative) {
            if (kNeedsInput<T> && inputs.empty())
                return Dim::unknown();
            if constexpr (requires { flopsOf(alternative, inputs, outputs); })
                return flopsOf(alternative, inputs, outputs);
            else
                return flopsOfClass(numericalClass(op), inputs, outputs);
        },
        op);
}

} // namespace

std::optional<double> flops(const Operator &op, Shapes inputs, Shapes outputs)
{
    const Dim count = flopsOfAny(op, inputs, outputs);
    if (count.isOutOfRange())
        return std::numeric_limits<double>::infinity();
    return count.isKnown() ? std::optional(static_cast<double>(count.value())) : std::nullopt;
}

std::optional<Cost> cost(const Operator &op, Shapes inputs, Shapes outputs,
                         std::span<const std::size_t> inputSizes, std::span<const std::size_t> outputSizes)
{
    if (outputs.empty() || inputSizes.size() != inputs.size() || outputSizes.size() != outputs.size())
        return std::nullopt;
    const Dim flops = flopsOfAny(op, inputs, outputs);
    const Dim bytes = bytesOf(inputs, inputSizes) + bytesOf(outputs, outputSizes);
    if (!flops.isKnown() || !bytes.isKnown())
        return std::nullopt;
    return Cost{flops.value(), bytes.value()};
}

} // namespace halftone::ops
