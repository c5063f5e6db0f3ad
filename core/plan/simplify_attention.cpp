#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace halftone::plan {
namespace {

using Axes = std::array<std::int64_t, 4>;

constexpr Axes kHeadsFirst{0, 2, 1, 3}; ///< (N, T, heads, size) to (N, heads, T, size), and back
constexpr Axes kHeadsFirstSwapped{0, 2, 3, 1};
constexpr int kMostSteps = 6; ///< between the products

bool isTranspose(const ops::Operator &op, const Axes &axes)
{
    const auto *transpose = op.getIf<ops::Transpose>();
    return transpose != nullptr && std::ranges::equal(transpose->axes, axes);
}

bool isView(const ops::Operator &op)
{
    return op.is<ops::Reshape>() || op.is<ops::Flatten>();
}

/// Attention that is written out by heads, as one operator over rows.
class AttentionFusion
{
public:
    AttentionFusion(PlanGraph &graph, const Simplification &device)
        : m_graph(graph)
        , m_device(device)
        , m_uses(graph)
    {
    }

    void run()
    {
        for (std::uint32_t k = 0; k < m_graph.nodes.size(); ++k)
            if (isRowSoftmax(m_graph.nodes[k]))
                take(k);
    }

private:
    struct Draft
    {
        ops::RowAttention op;
        std::set<std::uint32_t> nodes;
        ValueId mask = kNoValue;
    };

    /// A tensor whose heads are taken apart.
    struct Heads
    {
        ValueId rows = kNoValue; ///< (N, T, heads · size)
        std::int64_t heads = 0;
        std::int64_t size = 0;
    };

    bool isRowSoftmax(const PlanNode &node) const
    {
        const auto *softmax = node.op.getIf<ops::Softmax>();
        if (softmax == nullptr || softmax->kind != ops::Softmax::Kind::Softmax || softmax->useLength
            || softmax->flattened || softmax->temperature.value_or(1) != 1 || !node.post.empty())
            return false;
        const auto rank = static_cast<std::int64_t>(m_graph.desc(node.inputs[0]).shape.rank());
        return (rank == 4 || rank == 3) && (softmax->axis == -1 || softmax->axis == rank - 1);
    }

    /// The node without post-operations that gives `value` to one reader; kNoPlanNode
    std::uint32_t makerOf(ValueId value) const
    {
        const std::uint32_t maker = m_uses.hostOf(m_graph, value);
        return maker == kNoPlanNode || !m_graph.nodes[maker].post.empty() ? kNoPlanNode : maker;
    }

    /// Does it come of a product by way of casts and scales?
    bool leadsToProduct(ValueId value) const
    {
        for (int step = 0; step < kMostSteps; ++step) {
            const std::uint32_t maker = makerOf(value);
            if (maker == kNoPlanNode)
                return false;
            const ops::Operator &op = m_graph.nodes[maker].op;
            if (op.is<ops::MatMul>())
                return true;
            if (!op.is<ops::Cast>() && !op.is<ops::ScalarBinary>())
                return false;
            value = m_graph.nodes[maker].inputs[0];
        }
        return false;
    }

    /// Scores before the step that `node` is; kNoValue where it is none that attention takes.
    ValueId before(Draft &draft, const PlanNode &node) const
    {
        if (const auto *scalar = node.op.getIf<ops::ScalarBinary>()) {
            const bool isFactor = scalar->kind == ops::BinaryKind::Mul;
            const bool isDivisor = scalar->kind == ops::BinaryKind::Div && !scalar->reversed;
            if (draft.op.hasMask != (draft.mask != kNoValue) || (!isFactor && !isDivisor))
                return kNoValue;
            draft.op.scale *= isFactor ? scalar->scalar : 1 / scalar->scalar;
            return node.inputs[0];
        }
        const auto *sum = node.op.getIf<ops::Binary>();
        if (sum == nullptr || sum->kind != ops::BinaryKind::Add || draft.op.hasMask || draft.op.scale != 1)
            return node.op.is<ops::Cast>() ? node.inputs[0] : kNoValue;
        const std::size_t side = leadsToProduct(node.inputs[0]) ? 0 : 1;
        draft.mask = node.inputs[1 - side];
        draft.op.hasMask = true;
        const tensor::Shape &mask = m_graph.desc(draft.mask).shape;
        const std::size_t rank = m_graph.desc(node.outputs[0]).shape.rank();
        // Where batch and heads are one axis, a mask that differs along it stretches to neither.
        const bool isJoined = rank == 3 && mask.rank() == 3 && mask[0] != 1;
        return mask.rank() <= rank && !isJoined && tensor::isFloat(m_graph.desc(draft.mask).dtype)
                && m_graph.desc(node.inputs[side]).shape == m_graph.desc(node.outputs[0]).shape
            ? node.inputs[side]
            : kNoValue;
    }

