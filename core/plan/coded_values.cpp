#include "core/plan/coded_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halftone::plan {
namespace {

using tensor::DType;
using tensor::Tensor;

const Tensor *constantOf(const PlanGraph &graph, ValueId value)
{
    return value != kNoValue && graph.isConstant(value) ? &*graph.values[value].constant : nullptr;
}

bool isCode(DType type)
{
    return type == DType::I8 || type == DType::U8;
}

/// Whole numbers of a constant; nothing for other types.
std::optional<std::vector<std::int32_t>> wholeNumbers(const Tensor &tensor)
{
    const auto widened
        = [](const auto &values) { return std::vector<std::int32_t>(values.begin(), values.end()); };
    if (tensor.dtype() == DType::I8)
        return widened(tensor.values<std::int8_t>());
    if (tensor.dtype() == DType::U8)
        return widened(tensor.values<std::uint8_t>());
    if (tensor.dtype() == DType::I32)
        return tensor.values<std::int32_t>();
    return std::nullopt;
}

/// Positive and finite, as scales are.
std::optional<std::vector<float>> scalesOf(const PlanGraph &graph, ValueId value)
{
    const Tensor *const held = constantOf(graph, value);
    if (held == nullptr || held->dtype() != DType::F32 || held->elementCount() == 0)
        return std::nullopt;
    std::vector<float> scales = held->values<float>();
    const bool areScales
        = std::ranges::all_of(scales, [](float scale) { return std::isfinite(scale) && scale > 0; });
    return areScales ? std::optional(std::move(scales)) : std::nullopt;
}

template <class T>
ValueId holdConstant(PlanGraph &graph, DType type, tensor::Shape shape, const std::vector<T> &values,
                     const std::string &name)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    const ValueId id = graph.addValue({type, shape}, name);
    graph.values[id].constant = Tensor::owning(type, std::move(shape), std::move(bytes));
    return id;
}

const PlanNode *decodeBehind(const PlanGraph &graph, const PlanUses &uses, ValueId real)
{
    const std::uint32_t producer = real < uses.producer.size() ? uses.producer[real] : kNoPlanNode;
    if (producer == kNoPlanNode || !graph.nodes[producer].op.is<ops::DequantizeLinear>())
        return nullptr;
    return &graph.nodes[producer];
}

ValueId zeroOf(const PlanNode &node)
{
    return node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
}

/// Codes less their zero points, where these fit int8.
std::optional<std::vector<std::int8_t>> centred(const std::vector<std::int32_t> &codes,
                                                const std::vector<std::int32_t> &zeros,
                                                const tensor::Shape &shape, std::size_t axis)
{
    std::size_t inner = 1;
    for (std::size_t k = axis + 1; k < shape.rank(); ++k)
        inner *= static_cast<std::size_t>(shape[k]);
    std::vector<std::int8_t> values(codes.size());
    for (std::size_t k = 0; k < codes.size(); ++k) {
        const std::int32_t value = codes[k] - zeros[zeros.size() == 1 ? 0 : k / inner % zeros.size()];
        if (value < -128 || value > 127)
            return std::nullopt;
        values[k] = static_cast<std::int8_t>(value);
    }
    return values;
}

} // namespace

bool isFloat8Zero(const Tensor &zeros)
{
    return isFloat8(zeros.dtype()) && std::ranges::all_of(zeros.bytes(), [](std::byte code) {
               return (code & std::byte{0x7F}) == std::byte{0}; // either sign
           });
}

std::optional<ops::CodeScale> codeScaleAt(const PlanGraph &graph, DType type, ValueId scale, ValueId zero)
{
    const auto steps = scalesOf(graph, scale);
    if (!isCode(type) || !steps || steps->size() != 1)
        return std::nullopt;
    ops::CodeScale made{type, double{steps->front()}, 0};
    if (zero == kNoValue)
        return made;
    const Tensor *const held = constantOf(graph, zero);
    const auto zeros = held == nullptr ? std::nullopt : wholeNumbers(*held);
    if (!zeros || zeros->size() != 1)
        return std::nullopt;
    made.zero = zeros->front();
    return made;
}

std::optional<ops::CodeScale> codeScaleOf(const PlanGraph &graph, const PlanNode &node)
{
    const bool codes = node.op.is<ops::QuantizeLinear>();
    if (!codes && !node.op.is<ops::DequantizeLinear>())
        return std::nullopt;
    const DType real = graph.desc(codes ? node.inputs[0] : node.outputs[0]).dtype;
    return real == DType::F32 ? codeScaleAt(graph, graph.desc(codes ? node.outputs[0] : node.inputs[0]).dtype,
                                            node.inputs[1], zeroOf(node))
                              : std::nullopt;
}

std::optional<DecodedValue> decodedValue(const PlanGraph &graph, const PlanUses &uses, ValueId real)
{
    const PlanNode *const node = decodeBehind(graph, uses, real);
    const auto scale = node == nullptr ? std::nullopt : codeScaleOf(graph, *node);
    if (!scale || graph.isConstant(node->inputs[0]))
        return std::nullopt;
    return DecodedValue{node->inputs[0], *scale, uses.producer[real]};
}

