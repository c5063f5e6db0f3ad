#include "core/plan/int8_ranges.h"

#include "core/plan/plan_edit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halftone::plan {
namespace {

using tensor::DType;

struct Ends
{
    float low = 0;
    float high = 0;
};

constexpr double kLargestSum = 2147483647.0; ///< of 32 bits

double magnitude(const Ends &ends)
{
    return std::max(std::abs(double{ends.low}), std::abs(double{ends.high}));
}

std::optional<Ends> endsOf(const ops::CalibratedRange &range)
{
    if (!range.low || !range.high)
        return std::nullopt;
    return Ends{static_cast<float>(*range.low), static_cast<float>(*range.high)};
}

class RangePropagation
{
public:
    explicit RangePropagation(PlanGraph &graph)
        : m_graph(graph)
    {
    }

    void shareRanges()
    {
        const PlanUses uses(m_graph);
        for (const PlanNode &node : m_graph.nodes) {
            const auto *concat = node.op.getIf<ops::Quantized<ops::Concat>>();
            if (concat == nullptr || !constantOf(node.outputs[1]) || !constantOf(node.outputs[2]))
                continue;
            const auto parts = static_cast<std::size_t>(concat->op.inputs);
            for (std::size_t k = 0; k < parts; ++k) {
                const ValueId part = node.inputs[k];
                const std::uint32_t producer = uses.producer[part];
                if (producer != kNoPlanNode && uses.hasOneReader(part)
                    && m_graph.desc(part).dtype == m_graph.desc(node.outputs[0]).dtype)
                    widen(m_graph.nodes[producer], *constantOf(node.outputs[1]),
                          *constantOf(node.outputs[2]));
            }
        }
    }

    void run()
    {
        for (const PlanNode &node : m_graph.nodes) {
            if (node.outputs.size() != 3)
                continue;
            if (const auto ends = resultOf(node)) {
                set(node.outputs[1], ends->low);
                set(node.outputs[2], ends->high);
            }
        }
    }

private:
    std::optional<float> constantOf(ValueId value) const
    {
        const PlanValue &known = m_graph.values[value];
        if (!known.constant || known.desc.dtype != DType::F32
            || known.constant->bytes().size() != sizeof(float))
            return std::nullopt;
        float number = 0;
        std::memcpy(&number, known.constant->bytes().data(), sizeof number);
        return number;
    }

    std::optional<Ends> inputEnds(const PlanNode &node, std::size_t low) const
    {
        if (low + 1 >= node.inputs.size())
            return std::nullopt;
        const auto a = constantOf(node.inputs[low]);
        const auto b = constantOf(node.inputs[low + 1]);
        return a && b ? std::optional(Ends{*a, *b}) : std::nullopt;
    }

    /// int8 codes of quantize and requantize say a symmetric range.
    std::optional<Ends> coded(const PlanNode &node, std::optional<Ends> ends) const
    {
        if (ends && m_graph.desc(node.outputs[0]).dtype == DType::I8) {
            const float most = std::max(std::abs(ends->low), std::abs(ends->high));
            return Ends{-most, most};
        }
        return ends;
    }

