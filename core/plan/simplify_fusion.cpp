#include "core/ops/element_function.h"
#include "core/plan/element_form.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"
#include "core/tensor/elements.h"

#include <algorithm>

namespace halftone::plan {
namespace {

using ops::BinaryKind;
using tensor::DType;

bool isProduct(const ops::Operator &op)
{
    return op.is<ops::Conv>() || op.is<ops::ConvTranspose>() || op.is<ops::FullyConnected>()
        || op.is<ops::MatMul>();
}

/// A product of any kind, whose result is real.
bool takesSteps(const ops::Operator &op)
{
    return isProduct(op) || op.is<ops::CodedSums>();
}

/// Can `host` apply the function `op` to its result before it writes it?
bool takesFunction(const PlanNode &host, const ops::Operator &op)
{
    if (host.op.is<ops::BatchNormalization>()) {
        const auto function = ops::elementFunction(op);
        return host.post.empty() && function && function->isRelu();
    }
    return takesSteps(host.op) || host.op.is<ops::Binary>();
}

/// Is the second side of `binary` free to be a post-operation's operand?
bool commutes(BinaryKind kind)
{
    return kind == BinaryKind::Add || kind == BinaryKind::Mul || kind == BinaryKind::Maximum
        || kind == BinaryKind::Minimum;
}

/// Is the function of a value rounded to `type` the rounded function of the value? Rounding never swaps two values, and leaves alone what the
/// type has.
bool isSameRounded(const ops::Operator &op, DType type)
{
    using Kind = ops::ElementFunction::Kind;
    const auto function = ops::elementFunction(op);
    if (!function)
        return false;
    const auto has = [type](float value) { return tensor::heldIn(type, value) == value; };
    return function->isRelu() || function->kind == Kind::Abs
        || (function->kind == Kind::Clip && has(function->alpha) && has(function->beta));
}

class Fusion
{
public:
    explicit Fusion(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
        , m_gone(graph.nodes.size())
    {
    }

    void run()
    {
        for (std::uint32_t k = 0; k < m_graph.nodes.size(); ++k) {
            const PlanNode &node = m_graph.nodes[k];
            if (!node.post.empty() || node.outputs.empty())
                continue;
            if (isElementFunction(node.op))
                fuseFunction(k);
            else if (const auto *binary = node.op.getIf<ops::Binary>())
                fuseBinary(k, binary->kind);
        }
        eraseNodes(m_graph, m_gone);
    }

private:
    /// The node that computes `value` for one reader alone, in the type and shape of `result`.
    std::uint32_t hostOf(ValueId value, ValueId result) const
    {
        return m_graph.desc(value) == m_graph.desc(result) ? m_uses.hostOf(m_graph, value) : kNoPlanNode;
    }

    void fuseFunction(std::uint32_t k)
    {
        const PlanNode &node = m_graph.nodes[k];
        const std::uint32_t host = hostOf(node.inputs[0], node.outputs[0]);
        if (host == kNoPlanNode)
            return;
        if (takesFunction(m_graph.nodes[host], node.op))
            merge(host, k, {node.op, kNoValue});
        else if (m_graph.nodes[host].op.is<ops::Cast>())
            fuseAcrossCast(host, k);
    }

    /// What is computed in one type and cast to a narrower one may apply the function before it is cast.
    void fuseAcrossCast(std::uint32_t cast, std::uint32_t k)
    {
        const PlanNode &node = m_graph.nodes[k];
        const ValueId wide = m_graph.nodes[cast].inputs[0];
        const std::uint32_t host = m_uses.hostOf(m_graph, wide);
        if (host == kNoPlanNode || m_graph.desc(wide).dtype != DType::F32
            || !tensor::isHalf(m_graph.desc(node.outputs[0]).dtype)
            || !takesFunction(m_graph.nodes[host], node.op)
            || !isSameRounded(node.op, m_graph.desc(node.outputs[0]).dtype))
            return;
        PlanNode &first = m_graph.nodes[host];
        first.post.push_back({node.op, kNoValue});
        first.members.insert(first.members.end(), node.members.begin(), node.members.end());
        PlanNode narrowing = std::move(m_graph.nodes[cast]);
        narrowing.outputs = node.outputs;
        m_gone[cast] = true;
        m_uses.follow(narrowing, cast, k);
        m_graph.nodes[k] = std::move(narrowing);
        m_graph.nodes[cast] = {};
    }

    void fuseBinary(std::uint32_t k, BinaryKind kind)
    {
        const PlanNode &node = m_graph.nodes[k];
        if (node.inputs[0] == node.inputs[1]
            || (!commutes(kind) && kind != BinaryKind::Sub && kind != BinaryKind::Div))
            return;
        std::uint32_t best = kNoPlanNode;
        std::size_t bestSide = 0;
        for (std::size_t side = 0; side < (commutes(kind) ? 2U : 1U); ++side) {
            const std::uint32_t host = hostOf(node.inputs[side], node.outputs[0]);
            if (host == kNoPlanNode || !takesSteps(m_graph.nodes[host].op)
                || !tensor::isFloat(m_graph.desc(node.inputs[1 - side]).dtype))
                continue;
            // The later of two: its result is at hand, and it moves the least.
            if (best == kNoPlanNode || host > best) {
                best = host;
                bestSide = side;
            }
        }
        if (best != kNoPlanNode)
            merge(best, k, {node.op, node.inputs[1 - bestSide]});
    }

    /// `host` takes the place of node `k`, where all that either reads is there.
    void merge(std::uint32_t host, std::uint32_t k, PostOp post)
    {
        PlanNode fused = std::move(m_graph.nodes[host]);
        const PlanNode &node = m_graph.nodes[k];
        fused.members.insert(fused.members.end(), node.members.begin(), node.members.end());
        fused.post.push_back(std::move(post));
        fused.outputs[0] = node.outputs[0];
        m_gone[host] = true;
        m_uses.follow(fused, host, k);
        m_graph.nodes[k] = std::move(fused);
        m_graph.nodes[host] = {};
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<bool> m_gone;
};

/// Does it make reals of codes?
bool readsCodes(const PlanNode &node)
{
    const auto *product = node.op.getIf<ops::FusedProduct>();
    return node.op.is<ops::Dequantize>() || (product && product->realOutput);
}

/// Operators along rows, which compute in float32 and may write bfloat16 at once.
bool normalisesRows(const ops::Operator &op)
{
    return op.is<ops::LayerNormalization>() || op.is<ops::Softmax>();
}

/// Operators whose kernels write another float type than they read, rounding once.
bool writesAnyFloat(const PlanNode &node)
{
    return isProduct(node.op) || readsCodes(node) || normalisesRows(node.op);
}

/// Is a tensor of the type added to the node's result? Libraries add what has the result's type.
bool addsNarrow(const PlanGraph &graph, const PlanNode &node, DType type)
{
    return std::ranges::any_of(node.post, [&](const PostOp &post) {
        return post.operand != kNoValue && graph.desc(post.operand).dtype == type
            && graph.desc(post.operand).shape == graph.desc(node.outputs[0]).shape;
    });
}

/// What is quantized need not be widened before.
void quantizeWithoutCasts(PlanGraph &graph)
{
    const PlanUses uses(graph);
    std::vector<bool> gone(graph.nodes.size());
    for (PlanNode &node : graph.nodes) {
        if (!node.op.is<ops::Quantize>())
            continue;
        const std::uint32_t before = uses.producer[node.inputs[0]];
        if (before == kNoPlanNode || !graph.nodes[before].op.is<ops::Cast>()
            || !uses.hasOneReader(node.inputs[0]))
            continue;
        const PlanNode &cast = graph.nodes[before];
        if (graph.desc(cast.inputs[0]).dtype != DType::BF16
            || graph.desc(cast.outputs[0]).dtype != DType::F32)
            continue;
        adoptMembers(node, cast);
        node.inputs[0] = cast.inputs[0];
        gone[before] = true;
    }
    eraseNodes(graph, gone);
}

} // namespace

void fuseDequantize(PlanGraph &graph)
{
    const PlanUses uses(graph);
    std::vector<bool> gone(graph.nodes.size());
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        const PlanNode &node = graph.nodes[k];
        const std::uint32_t before
            = node.op.is<ops::Dequantize>() ? uses.producer[node.inputs[0]] : kNoPlanNode;
        if (before == kNoPlanNode || !uses.hasOneReader(node.inputs[0]))
            continue;
        PlanNode &layer = graph.nodes[before];
        const auto *product = layer.op.getIf<ops::FusedProduct>();
        if (!product || product->isPlain || product->realOutput || !product->isCalibrated())
            continue; // plain ones have all that they take: see fuseRequantize()
        ops::FusedProduct real = *product;
        real.realOutput = true;
        if (!real.limits.high) // what the codes could say
            real.limits = ops::codeLimits(real.range, graph.desc(layer.outputs[0]).dtype);
        layer.op = std::move(real);
        layer.members.insert(layer.members.end(), node.members.begin(), node.members.end());
        layer.outputs = {node.outputs[0]};
        gone[k] = true;
    }
    eraseNodes(graph, gone);
}

bool isElementFunction(const ops::Operator &op)
{
    if (const auto *unary = op.getIf<ops::Unary>(); unary
        && (unary->kind == ops::UnaryKind::GeluTanh || unary->kind == ops::UnaryKind::HardSwish
            || unary->kind == ops::UnaryKind::Mish))
        return true;
    const auto *curve = op.getIf<ops::Curve>();
    return (curve && curve->kind == ops::Curve::Kind::Swish) || ops::elementFunction(op);
}

void fusePostOps(PlanGraph &graph)
{
    Fusion(graph).run();
}

void foldCasts(PlanGraph &graph, const Simplification &device)
{
    const PlanUses uses(graph);
    std::vector<bool> gone(graph.nodes.size());
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        const PlanNode &node = graph.nodes[k];
        if (!node.op.is<ops::Cast>())
            continue;
        const std::uint32_t before = uses.producer[node.inputs[0]];
        if (before == kNoPlanNode || !writesAnyFloat(graph.nodes[before])
            || !uses.hasOneReader(node.inputs[0]))
            continue;
        const DType from = graph.desc(node.inputs[0]).dtype;
        const DType to = graph.desc(node.outputs[0]).dtype;
        const DType data = graph.desc(graph.nodes[before].inputs[0]).dtype;
        // The kernel computes in float32 and rounds once. A narrow result that is widened later keeps more bits than
        // was asked for, which is no loss; where float16 is emulated it is so one operator at a time.
        const bool fromCodes = readsCodes(graph.nodes[before]);
        const bool alongRows = normalisesRows(graph.nodes[before].op);
        const auto isNarrow = [&device](DType type) {
            return type == DType::BF16 || (type == DType::F16 && device.foldsFloat16);
        };
        const bool isNative = (from == DType::F32 && isNarrow(to) && (data == to || fromCodes || alongRows))
            || (isNarrow(from) && to == DType::F32 && !fromCodes);
        if (!isNative
            || (device.foldsFloat16 && to == DType::F32 && addsNarrow(graph, graph.nodes[before], from)))
            continue;
        PlanNode &layer = graph.nodes[before];
        layer.members.insert(layer.members.end(), node.members.begin(), node.members.end());
        layer.outputs[0] = node.outputs[0];
        gone[k] = true;
    }
    eraseNodes(graph, gone);
    quantizeWithoutCasts(graph);
}

} // namespace halftone::plan
