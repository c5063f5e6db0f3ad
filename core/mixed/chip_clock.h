#pragma once

#include "core/graph/graph.h"
#include "core/hardware/description.h"
#include "core/infer/infer_shapes.h"
#include "core/ops/cost.h"

#include <optional>

namespace halftone::mixed {

/// Of a chip of which only ratios are known: a middling CPU core does about as many operations in float32 while a byte comes from memory.
inline constexpr double kOperationsPerByte = 16;

/// The time that a chip takes for an operator, by its description, told as the bytes that memory moves meanwhile: those that the operator
/// reads and writes or, where that is more, its operations over the chip's operations a byte (peak over bandwidth; kOperationsPerByte where
/// the description says none) and over the rate of its unit in that type. Where a machine was measured (hardware::Measurement), a narrow type
/// takes the time of float32 over the speed that was found.
class ChipClock
{
public:
    /// All must outlive this. `shapes` of the graph.
    ChipClock(const hardware::Description &chip, const graph::Graph &graph, const infer::ShapeMap &shapes);

    /// Of a node that reads and gives `type`; 0 for what needs no unit, and where shapes are open.
    double timeOf(graph::NodeId node, tensor::DType type) const;
    /// A convolution or a product of matrices.
    bool isProduct(graph::NodeId node) const;

private:
    const hardware::Description &m_chip;
    const graph::Graph &m_graph;
    const infer::ShapeMap &m_shapes;
    double m_perByte; ///< operations in float32 while a byte comes from memory
};

} // namespace halftone::mixed
