#include "core/mixed/node_arithmetic.h"

#include "core/dialect/dialect.h"
#include "core/hardware/operator_unit.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using hardware::Unit;
using tensor::DType;

bool isProduct(Unit unit)
{
    return unit == Unit::Conv || unit == Unit::Gemm;
}

/// Casts that give the accumulator of what they read: by source NodeId, do all readers of the node read one?
std::vector<bool> readByAccumulator(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    std::vector<bool> isRead(source.nodeCount(), false);
    for (const rewrite::InsertedCast &cast : conversion.casts) {
        if (!cast.ofAccumulator)
            continue;
        const NodeId node = conversion.fromSource[cast.tensor.node];
        bool isAll = true;
        for (NodeId id = 0; id < conversion.graph.nodeCount() && isAll; ++id) {
            for (const graph::Entry &entry : conversion.graph.inputs(id))
                isAll &= entry.node != node || id == cast.cast;
        }
        isRead[cast.tensor.node] = isAll
            && std::ranges::none_of(conversion.graph.heads(),
                                    [node](const auto &head) { return head.node == node; });
    }
    return isRead;
}

class Teller
{
public:
    Teller(const graph::Graph &source, const ConvertedModel &converted)
        : m_source(source)
        , m_converted(converted)
        , m_asked(converted.policy.accumulate.value_or(
              converted.policy.mode == policy::Mode::Tvm && !converted.chip ? DType::F32 : DType::Unknown))
        , m_readByAccumulator(readByAccumulator(source, converted.conversion))
    {
    }

    NodeArithmetic tell(NodeId id) const
    {
        NodeArithmetic one;
        if (m_source.isVariable(id))
            return one;
        const auto op = dialect::of(m_source).readKind(m_source.node(id));
        one.unit = op.ok() ? hardware::unitOf(op.value()) : std::nullopt;
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

DType accumulatorOf(Unit unit, DType type, const hardware::Description *chip, DType asked)
{
    if (type == DType::I8)
        return DType::I32;
    if (!tensor::isHalf(type) || unit == Unit::Movement)
        return type;
    if (isProduct(unit) && asked != DType::Unknown)
        return asked;
    if (const DType best = chip ? chip->accumulator(unit, type) : DType::Unknown; best != DType::Unknown)
        return best;
    return unit == Unit::Elementwise ? type : DType::F32;
}

std::vector<NodeArithmetic> arithmeticOf(const graph::Graph &source, const ConvertedModel &converted)
{
    const Teller teller(source, converted);
    std::vector<NodeArithmetic> all;
    for (NodeId id = 0; id < source.nodeCount(); ++id)
        all.push_back(teller.tell(id));
    return all;
}

NodeArithmetic arithmeticOf(const graph::Graph &source, const ConvertedModel &converted, NodeId id)
{
    return Teller(source, converted).tell(id);
}

} // namespace halftone::mixed