    /// Back from the softmax to the product of queries and keys; kNoPlanNode
    std::uint32_t productBefore(Draft &draft, ValueId scores) const
    {
        for (int step = 0; step < kMostSteps && scores != kNoValue; ++step) {
            const std::uint32_t maker = makerOf(scores);
            if (maker == kNoPlanNode)
                return kNoPlanNode;
            draft.nodes.insert(maker);
            const PlanNode &node = m_graph.nodes[maker];
            if (const auto *product = node.op.getIf<ops::MatMul>())
                return product->form != ops::MatMul::Form::Dot && !product->transposeA ? maker : kNoPlanNode;
            scores = before(draft, node);
        }
        return kNoPlanNode;
    }

    /// The one reader of `value`, casts passed over; kNoPlanNode
    std::uint32_t readerOf(Draft &draft, ValueId value) const
    {
        while (m_uses.hasOneReader(value)) {
            const std::uint32_t reader = m_uses.readers[value][0];
            const PlanNode &node = m_graph.nodes[reader];
            if (!node.post.empty())
                return kNoPlanNode;
            draft.nodes.insert(reader);
            if (!node.op.is<ops::Cast>())
                return reader;
            value = node.outputs[0];
        }
        return kNoPlanNode;
    }

    /// Before casts that widen for a product alone.
    ValueId narrow(Draft &draft, ValueId value) const
    {
        for (std::uint32_t maker = makerOf(value);
             m_device.narrowsAttention && maker != kNoPlanNode && m_graph.nodes[maker].op.is<ops::Cast>();
             maker = makerOf(value)) {
            draft.nodes.insert(maker);
            value = m_graph.nodes[maker].inputs[0];
        }
        return value;
    }

    /// Batch and heads of (N, heads, …), where `joined` (N · heads, …) is a view of it; else itself.
    ValueId apartFrom(Draft &draft, ValueId joined) const
    {
        const std::uint32_t view = m_uses.producer[joined];
        if (m_graph.desc(joined).shape.rank() != 3 || view == kNoPlanNode || !isView(m_graph.nodes[view].op)
            || !m_graph.nodes[view].post.empty())
            return joined;
        const ValueId apart = m_graph.nodes[view].inputs[0];
        if (!isJoin(m_graph.desc(apart).shape, m_graph.desc(joined).shape))
            return joined;
        draft.nodes.insert(view);
        return apart;
    }

    static bool isJoin(const tensor::Shape &four, const tensor::Shape &three)
    {
        return four.rank() == 4 && three == tensor::Shape{four[0] * four[1], four[2], four[3]};
    }

    /// The transposition behind a product's result.
    std::uint32_t turnBehind(Draft &draft, ValueId result) const
    {
        const std::uint32_t next = readerOf(draft, result);
        if (next == kNoPlanNode || m_graph.desc(result).shape.rank() != 3)
            return next;
        const PlanNode &view = m_graph.nodes[next];
        return isView(view.op) && isJoin(m_graph.desc(view.outputs[0]).shape, m_graph.desc(result).shape)
            ? readerOf(draft, view.outputs[0])
            : kNoPlanNode;
    }

