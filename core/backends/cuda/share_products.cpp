#include "core/backends/cuda/share_products.h"

#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <array>

namespace halftone::backends::cuda {
namespace {

using plan::PlanGraph;
using plan::PlanNode;
using plan::PlanUses;
using plan::ValueId;
using tensor::Tensor;

constexpr std::int64_t kMostScores = 0x7fffffff; ///< that attention of ours takes, whatever libraries do

/// A product with constant weights, and the constant vector that is added to it.
struct Projection
{
    std::uint32_t node = plan::kNoPlanNode;
    bool columnsFirst = false; ///< the weight is (columns, depth), otherwise (depth, columns)
    ValueId weight = plan::kNoValue;
    ValueId bias = plan::kNoValue;
    std::int64_t columns = 0;
};

/// Is it one value a column?
bool isVector(const PlanGraph &graph, ValueId value, std::int64_t columns)
{
    const tensor::Shape &shape = graph.desc(value).shape;
    return graph.isConstant(value) && shape.rank() == 1 && shape[0] == columns;
}

std::optional<Projection> projectionOf(const PlanGraph &graph, const PlanUses &uses, ValueId result)
{
    Projection found;
    found.node = uses.hostOf(graph, result);
    if (found.node == plan::kNoPlanNode || graph.desc(result).shape.rank() != 3)
        return std::nullopt;
    const PlanNode &node = graph.nodes[found.node];
    const auto *full = node.op.getIf<ops::FullyConnected>();
    const auto *product = node.op.getIf<ops::MatMul>();
    const bool isLayer = full && !full->flatten && node.post.empty();
    const bool isProduct = product && product->form != ops::MatMul::Form::Dot && !product->transposeA
        && !product->transposeB && node.post.size() <= 1;
    if ((!isLayer && !isProduct) || !graph.isConstant(node.inputs[1])
        || graph.desc(node.inputs[1]).shape.rank() != 2)
        return std::nullopt;
    found.columnsFirst = isLayer;
    found.weight = node.inputs[1];
    found.columns = graph.desc(result).shape[2];
    if (isLayer && full->hasBias)
        found.bias = node.inputs[2];
    if (isProduct && !node.post.empty()) {
        const auto *sum = node.post[0].op.getIf<ops::Binary>();
        if (!sum || sum->kind != ops::BinaryKind::Add || node.post[0].operand == plan::kNoValue)
            return std::nullopt;
        found.bias = node.post[0].operand;
    }
    if (found.bias != plan::kNoValue && !isVector(graph, found.bias, found.columns))
        return std::nullopt;
    return found;
}

/// Do the two read the same and look alike but for their width?
bool areAlike(const PlanGraph &graph, const Projection &a, const Projection &b)
{
    const auto same = [&graph](ValueId left, ValueId right) {
        return (left == plan::kNoValue) == (right == plan::kNoValue)
            && (left == plan::kNoValue || graph.desc(left).dtype == graph.desc(right).dtype);
    };
    const PlanNode &left = graph.nodes[a.node];
    const PlanNode &right = graph.nodes[b.node];
    return left.inputs[0] == right.inputs[0] && a.columnsFirst == b.columnsFirst && same(a.weight, b.weight)
        && same(a.bias, b.bias) && graph.desc(left.outputs[0]).dtype == graph.desc(right.outputs[0]).dtype;
}

/// Tensors one behind the other along an axis: (…, extent, inner) each.
Tensor joined(const std::vector<Tensor> &parts, std::size_t axis)
{
    std::vector<std::int64_t> dims(parts[0].shape().dims().begin(), parts[0].shape().dims().end());
    std::size_t outer = 1;
    for (std::size_t k = 0; k < axis; ++k)
        outer *= static_cast<std::size_t>(dims[k]);
    dims[axis] = 0;
    std::size_t bytes = 0;
    for (const Tensor &part : parts) {
        dims[axis] += part.shape()[axis];
        bytes += part.bytes().size();
    }
    std::vector<std::byte> all;
    all.reserve(bytes);
    for (std::size_t row = 0; row < outer; ++row) {
        for (const Tensor &part : parts) {
            const std::size_t run = part.bytes().size() / outer;
            const auto piece = part.bytes().subspan(row * run, run);
            all.insert(all.end(), piece.begin(), piece.end());
        }
    }
    return Tensor::owning(parts[0].dtype(), tensor::Shape(dims), std::move(all));
}

ValueId addConstant(PlanGraph &graph, Tensor tensor, const std::string &name)
{
    const ValueId value = graph.addValue({tensor.dtype(), tensor.shape()}, name);
    graph.values[value].constant = std::move(tensor);
    return value;
}

class Sharing
{
public:
    explicit Sharing(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
        , m_gone(graph.nodes.size())
    {
    }

    void run()
    {
        for (PlanNode &node : m_graph.nodes)
            if (const auto *attention = node.op.getIf<ops::RowAttention>())
                share(node, *attention);
        plan::eraseNodes(m_graph, m_gone);
    }

private:
    void share(PlanNode &node, const ops::RowAttention &attention)
    {
        if (attention.columns != std::array<std::int64_t, 3>{} || isTooLarge(node, attention))
            return;
        std::vector<Projection> projections;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto projection = projectionOf(m_graph, m_uses, node.inputs[k]);
            if (!projection || (k > 0 && !areAlike(m_graph, projections[0], *projection)))
                return;
            projections.push_back(*projection);
        }
        ops::RowAttention whole = attention;
        whole.columns = {0, projections[0].columns, projections[0].columns + projections[1].columns};
        const ValueId rows = join(projections);
        node.op = whole;
        node.inputs[0] = node.inputs[1] = node.inputs[2] = rows;
        node.parts.clear(); // they read what nobody computes any more
    }