std::optional<ValueId> symmetricCodes(PlanGraph &graph, ValueId codes, ValueId zero, std::size_t axis)
{
    const Tensor *const held = constantOf(graph, codes);
    if (held == nullptr || !isCode(held->dtype()) || axis >= held->shape().rank())
        return std::nullopt;
    const auto channels = static_cast<std::size_t>(held->shape()[axis]);
    const Tensor *const zeroHeld = constantOf(graph, zero);
    auto zeros = zero == kNoValue ? std::optional(std::vector<std::int32_t>{0})
        : zeroHeld == nullptr     ? std::nullopt
                                  : wholeNumbers(*zeroHeld);
    if (!zeros || (zeros->size() != 1 && zeros->size() != channels))
        return std::nullopt;
    const bool isSymmetric = std::ranges::all_of(*zeros, [](std::int32_t value) { return value == 0; });
    if (held->dtype() == DType::I8 && isSymmetric)
        return codes;
    const auto values = centred(*wholeNumbers(*held), *zeros, held->shape(), axis);
    if (!values)
        return std::nullopt;
    return holdConstant(graph, DType::I8, held->shape(), *values, std::string(graph.values[codes].name));
}

std::optional<CodedWeight> codedWeight(PlanGraph &graph, ValueId codes, ValueId scale, ValueId zero,
                                       std::size_t axis)
{
    const Tensor *const held = constantOf(graph, codes);
    auto steps = scalesOf(graph, scale);
    if (held == nullptr || !steps || axis >= held->shape().rank()
        || (steps->size() != 1 && steps->size() != static_cast<std::size_t>(held->shape()[axis])))
        return std::nullopt;
    const auto symmetric = symmetricCodes(graph, codes, zero, axis);
    return symmetric ? std::optional(CodedWeight{*symmetric, std::move(*steps)}) : std::nullopt;
}

std::optional<CodedWeight> decodedWeight(PlanGraph &graph, const PlanUses &uses, ValueId real,
                                         std::size_t axis)
{
    const PlanNode *const node = decodeBehind(graph, uses, real);
    if (node == nullptr || graph.desc(real).dtype != DType::F32)
        return std::nullopt;
    const auto &decode = node->op.as<ops::DequantizeLinear>();
    const auto rank = static_cast<std::int64_t>(graph.desc(node->inputs[0]).shape.rank());
    const bool isOne = graph.desc(node->inputs[1]).shape.elementCount() == 1;
    const std::int64_t along = decode.axis < 0 ? decode.axis + rank : decode.axis;
    if (decode.block != 0 || (!isOne && along != static_cast<std::int64_t>(axis)))
        return std::nullopt;
    return codedWeight(graph, node->inputs[0], node->inputs[1], zeroOf(*node), axis);
}

std::optional<std::vector<float>> constantReals(const PlanGraph &graph, const PlanUses &uses, ValueId value,
                                                std::size_t channels)
{
    if (const Tensor *const held = constantOf(graph, value))
        return held->dtype() == DType::F32 && held->elementCount() == channels
            ? std::optional(held->values<float>())
            : std::nullopt;
    const PlanNode *const node = decodeBehind(graph, uses, value);
    const Tensor *const codes = node == nullptr ? nullptr : constantOf(graph, node->inputs[0]);
    const auto numbers = codes == nullptr ? std::nullopt : wholeNumbers(*codes);
    const auto scales = node == nullptr ? std::nullopt : scalesOf(graph, node->inputs[1]);
    if (!numbers || !scales || numbers->size() != channels
        || (scales->size() != 1 && scales->size() != channels)
        || node->op.as<ops::DequantizeLinear>().block != 0)
        return std::nullopt;
    std::vector<std::int32_t> zeros{0};
    if (zeroOf(*node) != kNoValue) {
        const Tensor *const held = constantOf(graph, zeroOf(*node));
        const auto given = held == nullptr ? std::nullopt : wholeNumbers(*held);
        if (!given || (given->size() != 1 && given->size() != channels))
            return std::nullopt;
        zeros = *given;
    }
    std::vector<float> reals(channels);
    for (std::size_t k = 0; k < channels; ++k)
        reals[k] = static_cast<float>((*numbers)[k] - zeros[zeros.size() == 1 ? 0 : k])
            * (*scales)[scales->size() == 1 ? 0 : k];
    return reals;
}

std::optional<std::vector<std::int32_t>> wholeNumbersAt(const PlanGraph &graph, ValueId value)
{
    const Tensor *const held = constantOf(graph, value);
    return held == nullptr ? std::nullopt : wholeNumbers(*held);
}

ValueId addVector(PlanGraph &graph, const std::vector<float> &values, const std::string &name)
{
    return holdConstant(graph, DType::F32, tensor::Shape{static_cast<std::int64_t>(values.size())}, values,
                        name);
}

} // namespace halftone::plan
