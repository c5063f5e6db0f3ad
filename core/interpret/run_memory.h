#pragma once

#include "core/interpret/settings.h"

/// Inside of GraphRunner: what a run is going to hold, by what its setting tells of shapes.
namespace halftone::interpret {

/// The most bytes of nodes' outputs at one time; those of open shapes count nothing.
/// order    of execution
/// readers  by NodeId: inputs and heads that read the node
std::size_t peakBytes(const graph::Graph &graph, std::span<const graph::NodeId> order,
                      std::span<const std::uint32_t> readers, const Setting &setting);

/// What the most demanding kernel takes for itself, about: its data and weights once more, in float32. Kernels without weights need
/// nothing to speak of.
/// constants  by NodeId; empty: none
std::size_t scratchBytes(const graph::Graph &graph, std::span<const graph::NodeId> order,
                         std::span<const tensor::Tensor> constants, const Setting &setting);

} // namespace halftone::interpret