    bool isTooLarge(const PlanNode &node, const ops::RowAttention &attention) const
    {
        const tensor::Shape &queries = m_graph.desc(node.inputs[0]).shape;
        const tensor::Shape &keys = m_graph.desc(node.inputs[1]).shape;
        return attention.keyHeads != attention.heads
            || static_cast<double>(queries[0]) * static_cast<double>(attention.heads)
                * static_cast<double>(queries[1]) * static_cast<double>(keys[1])
            > static_cast<double>(kMostScores);
    }

    /// One product takes the place of the first of them.
    ValueId join(const std::vector<Projection> &projections)
    {
        std::uint32_t first = plan::kNoPlanNode;
        std::vector<Tensor> weights;
        std::vector<Tensor> biases;
        std::vector<std::string> members;
        std::int64_t columns = 0;
        for (const Projection &one : projections) {
            first = std::min(first, one.node);
            weights.push_back(*m_graph.values[one.weight].constant);
            if (one.bias != plan::kNoValue)
                biases.push_back(*m_graph.values[one.bias].constant);
            const auto &names = m_graph.nodes[one.node].members;
            members.insert(members.end(), names.begin(), names.end());
            columns += one.columns;
            m_gone[one.node] = true;
        }
        m_gone[first] = false;
        const std::string name = m_graph.values[projections[0].weight].name;
        const kernels::TensorDesc &one = m_graph.desc(m_graph.nodes[first].outputs[0]);
        const kernels::TensorDesc desc{one.dtype, {one.shape[0], one.shape[1], columns}};
        const ValueId rows = m_graph.addValue(desc, m_graph.values[m_graph.nodes[first].outputs[0]].name);
        const ValueId weight
            = addConstant(m_graph, joined(weights, projections[0].columnsFirst ? 0 : 1), name);
        PlanNode &node = m_graph.nodes[first];
        node.members = std::move(members);
        node.outputs = {rows};
        node.inputs[1] = weight;
        if (biases.empty())
            return retyped(node, columns, rows);
        const ValueId bias = addConstant(m_graph, joined(biases, 0), name);
        if (projections[0].columnsFirst)
            node.inputs[2] = bias;
        else
            node.post[0].operand = bias;
        return retyped(node, columns, rows);
    }

    static ValueId retyped(PlanNode &node, std::int64_t columns, ValueId rows)
    {
        if (const auto *full = node.op.getIf<ops::FullyConnected>()) {
            ops::FullyConnected wide = *full;
            wide.units = columns;
            node.op = wide;
        }
        return rows;
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<bool> m_gone;
};

} // namespace

void shareProducts(PlanGraph &graph)
{
    Sharing(graph).run();
}

} // namespace halftone::backends::cuda
