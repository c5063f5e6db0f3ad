#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <span>
#include <vector>

namespace halftone::infer {

/// The element type of every output of every node of one graph; DType::Unknown where it is open.
class TypeMap
{
public:
    void reserve(std::size_t nodes);
    /// The outputs of the next node; call once a node, in order.
    void append(std::span<const tensor::DType> outputs);
    void append(tensor::DType output) { append(std::span(&output, 1)); }

    std::size_t nodeCount() const { return m_first.size() - 1; }
    tensor::DType of(const graph::Entry &entry) const { return at(entry.node, entry.output); }
    tensor::DType at(graph::NodeId node, std::uint32_t output) const;
    std::span<const tensor::DType> outputs(graph::NodeId node) const;
    std::span<tensor::DType> outputs(graph::NodeId node);

private:
    std::vector<std::uint32_t> m_first{0}; ///< of the outputs of each node, and the end
    std::vector<tensor::DType> m_types;
};

} // namespace halftone::infer
