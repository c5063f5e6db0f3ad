#include "core/mixed/node_arithmetic.h"

#include "core/dialect/dialect.h"
#include "core/hardware/operator_unit.h"

namespace halftone::mixed {
namespace {

using graph::NodeId;
using hardware::Unit;
using tensor::DType;

/// By source NodeId: do all that read the node read its accumulator, by a cast?
std::vector<bool> readByAccumulator(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    std::vector<bool> givesAccumulator(conversion.graph.nodeCount());
    for (const rewrite::InsertedCast &cast : conversion.casts) {
        if (cast.ofAccumulator)
            givesAccumulator[cast.cast] = true;
    }
    std::vector<bool> isReadOtherwise(conversion.graph.nodeCount());
    for (const graph::Entry &head : conversion.graph.heads())
        isReadOtherwise[head.node] = true;
    for (NodeId id = 0; id < conversion.graph.nodeCount(); ++id) {
        for (const graph::Entry &entry : conversion.graph.inputs(id))
            isReadOtherwise[entry.node] = isReadOtherwise[entry.node] || !givesAccumulator[id];
    }
    std::vector<bool> isRead(source.nodeCount());
    for (const rewrite::InsertedCast &cast : conversion.casts) {
        if (cast.ofAccumulator)
            isRead[cast.tensor.node] = !isReadOtherwise[conversion.fromSource[cast.tensor.node]];
    }
    return isRead;
}

class ArithmeticOfNodes
{
public:
    ArithmeticOfNodes(const graph::Graph &source, const ConvertedModel &converted)
        : m_source(source)
        , m_converted(converted)
        , m_asked(askedAccumulator(converted))
        , m_readByAccumulator(readByAccumulator(source, converted.conversion))
    {
    }

    NodeArithmetic tell(NodeId id) const
    {
        NodeArithmetic one;
        if (m_source.isVariable(id))
            return one;
        one.unit = unitOf(m_source, id);
        one.compute = m_converted.conversion.precisionOf(id);
        one.accumulate
            = one.unit ? accumulatorOf(*one.unit, one.compute, m_converted.chip.get(), m_asked) : one.compute;
        one.output = m_readByAccumulator[id] ? one.accumulate : one.compute;
        return one;
    }

private:
    const graph::Graph &m_source;
    const ConvertedModel &m_converted;
    DType m_asked;
    std::vector<bool> m_readByAccumulator;
};

} // namespace

std::optional<Unit> unitOf(const graph::Graph &graph, NodeId id)
{
    const auto op = dialect::of(graph).readKind(graph.node(id));
    return op.ok() ? hardware::unitOf(op.value()) : std::nullopt;
}

DType askedAccumulator(const ConvertedModel &converted)
{
    const bool isWide = converted.policy.mode == policy::Mode::Tvm && !converted.chip;
    return converted.policy.accumulate.value_or(isWide ? DType::F32 : DType::Unknown);
}

DType accumulatorOf(Unit unit, DType type, const hardware::Description *chip, DType asked)
{
    if (type == DType::I8)
        return DType::I32;
    if (!tensor::isHalf(type) || unit == Unit::Movement)
        return type;
    if (hardware::isProduct(unit) && asked != DType::Unknown)
        return asked;
    if (const DType best = chip ? chip->accumulator(unit, type) : DType::Unknown; best != DType::Unknown)
        return best;
    return unit == Unit::Elementwise ? type : DType::F32;
}

std::vector<NodeArithmetic> arithmeticOf(const graph::Graph &source, const ConvertedModel &converted)
{
    const ArithmeticOfNodes nodes(source, converted);
    std::vector<NodeArithmetic> all;
    for (NodeId id = 0; id < source.nodeCount(); ++id)
        all.push_back(nodes.tell(id));
    return all;
}

NodeArithmetic arithmeticOf(const graph::Graph &source, const ConvertedModel &converted, NodeId id)
{
    return ArithmeticOfNodes(source, converted).tell(id);
}

} // namespace halftone::mixed
