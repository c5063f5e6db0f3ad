#include "core/ops/window.h"
#include "core/plan/coded_chains.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace halftone::plan {
namespace {

using tensor::DType;

/// Operators whose result holds elements of input 0 as they are.
bool movesElements(const ops::Operator &op)
{
    if (const auto *pool = op.getIf<ops::Pool>())
        return pool->kind == ops::Pool::Kind::Max && !pool->padsZeros;
    if (const auto *upsample = op.getIf<ops::Upsample>())
        return upsample->kind == ops::Upsample::Kind::Nearest && upsample->inputs == 1;
    return op.is<ops::Reshape>() || op.is<ops::Flatten>() || op.is<ops::Transpose>() || op.is<ops::Squeeze>()
        || op.is<ops::Unsqueeze>() || op.is<ops::SwapAxes>() || op.is<ops::Slice>()
        || op.is<ops::DepthToSpace>() || op.is<ops::SpaceToDepth>();
}

/// Average pooling of what lies behind the channels; nothing for another operator.
std::optional<ops::Pool> averageOf(const ops::Operator &op, std::size_t rank)
{
    if (const auto *pool = op.getIf<ops::Pool>()) {
        const bool isPlain = pool->kind == ops::Pool::Kind::Average && !pool->padsZeros
            && pool->layout == ops::Layout::ChannelsFirst
            && std::ranges::all_of(pool->dilate, [](std::int64_t step) { return step == 1; });
        return isPlain ? std::optional(*pool) : std::nullopt;
    }
    const auto *mean = op.getIf<ops::Reduce>();
    if (mean == nullptr || mean->kind != ops::Reduce::Kind::Mean || mean->exclude || mean->eachElement
        || rank < 3 || mean->axes.size() + 2 != rank)
        return std::nullopt;
    for (const std::int64_t axis : mean->axes) // as many as there are, and none twice
        if ((axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis) < 2)
            return std::nullopt;
    return ops::Pool{.kind = ops::Pool::Kind::Average, .global = true};
}

class CodeFusion
{
public:
    explicit CodeFusion(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
        , m_gone(graph.nodes.size())
        , m_before(graph.nodes.size())
        , m_chains(graph, m_uses, m_gone)
    {
    }

    void run()
    {
        for (std::uint32_t k = 0; k < m_gone.size(); ++k)
            m_chains.takeOperator(k);
        for (std::uint32_t k = 0; k < m_gone.size(); ++k) {
            const auto scale = m_graph.nodes[k].op.is<ops::QuantizeLinear>()
                ? codeScaleOf(m_graph, m_graph.nodes[k])
                : std::nullopt;
            if (scale && !takeMoves(k, *scale) && !takeConcat(k, *scale) && !takeAverage(k, *scale)
                && !takeMultiply(k, *scale))
                m_chains.takeCode(k, *scale);
        }
        for (std::uint32_t k = 0; k < m_gone.size(); ++k)
            if (!m_gone[k])
                m_chains.takeReals(k);
        write();
    }

private:
    /// The node that gives a real to one reader alone.
    std::uint32_t makerOf(ValueId real) const
    {
        const std::uint32_t maker = m_uses.hostOf(m_graph, real);
        return maker == kNoPlanNode || m_gone[maker] || !m_graph.nodes[maker].post.empty()
                || m_graph.desc(real).dtype != DType::F32
            ? kNoPlanNode
            : maker;
    }

    /// Codes of one scale that are only moved in between stay codes.
    bool takeMoves(std::uint32_t k, const ops::CodeScale &scale)
    {
        std::vector<std::uint32_t> moves; // the last one first
        ValueId real = m_graph.nodes[k].inputs[0];
        auto decoded = decodedValue(m_graph, m_uses, real);
        while (!decoded) {
            const std::uint32_t maker = makerOf(real);
            if (maker == kNoPlanNode || !movesElements(m_graph.nodes[maker].op))
                return false;
            moves.push_back(maker);
            real = m_graph.nodes[maker].inputs[0];
            decoded = decodedValue(m_graph, m_uses, real);
        }
        if (moves.empty() || decoded->scale != scale)
            return false;
        m_graph.nodes[moves.back()].inputs[0] = decoded->codes;
        for (const std::uint32_t move : moves)
            m_graph.values[m_graph.nodes[move].outputs[0]].desc.dtype = scale.type;
        PlanNode last = std::move(m_graph.nodes[moves.front()]);
        last.members.insert(last.members.end(), m_graph.nodes[k].members.begin(),
                            m_graph.nodes[k].members.end());
        last.outputs = m_graph.nodes[k].outputs;
        m_gone[moves.front()] = true;
        m_graph.nodes[moves.front()] = {};
        m_graph.nodes[k] = std::move(last);
        m_uses.follow(m_graph.nodes[k], moves.front(), k);
        return true;
    }

    /// Parts that are codes are joined as codes of the whole's scale.
    bool takeConcat(std::uint32_t k, const ops::CodeScale &scale)
    {
        const std::uint32_t maker = makerOf(m_graph.nodes[k].inputs[0]);
        if (maker == kNoPlanNode || !m_graph.nodes[maker].op.is<ops::Concat>())
            return false;
        const std::vector<ValueId> parts = m_graph.nodes[maker].inputs;
        const auto isCoded = [this](ValueId part) { return decodedValue(m_graph, m_uses, part).has_value(); };
        if (!std::ranges::all_of(parts, isCoded))
            return false;
        std::vector<ValueId> codes;
        for (const ValueId part : parts) {
            const DecodedValue decoded = *decodedValue(m_graph, m_uses, part);
            codes.push_back(decoded.scale == scale
                                ? decoded.codes
                                : m_chains.recoded(part, scale, m_graph.nodes[k], m_before[k]));
        }
        PlanNode whole = std::move(m_graph.nodes[maker]);
        whole.members.insert(whole.members.end(), m_graph.nodes[k].members.begin(),
                             m_graph.nodes[k].members.end());
        whole.inputs = std::move(codes);
        whole.outputs = m_graph.nodes[k].outputs;
        m_gone[maker] = true;
        m_graph.nodes[maker] = {};
        m_graph.nodes[k] = std::move(whole);
        return true;
    }

    /// `maker` and node `k`, which codes its result, become one node of `op` that reads these codes.
    void put(std::uint32_t k, std::uint32_t maker, ops::Operator op, const std::vector<DecodedValue> &decoded)
    {
        PlanNode whole{std::move(op),
                       m_graph.nodes[maker].opName,
                       m_graph.nodes[maker].members,
                       {},
                       m_graph.nodes[k].outputs,
                       {}};
        whole.members.insert(whole.members.end(), m_graph.nodes[k].members.begin(),
                             m_graph.nodes[k].members.end());
        for (const DecodedValue &value : decoded) {
            whole.inputs.push_back(value.codes);
            whole.parts.push_back(m_graph.nodes[value.node]);
        }
        whole.parts.push_back(std::move(m_graph.nodes[maker]));
        whole.parts.push_back(std::move(m_graph.nodes[k]));
        m_gone[maker] = true;
        m_graph.nodes[maker] = {};
        m_graph.nodes[k] = std::move(whole);
    }

    bool takeAverage(std::uint32_t k, const ops::CodeScale &scale)
    {
        const std::uint32_t maker = makerOf(m_graph.nodes[k].inputs[0]);
        if (maker == kNoPlanNode || m_graph.nodes[maker].inputs.empty())
            return false;
        const ValueId real = m_graph.nodes[maker].inputs[0];
        const auto pool = averageOf(m_graph.nodes[maker].op, m_graph.desc(real).shape.rank());
        const auto decoded = pool ? decodedValue(m_graph, m_uses, real) : std::nullopt;
        if (!decoded)
            return false;
        put(k, maker, ops::CodedAverage{*pool, decoded->scale, scale}, {*decoded});
        return true;
    }

    bool takeMultiply(std::uint32_t k, const ops::CodeScale &scale)
    {
        const std::uint32_t maker = makerOf(m_graph.nodes[k].inputs[0]);
        const auto *product = maker == kNoPlanNode ? nullptr : m_graph.nodes[maker].op.getIf<ops::Binary>();
        if (product == nullptr || product->kind != ops::BinaryKind::Mul)
            return false;
        std::vector<DecodedValue> sides;
        for (const ValueId side : m_graph.nodes[maker].inputs)
            if (const auto decoded = decodedValue(m_graph, m_uses, side))
                sides.push_back(*decoded);
        const tensor::Shape &result = m_graph.desc(m_graph.nodes[maker].outputs[0]).shape;
        if (sides.size() == 2 && m_graph.desc(sides[0].codes).shape != result)
            std::swap(sides[0], sides[1]);
        if (sides.size() != 2 || m_graph.desc(sides[0].codes).shape != result)
            return false;
        put(k, maker, ops::CodedMultiply{sides[0].scale, sides[1].scale, scale}, sides);
        return true;
    }

    void write()
    {
        std::vector<PlanNode> nodes;
        for (std::uint32_t k = 0; k < m_gone.size(); ++k) {
            std::ranges::move(m_before[k], std::back_inserter(nodes));
            if (!m_gone[k])
                nodes.push_back(std::move(m_graph.nodes[k]));
        }
        m_graph.nodes = std::move(nodes);
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<bool> m_gone;
    std::vector<std::vector<PlanNode>> m_before; ///< by node: what comes before it
    CodedChains m_chains;
};

} // namespace

void fuseCodes(PlanGraph &graph)
{
    const auto isPair = [](const PlanNode &node) {
        return node.op.is<ops::DequantizeLinear>() || node.op.is<ops::CodedConv>()
            || node.op.is<ops::CodedMatMul>();
    };
    if (std::ranges::any_of(graph.nodes, isPair))
        CodeFusion(graph).run();
}

void unfoldCodedProducts(PlanGraph &graph)
{
    for (std::size_t k = graph.nodes.size(); k-- > 0;) {
        const auto *chain = graph.nodes[k].op.getIf<ops::CodedChain>();
        if (chain != nullptr && chain->product != ops::CodedChain::Product::None)
            unfold(graph, k);
    }
}

} // namespace halftone::plan
