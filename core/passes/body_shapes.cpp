#include "core/ops/shape_slots.h"
#include "core/passes/shape_walk.h"

#include <algorithm>

namespace halftone::passes {
namespace {

using graph::NodeId;
using tensor::Shape;

/// A body while its variables are being tied to the inputs of the node around it.
class Body
{
public:
    explicit Body(const graph::Graph &graph)
        : m_graph(graph)
        , m_given(graph.nodeCount())
    {
        for (NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.isVariable(id))
                m_variables.push_back(id);
        }
    }

    std::size_t outputCount() const { return m_graph.heads().size(); }
    bool hasVariable(std::int64_t position) const
    {
        return position >= 0 && static_cast<std::size_t>(position) < m_variables.size();
    }
    void give(std::int64_t position, const Shape &shape)
    {
        m_given[m_variables[static_cast<std::size_t>(position)]] = shape;
    }

    Result<void> run(int depth)
    {
        HALFTONE_TRY(m_shapes, walkShapes(m_graph, m_given, depth));
        return {};
    }
    const Shape &variable(std::int64_t position) const
    {
        return m_shapes.byNode[m_variables[static_cast<std::size_t>(position)]][0];
    }
    const Shape &output(std::size_t head) const { return m_shapes.of(m_graph.heads()[head]); }

private:
    const graph::Graph &m_graph;
    std::vector<NodeId> m_variables; ///< by position, as the node's location lists count them
    std::vector<Shape> m_given; ///< by NodeId
    ShapeMap m_shapes;
};

Shape withoutFirst(const Shape &shape)
{
    if (!shape.hasRank() || shape.rank() == 0)
        return {};
    return Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Shape withFirst(std::int64_t first, const Shape &shape)
{
    if (!shape.hasRank())
        return {};
    std::vector<std::int64_t> dims{first};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    return Shape(std::move(dims));
}

Error nowhere(std::string_view list, std::int64_t location)
{
    return badInput(std::string(list), std::to_string(location),
                    "a variable of the body, or an input of the node");
}

/// Ties body variables to node inputs one to one: variable variables[k] to input inputs[k].
struct Tie
{
    std::int64_t variable = 0;
    std::size_t input = 0;
    bool sliced = false; ///< the body sees one step along the first axis
};

Result<void> runTied(Body &body, std::span<const Tie> ties, ops::ShapeSlots &slots, int depth)
{
    for (const Tie &tie : ties) {
        if (!body.hasVariable(tie.variable) || tie.input >= slots.inputCount())
            return nowhere("body", tie.variable);
        const Shape &shape = slots.input(tie.input);
        body.give(tie.variable, tie.sliced ? withoutFirst(shape) : shape);
    }
    HALFTONE_CHECK(body.run(depth));
    for (const Tie &tie : ties) {
        const Shape &learnt = body.variable(tie.variable);
        HALFTONE_CHECK(slots.setInput(tie.input, tie.sliced ? withFirst(Shape::kUnknown, learnt) : learnt));
    }
    return {};
}

/// The number of steps, which every sliced input and stacked output tells.
std::int64_t stepCount(std::span<const Tie> ties, const ops::ShapeSlots &slots)
{
    for (const Tie &tie : ties) {
        const Shape &shape = slots.input(tie.input);
        if (tie.sliced && shape.hasRank() && shape.rank() > 0 && shape[0] >= 0)
            return shape[0];
    }
    return Shape::kUnknown;
}

Result<void> setOutputs(const Body &body, std::int64_t stacked, std::int64_t steps, ops::ShapeSlots &slots)
{
    for (std::size_t i = 0; i < std::min(body.outputCount(), slots.outputCount()); ++i) {
        const bool isStacked = static_cast<std::int64_t>(i) < stacked;
        HALFTONE_CHECK(slots.setOutput(i, isStacked ? withFirst(steps, body.output(i)) : body.output(i)));
    }
    return {};
}

Result<void> inferForEach(const graph::NodeDef &node, const ops::ControlFlow &flow, ops::ShapeSlots &slots,
                          int depth)
{
    Body body(*node.subgraphs[0]);
    std::vector<Tie> ties;
    for (const std::int64_t location : flow.dataLocations)
        ties.push_back({location, ties.size(), true});
    for (const ops::Dims *list : {&flow.stateLocations, &flow.bodyLocations}) {
        for (const std::int64_t location : *list)
            ties.push_back({location, ties.size(), false});
    }
    HALFTONE_CHECK(runTied(body, ties, slots, depth));
    return setOutputs(body, flow.dataOutputs, stepCount(ties, slots), slots);
}

/// Body number `index`, whose k-th variable is the node's input locations[k].
Result<Body> runBranch(const graph::NodeDef &node, std::size_t index, const ops::Dims &locations,
                       ops::ShapeSlots &slots, int depth)
{
    Body body(*node.subgraphs[index]);
    std::vector<Tie> ties;
    for (const std::int64_t location : locations) {
        if (location < 0)
            return nowhere("locations", location);
        ties.push_back({static_cast<std::int64_t>(ties.size()), static_cast<std::size_t>(location), false});
    }
    HALFTONE_CHECK(runTied(body, ties, slots, depth));
    return body;
}

Result<void> inferBranches(const graph::NodeDef &node, const ops::ControlFlow &flow, ops::ShapeSlots &slots,
                           int depth)
{
    HALFTONE_CHECK(runBranch(node, 0, flow.conditionLocations, slots, depth));
    HALFTONE_TRY(const Body body, runBranch(node, 1, flow.bodyLocations, slots, depth));
    HALFTONE_CHECK(setOutputs(body, flow.dataOutputs, flow.maxIterations, slots));
    if (flow.kind == ops::ControlFlow::Kind::WhileLoop)
        return {};
    HALFTONE_TRY(const Body other, runBranch(node, 2, flow.elseLocations, slots, depth));
    return setOutputs(other, 0, Shape::kUnknown, slots);
}

} // namespace

Result<bool> inferBodyShapes(const graph::NodeDef &node, const ops::ControlFlow &flow,
                             std::span<Shape> inputs, std::span<Shape> outputs, int depth)
{
    using Kind = ops::ControlFlow::Kind;
    const std::size_t needed = flow.kind == Kind::ForEach ? 1 : flow.kind == Kind::WhileLoop ? 2 : 3;
    if (depth > kMaxBodyDepth || node.subgraphs.size() < needed)
        return false;
    ops::ShapeSlots slots(inputs, outputs);
    if (flow.kind == Kind::ForEach)
        HALFTONE_CHECK(inferForEach(node, flow, slots, depth));
    else
        HALFTONE_CHECK(inferBranches(node, flow, slots, depth));
    return slots.changed();
}

} // namespace halftone::passes
