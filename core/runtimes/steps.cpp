#include "core/runtimes/steps.h"

#include "core/base/text.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/ops/cost.h"
#include "core/runtimes/node_names.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace halftone::runtimes {
namespace {

using graph::NodeId;
using kernels::PlanStep;
using kernels::StepKind;

constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

StepKind kindOf(const std::string &op)
{
    const std::string name = lowerCase(op);
    return name.starts_with("cast") || name.starts_with("convert") ? StepKind::Cast
        : name.starts_with("reorder")                              ? StepKind::Reorder
                                                                   : StepKind::Runtime;
}

class StepMaker
{
public:
    explicit StepMaker(const infer::TypedModel &model)
        : m_model(model)
        , m_graph(model.model.graph)
        , m_names(m_graph)
        , m_rowOf(m_graph.nodeCount(), kNoRow)
    {
    }

    std::vector<PlanStep> make(const std::vector<RecordedRow> &rows)
    {
        for (const RecordedRow &row : rows)
            add(row);
        addRest();
        return std::move(m_steps);
    }

private:
    void add(const RecordedRow &row)
    {
        PlanStep &step = m_steps.emplace_back();
        step.op = row.op;
        step.dtype = row.type;
        step.kernel = row.kernel;
        step.told = row.told;
        const auto named = m_names.find(row.name);
        const StepKind own = kindOf(row.op); // if the runtime has added it
        const bool isAdded
            = named && (m_graph.isVariable(named->node) || (named->isFreed && own == StepKind::Cast));
        if (named && !isAdded)
            return describe(step, named->node);
        step.kind = own;
        step.told = row.name + (row.told.empty() || row.told == row.kernel ? "" : ": " + row.told);
        if (named)
            step.nodes.push_back(m_graph.node(named->node).name);
    }

    void describe(PlanStep &step, NodeId node)
    {
        std::vector<NodeId> nodes = take(node);
        if (nodes.empty())
            nodes.push_back(node); // another row of a node that has one
        NodeId main = node;
        double most = 0;
        for (const NodeId id : nodes) {
            step.nodes.push_back(m_graph.node(id).name);
            step.casts += isCast(id) ? 1 : 0;
            const double flops = flopsOf(id);
            step.flops += flops;
            if (flops > most) {
                most = flops;
                main = id;
            }
        }
        step.op = m_graph.node(main).op;
        step.asked = askedType(m_model, main);
        step.kind = step.casts == nodes.size() ? StepKind::Cast : StepKind::Compute;
    }

    /// The node and all before it that belong to no row so far, in the graph's order; they belong to the last row now.
    std::vector<NodeId> take(NodeId node)
    {
        std::vector<NodeId> found;
        std::vector<NodeId> open{node};
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            if (m_graph.isVariable(id) || m_rowOf[id] != kNoRow)
                continue;
            m_rowOf[id] = m_steps.size() - 1;
            found.push_back(id);
            for (const graph::Entry &input : m_graph.inputs(id))
                open.push_back(input.node);
        }
        std::ranges::sort(found);
        return found;
    }

    /// Nodes that are computed within those before them.
    void addRest()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (m_graph.isVariable(id) || m_rowOf[id] != kNoRow)
                continue;
            for (const graph::Entry &input : m_graph.inputs(id))
                if (m_rowOf[input.node] != kNoRow)
                    m_rowOf[id] = m_rowOf[input.node];
            if (m_rowOf[id] == kNoRow)
                continue;
            m_steps[m_rowOf[id]].nodes.push_back(m_graph.node(id).name);
            m_steps[m_rowOf[id]].casts += isCast(id) ? 1 : 0;
        }
    }

    bool isCast(NodeId id) const { return dialect::isCast(dialect::roleOf(m_graph, id)); }

    double flopsOf(NodeId id) const
    {
        const auto op = dialect::of(m_graph).readKind(m_graph.node(id));
        if (!op.ok() || id >= m_model.shapes.byNode.size())
            return 0;
        std::vector<tensor::Shape> inputs;
        for (const graph::Entry &input : m_graph.inputs(id))
            inputs.push_back(m_model.shapes.of(input));
        return ops::flops(op.value(), inputs, m_model.shapes.byNode[id]).value_or(0);
    }

    const infer::TypedModel &m_model;
    const graph::Graph &m_graph;
    NodeNames m_names;
    std::vector<std::size_t> m_rowOf; ///< by NodeId
    std::vector<PlanStep> m_steps;
};

} // namespace

tensor::DType askedType(const infer::TypedModel &model, NodeId node)
{
    const graph::Graph &graph = model.model.graph;
    const auto inputs = graph.inputs(node);
    if (inputs.empty())
        return model.types.at(node, 0);
    const dialect::CodedPairs *const pairs = dialect::codedPairsOf(dialect::of(graph));
    const NodeId before = inputs[0].node;
    const bool isDecoded = pairs != nullptr && !graph.isVariable(before)
        && pairs->isDecode(graph.node(before)) && !pairs->isLikePairNode(graph.node(node));
    return isDecoded && !graph.inputs(before).empty() ? model.types.of(graph.inputs(before)[0])
                                                      : model.types.of(inputs[0]);
}

std::vector<PlanStep> stepsOf(const infer::TypedModel &model, const std::vector<RecordedRow> &rows)
{
    return StepMaker(model).make(rows);
}

} // namespace halftone::runtimes
