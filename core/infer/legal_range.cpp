#include "core/infer/legal_range.h"

#include "core/dialect/dialect.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace halftone::infer {
namespace {

using graph::NodeId;
using tensor::Shape;

std::int64_t extentOf(const Shape &shape, std::int64_t axis)
{
    if (!shape.hasRank())
        return 1;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    return at >= 0 && at < rank ? shape[static_cast<std::size_t>(at)] : 1;
}

/// The least extent of the axes that tuples of the indices name.
std::int64_t leastExtent(const Shape &data, std::int64_t from, std::int64_t count)
{
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t axis = from; axis < from + count; ++axis)
        least = std::min(least, extentOf(data, axis));
    return least;
}

/// Does the operator give the elements of its first input, in whatever order?
bool passesOn(const ops::Operator &op)
{
    const auto *const unary = op.getIf<ops::Unary>();
    return op.is<ops::Cast>() || op.is<ops::Reshape>() || op.is<ops::Flatten>() || op.is<ops::Unsqueeze>()
        || op.is<ops::Squeeze>() || op.is<ops::Transpose>() || op.is<ops::SwapAxes>() || op.is<ops::Slice>()
        || op.is<ops::Split>() || op.is<ops::Concat>() || op.is<ops::Stack>() || op.is<ops::Tile>()
        || op.is<ops::Repeat>() || op.is<ops::Reverse>() || op.is<ops::Expand>() || op.is<ops::Dropout>()
        || (unary != nullptr && unary->kind == ops::UnaryKind::Identity);
}

class Readers
{
public:
    Readers(const graph::Graph &graph, const ShapeMap &shapes)
        : m_graph(graph)
        , m_shapes(shapes)
    {
    }

    LegalRange of(NodeId variable)
    {
        LegalRange range;
        std::unordered_set<NodeId> seen{variable};
        std::vector<NodeId> open{variable};
        while (!open.empty()) {
            const NodeId value = open.back();
            open.pop_back();
            for (NodeId reader = 0; reader < m_graph.nodeCount(); ++reader) {
                const auto inputs = m_graph.inputs(reader);
                for (std::size_t k = 0; k < inputs.size(); ++k) {
                    if (inputs[k].node != value)
                        continue;
                    const auto op = dialect::of(m_graph).readWith(m_graph.node(reader), {});
                    if (!op.ok())
                        continue;
                    narrow(op.value(), reader, k, range);
                    if (passesOn(op.value()) && seen.insert(reader).second)
                        open.push_back(reader);
                }
            }
        }
        return range;
    }

private:
    Shape shapeOf(NodeId reader, std::size_t input) const
    {
        const auto inputs = m_graph.inputs(reader);
        return input < inputs.size() ? m_shapes.of(inputs[input]) : Shape();
    }

    /// By what `reader` wants of its input k.
    void narrow(const ops::Operator &op, NodeId reader, std::size_t k, LegalRange &range) const
    {
        const Shape data = shapeOf(reader, 0);
        const Shape indices = shapeOf(reader, 1);
        if (const auto *take = op.getIf<ops::Gather>(); take && k == 1)
            range.narrow(0, extentOf(data, take->axis) - 1);
        else if (op.is<ops::Embedding>() && k == 0)
            range.narrow(0, extentOf(indices, 0) - 1);
        else if (const auto *gather = op.getIf<ops::GatherElements>(); gather && k == 1)
            range.narrow(0, extentOf(data, gather->axis) - 1);
        else if (const auto *scatter = op.getIf<ops::ScatterElements>(); scatter && k == 1)
            range.narrow(0, extentOf(data, scatter->axis) - 1);
        else if (const auto *tuples = op.getIf<ops::GatherND>(); tuples && k == 1)
            range.narrow(
                0, leastExtent(data, tuples->batchAxes, extentOf(indices, tuples->byRows ? 0 : -1)) - 1);
        else if (op.is<ops::ScatterND>() && k == 1)
            range.narrow(0, leastExtent(data, 0, extentOf(indices, -1)) - 1);
        else if (const auto *pick = op.getIf<ops::Pick>(); pick && k == 1)
            range.narrow(0, extentOf(data, pick->axis) - 1);
        else if (op.is<ops::BatchTake>() && k == 1)
            range.narrow(0, extentOf(data, 1) - 1);
        else
            narrowByCount(op, reader, k, range);
    }

    void narrowByCount(const ops::Operator &op, NodeId reader, std::size_t k, LegalRange &range) const
    {
        if (const auto *hot = op.getIf<ops::OneHot>(); hot && k == 0 && hot->depth > 0)
            range.narrow(0, hot->depth - 1);
        else if (op.is<ops::RotaryEmbedding>() && k == 3)
            range.narrow(0, extentOf(shapeOf(reader, 1), 0) - 1);
        else if (op.is<ops::Sequence>()) // lengths: all steps
            range.narrow(extentOf(shapeOf(reader, 0), 0), extentOf(shapeOf(reader, 0), 0));
        else if (const auto *layer = op.getIf<ops::Recurrence>();
                 layer && layer->hasLengths && k == layer->lengthsInput()) {
            const std::int64_t steps = extentOf(shapeOf(reader, 0), layer->batchFirst ? 1 : 0);
            range.narrow(steps, steps);
        }
    }

    const graph::Graph &m_graph;
    const ShapeMap &m_shapes;
};

} // namespace

LegalRange legalRange(const graph::Graph &graph, const ShapeMap &shapes, NodeId variable)
{
    return Readers(graph, shapes).of(variable);
}

} // namespace halftone::infer
