#include "core/ops/element_function.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <cmath>

namespace halftone::plan {
namespace {

using tensor::DType;

class Int8Fusion
{
public:
    explicit Int8Fusion(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
        , m_gone(graph.nodes.size())
    {
    }

    void run()
    {
        for (std::uint32_t k = 0; k < m_graph.nodes.size(); ++k) {
            const PlanNode &node = m_graph.nodes[k];
            if (!node.post.empty() || node.op.is<ops::FusedProduct>() || node.inputs.empty()
                || node.outputs.empty())
                continue;
            const std::uint32_t host = m_uses.hostOf(m_graph, node.inputs[0]);
            if (host == kNoPlanNode)
                continue;
            if (const auto *requantize = node.op.getIf<ops::Requantize>())
                takeRequantize(host, k, *requantize);
            else if (const auto *product = m_graph.nodes[host].op.getIf<ops::FusedProduct>();
                     product && product->isPlain)
                takeMore(host, k, *product);
        }
        eraseNodes(m_graph, m_gone);
    }

private:
    std::optional<double> magnitudeOf(ValueId low, ValueId high) const
    {
        double most = 0;
        for (const ValueId end : {low, high}) {
            const PlanValue &value = m_graph.values[end];
            if (!value.constant || value.desc.dtype != DType::F32 || value.constant->elementCount() != 1)
                return std::nullopt;
            most = std::max(most, std::abs(double{value.constant->values<float>()[0]}));
        }
        return std::isfinite(most) && most > 0 ? std::optional(most) : std::nullopt;
    }

    bool hasKnownRange(const PlanNode &node) const
    {
        return node.outputs.size() == 3 && m_graph.isConstant(node.outputs[1])
            && m_graph.isConstant(node.outputs[2]);
    }

    void takeRequantize(std::uint32_t host, std::uint32_t k, const ops::Requantize &requantize)
    {
        const PlanNode &node = m_graph.nodes[k];
        PlanNode &sums = m_graph.nodes[host];
        const auto codes = ops::requantizedTo(requantize, m_graph.desc(node.outputs[0]).dtype);
        if (!codes || !hasKnownRange(node) || !hasKnownRange(sums) || !sums.post.empty())
            return;
        if (const auto product = ops::plainProduct(sums.op)) {
            if (!isParameterised(sums, *product))
                return;
            ops::FusedProduct fused = *product;
            fused.requantized = codes;
            fused.range = {-codes->most, codes->most};
            merge(host, k, std::move(fused));
        } else if (const auto *sum = sums.op.getIf<ops::Quantized<ops::Binary>>();
                   sum && sum->op.kind == ops::BinaryKind::Add && !sum->range.low) {
            sums.post.push_back({node.op, kNoValue});
            merge(host, k, std::nullopt);
        }
    }

    /// Are weights and bias constant, and all ranges known and wide enough to count in?
    bool isParameterised(const PlanNode &node, const ops::FusedProduct &product) const
    {
        if (node.inputs.size() != product.inputCount())
            return false;
        for (std::size_t k = 1; k < node.inputs.size(); ++k)
            if (!m_graph.isConstant(node.inputs[k]))
                return false;
        for (std::size_t low = product.ends(); low < product.inputCount(); low += 2) {
            const bool isBias = low == product.weightEnds() + 2;
            if (!isBias && !magnitudeOf(node.inputs[low], node.inputs[low + 1]))
                return false;
        }
        return true;
    }

    /// What follows a plain product that has been requantized.
    void takeMore(std::uint32_t host, std::uint32_t k, ops::FusedProduct fused)
    {
        const PlanNode &node = m_graph.nodes[k];
        const ops::Operator &op = node.op;
        const DType from = m_graph.desc(node.inputs[0]).dtype;
        const DType to = m_graph.desc(node.outputs[0]).dtype;
        if (const auto *activation = op.getIf<ops::Quantized<ops::Activation>>()) {
            if (activation->op.kind != ops::UnaryKind::Relu || fused.realOutput || fused.activation
                || from != to || !hasKnownRange(node))
                return;
            fused.activation = ops::elementFunction(activation->op);
        } else if (op.is<ops::Dequantize>()) {
            if (!fused.keepsCodes(from) || to != DType::F32)
                return;
            fused.realOutput = true;
            fused.range = {};
        } else if (const auto *quantize = op.getIf<ops::Quantize>()) {
            if (!fused.realOutput || quantize->rangeIsInput || !quantize->range.low || !hasKnownRange(node)
                || !magnitudeOf(node.outputs[1], node.outputs[2]))
                return;
            fused.realOutput = false;
            fused.range = quantize->range;
        } else if (fused.realOutput && !fused.activation && from == to && ops::elementFunction(op)) {
            fused.activation = ops::elementFunction(op);
        } else {
            return;
        }
        merge(host, k, std::move(fused));
    }

    /// `host` takes the place of node `k`, where all that either reads is there.
    void merge(std::uint32_t host, std::uint32_t k, std::optional<ops::FusedProduct> fused)
    {
        PlanNode whole = std::move(m_graph.nodes[host]);
        const PlanNode &node = m_graph.nodes[k];
        whole.members.insert(whole.members.end(), node.members.begin(), node.members.end());
        whole.outputs = node.outputs;
        if (fused)
            whole.op = std::move(*fused);
        m_uses.follow(whole, host, k);
        m_gone[host] = true;
        m_graph.nodes[host] = {};
        m_graph.nodes[k] = std::move(whole);
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<bool> m_gone;
};

} // namespace

void fuseRequantize(PlanGraph &graph)
{
    Int8Fusion(graph).run();
}

} // namespace halftone::plan