    std::optional<Heads> headsOf(Draft &draft, ValueId joined, const Axes &axes) const
    {
        const ValueId value = narrow(draft, apartFrom(draft, narrow(draft, joined)));
        const std::uint32_t turn = m_uses.producer[value];
        if (turn == kNoPlanNode || !isTranspose(m_graph.nodes[turn].op, axes)
            || !m_graph.nodes[turn].post.empty())
            return std::nullopt;
        const ValueId apart = narrow(draft, m_graph.nodes[turn].inputs[0]);
        const std::uint32_t view = m_uses.producer[apart];
        if (view == kNoPlanNode || !isView(m_graph.nodes[view].op) || !m_graph.nodes[view].post.empty())
            return std::nullopt;
        const tensor::Shape &four = m_graph.desc(apart).shape;
        const ValueId rows = narrow(draft, m_graph.nodes[view].inputs[0]);
        if (m_graph.desc(rows).shape != tensor::Shape{four[0], four[1], four[2] * four[3]})
            return std::nullopt;
        draft.nodes.insert({turn, view});
        return Heads{rows, four[2], four[3]};
    }

    void take(std::uint32_t softmax)
    {
        Draft draft;
        draft.nodes.insert(softmax);
        const std::uint32_t scores = productBefore(draft, m_graph.nodes[softmax].inputs[0]);
        const std::uint32_t result
            = scores == kNoPlanNode ? kNoPlanNode : readerOf(draft, m_graph.nodes[softmax].outputs[0]);
        const auto *product = result == kNoPlanNode ? nullptr : m_graph.nodes[result].op.getIf<ops::MatMul>();
        if (product == nullptr || product->form == ops::MatMul::Form::Dot || product->transposeA
            || product->transposeB)
            return;
        const std::uint32_t end = turnBehind(draft, m_graph.nodes[result].outputs[0]);
        if (end == kNoPlanNode || !isTranspose(m_graph.nodes[end].op, kHeadsFirst))
            return;
        const bool isTurned = m_graph.nodes[scores].op.as<ops::MatMul>().transposeB;
        const auto queries = headsOf(draft, m_graph.nodes[scores].inputs[0], kHeadsFirst);
        const auto keys
            = headsOf(draft, m_graph.nodes[scores].inputs[1], isTurned ? kHeadsFirst : kHeadsFirstSwapped);
        const auto values = headsOf(draft, m_graph.nodes[result].inputs[1], kHeadsFirst);
        if (!queries || !keys || !values || keys->heads != queries->heads || values->heads != queries->heads)
            return;
        draft.op.heads = draft.op.keyHeads = queries->heads;
        draft.op.size = queries->size;
        draft.op.valueSize = values->size;
        put(std::move(draft), end, {queries->rows, keys->rows, values->rows});
    }

    bool isWorthIt(const std::vector<ValueId> &inputs) const
    {
        const std::int64_t scores = m_graph.desc(inputs[0]).shape[1] * m_graph.desc(inputs[1]).shape[1];
        return static_cast<std::size_t>(scores) * tensor::sizeOf(m_graph.desc(inputs[0]).dtype)
            >= m_device.attentionBytes;
    }

    void put(Draft draft, std::uint32_t end, std::vector<ValueId> inputs)
    {
        if (!isWorthIt(inputs))
            return;
        const kernels::TensorDesc &result = m_graph.desc(m_graph.nodes[end].outputs[0]);
        for (const ValueId input : inputs)
            if (m_graph.desc(input).dtype != result.dtype)
                return;
        if (draft.op.hasMask)
            inputs.push_back(draft.mask);
        PlanNode whole{draft.op, "Attention", {}, std::move(inputs), m_graph.nodes[end].outputs, {}};
        for (const std::uint32_t k : draft.nodes) {
            const PlanNode &node = m_graph.nodes[k];
            whole.members.insert(whole.members.end(), node.members.begin(), node.members.end());
            whole.parts.push_back(node);
        }
        m_graph.nodes[end] = std::move(whole); // what only it needed goes with the unused
    }

    PlanGraph &m_graph;
    const Simplification &m_device;
    PlanUses m_uses;
};

} // namespace

void fuseAttention(PlanGraph &graph, const Simplification &device)
{
    AttentionFusion(graph, device).run();
    removeUnused(graph);
}

} // namespace halftone::plan
