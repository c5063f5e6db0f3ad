#pragma once

#include "core/graph/graph.h"
#include "core/passes/type_map.h"
#include "core/tensor/dtype.h"

#include <limits>
#include <string>
#include <vector>

namespace halftone::passes {

inline constexpr graph::NodeId kNoNode = std::numeric_limits<graph::NodeId>::max();

/// One inserted cast and the edge that needed it first.
struct InsertedCast
{
    graph::NodeId cast = 0; ///< the amp_cast or amp_multicast in the converted graph
    graph::Entry tensor; ///< what it casts, in the source graph (a multicast: its first input)
    graph::NodeId consumer = kNoNode; ///< source node that asked for it; kNoNode: a head
    std::uint32_t input = 0; ///< which input of the consumer, or which head
    std::uint32_t consumers = 1; ///< how many inputs and heads read it
    tensor::DType type = tensor::DType::Unknown; ///< Unknown for a multicast, which decides by itself
};

/// Something that a person should know about one node.
struct NodeNote
{
    graph::NodeId node = 0; ///< in the source graph
    std::string text;
};

/// A parameter whose storage type the conversion changes.
struct StoredParameter
{
    graph::NodeId variable = 0; ///< in the source graph
    tensor::DType from = tensor::DType::Unknown;
    tensor::DType to = tensor::DType::Unknown;
};

/// How many casts there are, as reports tell it.
struct CastCounts
{
    std::size_t casts = 0; ///< amp_casts
    std::size_t multicasts = 0;
    std::size_t shared = 0; ///< further readers of amp_casts, beyond the one that each was made for
};

/// A converted graph and what was done to get it.
struct Conversion
{
    graph::Graph graph;
    TypeMap types; ///< of `graph`
    std::vector<graph::NodeId>
        fromSource; ///< by source NodeId: its copy; kNoNode for a node that no head needs
    std::vector<InsertedCast> casts; ///< in order of insertion
    std::vector<StoredParameter> parameters;
    std::vector<NodeNote> notes;

    /// The precision that a source node computes in now: the type of its first floating output, else of its
    /// first floating input; Unknown when neither is known or the node is gone.
    tensor::DType precisionOf(graph::NodeId source) const;

    CastCounts castCounts() const;
};

} // namespace halftone::passes
