#include "core/mixed/chip_clock.h"

#include "core/dialect/dialect.h"
#include "core/hardware/operator_unit.h"
#include "core/mixed/node_arithmetic.h"

#include <algorithm>
#include <vector>

namespace halftone::mixed {
namespace {

/// Of a node whose values are all float32.
std::optional<ops::Cost> costOf(const ops::Operator &op, const graph::Graph &graph, graph::NodeId node,
                                const infer::ShapeMap &shapes)
{
    std::vector<tensor::Shape> inputs;
    for (const graph::Entry &entry : graph.inputs(node)) {
        const auto &given = shapes.byNode[entry.node];
        inputs.push_back(entry.output < given.size() ? given[entry.output] : tensor::Shape());
    }
    const auto &outputs = shapes.byNode[node];
    const std::vector<std::size_t> sizesIn(inputs.size(), sizeof(float));
    const std::vector<std::size_t> sizesOut(outputs.size(), sizeof(float));
    return ops::cost(op, inputs, outputs, sizesIn, sizesOut);
}

} // namespace

ChipClock::ChipClock(const hardware::Description &chip, const graph::Graph &graph,
                     const infer::ShapeMap &shapes)
    : m_chip(chip)
    , m_graph(graph)
    , m_shapes(shapes)
    , m_perByte(chip.gigaflops && chip.bandwidth ? *chip.gigaflops / *chip.bandwidth : kOperationsPerByte)
{
}

double ChipClock::timeOf(graph::NodeId node, tensor::DType type) const
{
    const auto op = dialect::of(m_graph).read(m_graph.node(node));
    const auto unit = op.ok() ? hardware::unitOf(op.value()) : std::nullopt;
    const auto cost = unit ? costOf(op.value(), m_graph, node, m_shapes) : std::nullopt;
    if (!cost)
        return 0;
    const auto bytes = static_cast<double>(cost->bytes);
    const double work = static_cast<double>(cost->flops) / m_perByte;
    if (type == tensor::DType::F32)
        return std::max(bytes, work);
    if (const auto found = m_chip.measuredSpeed(*unit, type))
        return std::max(bytes, work) / *found;
    const double share = static_cast<double>(tensor::sizeOf(type)) / sizeof(float);
    return std::max(bytes * share, work / m_chip.rate(*unit, type));
}

bool ChipClock::isProduct(graph::NodeId node) const
{
    const auto unit = unitOf(m_graph, node);
    return unit && hardware::isProduct(*unit);
}

} // namespace halftone::mixed
