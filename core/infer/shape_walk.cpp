#include "core/infer/shape_walk.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/ops/infer_shape.h"
#include "core/ops/shape_slots.h"

#include <algorithm>
#include <utility>

namespace halftone::infer {
namespace {

using graph::NodeId;
using tensor::Shape;

class ShapeWalk
{
public:
    ShapeWalk(const graph::Graph &graph, int depth)
        : m_graph(graph)
        , m_depth(depth)
    {
    }

    Result<void> seed(std::span<const Shape> variables)
    {
        const auto referenced = graph::referencedOutputs(m_graph);
        std::size_t total = 0;
        m_shapes.byNode.reserve(m_graph.nodeCount());
        m_ops.reserve(m_graph.nodeCount());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const graph::NodeDef &node = m_graph.node(id);
            const dialect::OpInfo *info
                = m_graph.isVariable(id) ? nullptr : dialect::of(m_graph).findOp(node.op);
            const std::size_t count
                = std::max<std::size_t>(referenced[id], dialect::outputCountOf(info, node));
            total += count;
            if (total > kSpareOutputs + kOutputsPerNode * m_graph.nodeCount())
                return badInput(node.name, std::to_string(count) + " outputs",
                                "fewer outputs in a graph of this size");
            m_shapes.byNode.emplace_back(count);
            HALFTONE_TRY(ops::Operator op, dialect::of(m_graph).read(node));
            m_ops.push_back(std::move(op));
            if (m_graph.isVariable(id) && id < variables.size())
                m_shapes.byNode[id][0] = variables[id];
            if (!m_graph.isVariable(id) && m_graph.inputs(id).empty())
                m_shapes.byNode[id][0] = dialect::of(m_graph).filledShape(m_graph, node);
        }
        m_settled.resize(m_graph.nodeCount());
        return {};
    }

    /// One sweep in either direction; true when it filled something in.
    Result<bool> sweep(bool forward)
    {
        bool changed = false;
        const auto count = static_cast<NodeId>(m_graph.nodeCount());
        for (NodeId k = 0; k < count; ++k) {
            const NodeId id = forward ? k : count - 1 - k;
            if (m_settled[id] || m_graph.isVariable(id))
                continue;
            HALFTONE_TRY(const bool filled, visit(id));
            changed = changed || filled;
        }
        return changed;
    }

    ShapeMap take() { return std::move(m_shapes); }

private:
    /// No more outputs than these are believed in, so that a small file cannot ask for much memory.
    static constexpr std::size_t kSpareOutputs = 1 << 18;
    static constexpr std::size_t kOutputsPerNode = 16;

    Result<bool> visit(NodeId id)
    {
        const std::span<const graph::Entry> entries = m_graph.inputs(id);
        m_inputs.clear();
        for (const graph::Entry &entry : entries)
            m_inputs.push_back(m_shapes.of(entry));
        std::vector<Shape> &outputs = m_shapes.byNode[id];
        auto outcome = infer(id, outputs);
        if (!outcome.ok())
            return atNode(id, std::move(outcome).error());
        bool changed = outcome.value();
        if (changed) {
            if (auto given = giveBack(id, entries); !given.ok())
                return std::move(given).error();
            m_inputs.clear();
            for (const graph::Entry &entry : entries)
                m_inputs.push_back(m_shapes.of(entry));
        }
        m_settled[id] = std::ranges::all_of(m_inputs, &Shape::isComplete)
            && std::ranges::all_of(outputs, &Shape::isComplete);
        return changed;
    }

    Result<bool> infer(NodeId id, std::vector<Shape> &outputs)
    {
        if (!m_graph.node(id).subgraphs.empty())
            return inferBodyShapes(m_graph, id, m_inputs, outputs, m_depth + 1);
        return ops::inferShapes(m_ops[id], m_inputs, outputs);
    }

    /// What the node learnt of its inputs, to those who make them. One entry may stand at several inputs.
    Result<void> giveBack(NodeId id, std::span<const graph::Entry> entries)
    {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            Shape &source = m_shapes.byNode[entries[i].node][entries[i].output];
            ops::ShapeSlots slots(std::span(&source, 1), {});
            if (auto outcome = slots.setInput(0, m_inputs[i]); !outcome.ok()) {
                Error error = std::move(outcome).error();
                error.where = "input " + std::to_string(i);
                return atNode(id, std::move(error));
            }
        }
        return {};
    }

    Error atNode(NodeId id, Error error) const
    {
        const graph::NodeDef &node = m_graph.node(id);
        error.found = node.op + ": " + (error.where.empty() ? "" : error.where + ": ") + error.found;
        error.where = node.name;
        return error;
    }

    const graph::Graph &m_graph;
    int m_depth;
    ShapeMap m_shapes;
    std::vector<ops::Operator> m_ops; ///< by NodeId
    std::vector<bool> m_settled; ///< nothing is left to learn there
    std::vector<Shape> m_inputs; ///< scratch, kept for its capacity
};

} // namespace

Result<ShapeMap> walkShapes(const graph::Graph &graph, std::span<const Shape> variables, int depth)
{
    // Shapes travel whole chains within a sweep, so few are needed; the bound keeps a hostile zigzag from
    // being quadratic, and nested bodies from multiplying.
    const int mostSweeps = depth == 0 ? 64 : 4;
    ShapeWalk walk(graph, depth);
    HALFTONE_CHECK(walk.seed(variables));
    // A quiet forward sweep says nothing of the way back.
    for (int k = 0, quiet = 0; k < mostSweeps && quiet < 2; ++k) {
        HALFTONE_TRY(const bool changed, walk.sweep(k % 2 == 0));
        quiet = changed ? 0 : quiet + 1;
    }
    return walk.take();
}

} // namespace halftone::infer