    std::optional<Ends> resultOf(const PlanNode &node) const
    {
        const ops::Operator &op = node.op;
        if (const auto *product = op.getIf<ops::FusedProduct>())
            return endsOf(product->range);
        if (const auto *quantize = op.getIf<ops::Quantize>()) {
            const auto ends
                = coded(node, quantize->rangeIsInput ? inputEnds(node, 1) : endsOf(quantize->range));
            if (ends && ends->low < 0 && m_graph.desc(node.outputs[0]).dtype == DType::U8)
                return Ends{0, std::max(-ends->low, std::abs(ends->high))}; // nothing negative is left
            return ends;
        }
        if (const auto *requantize = op.getIf<ops::Requantize>())
            return coded(node, endsOf(requantize->range));
        if (const auto *norm = op.getIf<ops::Quantized<ops::BatchNormalization>>())
            return endsOf(norm->range);
        if (const auto *binary = op.getIf<ops::Quantized<ops::Binary>>())
            return binary->range.low ? endsOf(binary->range) : summed(node, binary->op.kind);
        if (const auto *conv = op.getIf<ops::Quantized<ops::Conv>>())
            return product(node, conv->op.hasBias);
        if (const auto *full = op.getIf<ops::Quantized<ops::FullyConnected>>())
            return product(node, full->op.hasBias);
        if (const auto *concat = op.getIf<ops::Quantized<ops::Concat>>())
            return joined(node, static_cast<std::size_t>(concat->op.inputs));
        if (op.is<ops::Quantized<ops::Pool>>() || op.is<ops::Quantized<ops::Activation>>()
            || op.is<ops::Quantized<ops::Flatten>>())
            return inputEnds(node, 1);
        if (op.is<ops::Quantized<ops::Embedding>>())
            return inputEnds(node, 2);
        return std::nullopt;
    }

    std::optional<Ends> joined(const PlanNode &node, std::size_t parts) const
    {
        Ends all;
        for (std::size_t k = 0; k < parts; ++k) {
            const auto ends = inputEnds(node, parts + 2 * k);
            if (!ends)
                return std::nullopt;
            all = {std::min(all.low, ends->low), std::max(all.high, ends->high)};
        }
        return all;
    }

    /// Of sums of 32 bits (core/quantize/RULES.md, Q-product-range).
    std::optional<Ends> product(const PlanNode &node, bool hasBias) const
    {
        const std::size_t low = hasBias ? 3 : 2;
        const auto data = inputEnds(node, low);
        const auto weight = inputEnds(node, low + 2);
        if (!data || !weight)
            return std::nullopt;
        const DType type = m_graph.desc(node.inputs[0]).dtype;
        if (type == DType::U8 && data->low < 0)
            return std::nullopt;
        const double most
            = magnitude(*data) / (type == DType::U8 ? 255 : 127) * (magnitude(*weight) / 127) * kLargestSum;
        return Ends{static_cast<float>(-most), static_cast<float>(most)};
    }

    std::optional<Ends> summed(const PlanNode &node, ops::BinaryKind kind) const
    {
        const auto left = inputEnds(node, 2);
        const auto right = inputEnds(node, 4);
        if (kind != ops::BinaryKind::Add || !left || !right)
            return std::nullopt;
        const auto both = static_cast<float>(magnitude(*left) + magnitude(*right));
        return Ends{-both, both};
    }

    void widen(PlanNode &producer, float low, float high)
    {
        const auto *product = producer.op.getIf<ops::FusedProduct>();
        if (product == nullptr || !product->isCalibrated() || producer.outputs.size() != 3)
            return;
        const auto own = endsOf(product->range);
        if (!own || (own->low == low && own->high == high))
            return;
        ops::FusedProduct wide = *product;
        if (wide.limits.high)
            return; // its codes end before its range does
        if (!wide.requantized) // whose codes are cut, and rounded twice as before
            wide.limits = ops::codeLimits(wide.range, m_graph.desc(producer.outputs[0]).dtype);
        else if (!wide.keepsCodes(m_graph.desc(producer.outputs[0]).dtype))
            return;
        wide.range = {low, high};
        producer.op = std::move(wide);
        set(producer.outputs[1], low);
        set(producer.outputs[2], high);
    }

    void set(ValueId value, float number)
    {
        std::vector<std::byte> bytes(sizeof number);
        std::memcpy(bytes.data(), &number, sizeof number);
        m_graph.values[value].constant
            = tensor::Tensor::owning(DType::F32, tensor::Shape{1}, std::move(bytes));
    }

    PlanGraph &m_graph;
};

} // namespace

void settleRanges(PlanGraph &graph)
{
    RangePropagation(graph).run();
}

void shareRanges(PlanGraph &graph)
{
    RangePropagation(graph).shareRanges();
}

} // namespace halftone::plan
