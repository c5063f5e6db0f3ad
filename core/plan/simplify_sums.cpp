#include "core/plan/coded_values.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <utility>

namespace halftone::plan {
namespace {

using ops::CodedSums;
using tensor::DType;

bool isSums(const ops::Operator &op)
{
    const auto *conv = op.getIf<ops::CodedConv>();
    const auto *product = op.getIf<ops::CodedMatMul>();
    return (conv != nullptr && !conv->recodes) || (product != nullptr && !product->recodes);
}

/// ConvInteger and MatMulInteger with what makes reals of their sums.
class SumFusion
{
public:
    explicit SumFusion(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
        , m_gone(graph.nodes.size())
    {
    }

    void run()
    {
        for (std::uint32_t k = 0; k < m_gone.size(); ++k)
            if (isSums(m_graph.nodes[k].op))
                take(k);
        eraseNodes(m_graph, m_gone);
    }

private:
    struct Draft
    {
        CodedSums op;
        std::vector<ValueId> inputs;
        std::vector<std::uint32_t> nodes; ///< the product first
        std::vector<PlanNode> before; ///< parts that stay in the graph, too
        std::size_t channels = 0;
    };

    bool isNumber(ValueId value) const { return m_graph.desc(value).shape.elementCount() == 1; }

    std::optional<Draft> begin(std::uint32_t k)
    {
        const PlanNode &node = m_graph.nodes[k];
        const auto *conv = node.op.getIf<ops::CodedConv>();
        const auto *product = node.op.getIf<ops::CodedMatMul>();
        Draft draft;
        draft.op.hasZero = conv != nullptr ? conv->hasDataZero : product->hasFirstZero;
        const bool hasWeightZero = conv != nullptr ? conv->hasWeightZero : product->hasSecondZero;
        const bool isRegular = conv != nullptr
            ? conv->conv.layout == ops::Layout::ChannelsFirst
            : m_graph.desc(node.inputs[1]).shape.rank() == 2 && m_graph.desc(node.inputs[0]).shape.rank() > 1;
        if (!isRegular || m_graph.isConstant(node.inputs[0])
            || (draft.op.hasZero && !isNumber(node.inputs[2])))
            return std::nullopt;
        const std::size_t axis = conv != nullptr ? 0 : 1;
        const ValueId weightZero = hasWeightZero ? node.inputs[draft.op.hasZero ? 3 : 2] : kNoValue;
        const auto weight = symmetricCodes(m_graph, node.inputs[1], weightZero, axis);
        if (!weight)
            return std::nullopt;
        draft.op.product
            = conv != nullptr ? ops::CodedChain::Product::Window : ops::CodedChain::Product::Matrix;
        if (conv != nullptr)
            draft.op.conv = conv->conv;
        draft.channels = static_cast<std::size_t>(m_graph.desc(*weight).shape[axis]);
        draft.inputs = {m_graph.nodes[k].inputs[0], *weight};
        if (draft.op.hasZero)
            draft.inputs.push_back(m_graph.nodes[k].inputs[2]);
        draft.nodes = {k};
        return draft;
    }

    /// The one reader of what the draft computes up to now, where that is one of this operator; kNoPlanNode
    template <class Op>
    std::uint32_t next(const Draft &draft) const
    {
        const PlanNode &last = m_graph.nodes[draft.nodes.back()];
        const ValueId value = last.outputs[0];
        if (!m_uses.hasOneReader(value))
            return kNoPlanNode;
        const std::uint32_t reader = m_uses.readers[value][0];
        const PlanNode &node = m_graph.nodes[reader];
        return !m_gone[reader] && node.op.is<Op>() && node.post.empty()
                && m_graph.desc(node.outputs[0]) == kernels::TensorDesc{DType::F32, m_graph.desc(value).shape}
            ? reader
            : kNoPlanNode;
    }

    ValueId otherOf(const Draft &draft, std::uint32_t binary) const
    {
        const std::vector<ValueId> &inputs = m_graph.nodes[binary].inputs;
        return inputs[inputs[0] == m_graph.nodes[draft.nodes.back()].outputs[0] ? 1 : 0];
    }

    std::uint32_t nextBinary(const Draft &draft, ops::BinaryKind kind) const
    {
        const std::uint32_t k = next<ops::Binary>(draft);
        return k != kNoPlanNode && m_graph.nodes[k].op.as<ops::Binary>().kind == kind ? k : kNoPlanNode;
    }

    /// The values of a constant by output channel, or one for all, as it stretches to the result.
    std::optional<std::vector<float>> channelValues(const Draft &draft, ValueId value) const
    {
        const PlanValue &held = m_graph.values[value];
        const std::size_t rank = m_graph.desc(m_graph.nodes[draft.nodes[0]].outputs[0]).shape.rank();
        const bool isWindow = draft.op.product == ops::CodedChain::Product::Window;
        const std::size_t fromEnd = isWindow ? rank - 1 : 1; // the channel is that axis, counted from the end
        if (!held.constant || held.desc.dtype != DType::F32)
            return std::nullopt;
        const tensor::Shape &shape = held.desc.shape;
        const bool isVector = shape.elementCount() == static_cast<std::int64_t>(draft.channels)
            && shape.rank() >= fromEnd
            && shape[shape.rank() - fromEnd] == static_cast<std::int64_t>(draft.channels);
        return isVector || isNumber(value) ? std::optional(held.constant->values<float>()) : std::nullopt;
    }

    /// scale = that of the data times the weight's, which is constant.
    bool takeScaleProduct(Draft &draft, ValueId scale)
    {
        const std::uint32_t maker = m_uses.producer[scale];
        if (maker == kNoPlanNode || maker >= m_gone.size())
            return false;
        const PlanNode &node = m_graph.nodes[maker];
        const auto *binary = node.op.getIf<ops::Binary>();
        if (binary == nullptr || binary->kind != ops::BinaryKind::Mul || !node.post.empty())
            return false;
        for (std::size_t side = 0; side < 2; ++side) {
            auto steps = channelValues(draft, node.inputs[1 - side]);
            if (!steps || !isNumber(node.inputs[side]) || m_graph.isConstant(node.inputs[side]))
                continue;
            draft.op.weightSteps = std::move(*steps);
            draft.inputs.push_back(node.inputs[side]);
            draft.before.push_back(node);
            return true;
        }
        return false;
    }

    void takeScale(Draft &draft)
    {
        const std::uint32_t k = nextBinary(draft, ops::BinaryKind::Mul);
        if (k == kNoPlanNode)
            return;
        const ValueId scale = otherOf(draft, k);
        if (m_graph.desc(scale).dtype != DType::F32)
            return;
        if (!takeScaleProduct(draft, scale)) {
            if (!isNumber(scale))
                return;
            draft.inputs.push_back(scale);
        }
        draft.op.hasScale = true;
        draft.nodes.push_back(k);
    }

    void takeBias(Draft &draft)
    {
        const std::uint32_t k = nextBinary(draft, ops::BinaryKind::Add);
        if (k == kNoPlanNode)
            return;
        const ValueId other = otherOf(draft, k);
        auto bias = channelValues(draft, other);
        if (!bias)
            return;
        bias->resize(draft.channels, bias->front());
        draft.inputs.push_back(addVector(m_graph, *bias, std::string(m_graph.values[other].name)));
        draft.op.hasBias = true;
        draft.nodes.push_back(k);
    }

    void take(std::uint32_t k)
    {
        auto draft = begin(k);
        if (!draft)
            return;
        if (const std::uint32_t cast = next<ops::Cast>(*draft); cast != kNoPlanNode) {
            draft->nodes.push_back(cast);
            takeScale(*draft);
            takeBias(*draft);
        }
        put(std::move(*draft));
    }

    void put(Draft draft)
    {
        PlanNode whole{draft.op, m_graph.nodes[draft.nodes[0]].opName, {}, std::move(draft.inputs), {}, {}};
        whole.parts = std::move(draft.before);
        std::ranges::sort(draft.nodes);
        for (const std::uint32_t k : draft.nodes) {
            PlanNode &node = m_graph.nodes[k];
            whole.members.insert(whole.members.end(), node.members.begin(), node.members.end());
            whole.outputs = node.outputs;
            whole.parts.push_back(std::move(node));
            node = {};
            m_gone[k] = true;
        }
        const std::uint32_t last = draft.nodes.back();
        m_graph.nodes[last] = std::move(whole);
        m_gone[last] = false;
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<bool> m_gone;
};

} // namespace

void fuseSums(PlanGraph &graph)
{
    if (std::ranges::any_of(graph.nodes, [](const PlanNode &node) { return isSums(node.op); }))
        SumFusion(graph).run();
}

} // namespace halftone::plan
