#pragma once

#include "core/graph/graph.h"
#include "core/infer/type_map.h"
#include "core/tensor/cast_report.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace halftone::rewrite {

/// A type that amp_cast converts; every other type passes through it.
inline bool isCastable(tensor::DType type)
{
    return type == tensor::DType::F32 || tensor::isHalf(type);
}

inline constexpr graph::NodeId kNoNode = std::numeric_limits<graph::NodeId>::max();

/// Who reads a tensor.
struct Reader
{
    graph::NodeId node = kNoNode; ///< in the source graph; kNoNode: a head
    std::uint32_t input = 0; ///< of the node, or which head

    bool operator==(const Reader &) const = default;
};

/// What an inserted node does to the values that pass through it.
enum class CastKind : std::uint8_t
{
    Cast,
    Quantize, ///< `_contrib_quantize_v2`
    Dequantize ///< `_contrib_dequantize`; a cast behind it is another entry
};

/// One inserted cast and the edges that need it.
struct InsertedCast
{
    graph::NodeId cast = 0; ///< the amp_cast, amp_multicast or what `kind` says, in the converted graph
    graph::Entry tensor; ///< what it casts, in the source graph (a multicast: its first input)
    tensor::DType type = tensor::DType::Unknown; ///< Unknown for a multicast, which decides by itself
    std::vector<Reader> readers; ///< at least one; the first one needed it first
    CastKind kind = CastKind::Cast;
    /// Gives what a product has summed in float32 to those who read it so: part of the product, whose output type it is.
    bool ofAccumulator = false;
};

/// A node that is gone because another one computes the same.
struct MergedNode
{
    graph::NodeId node = 0; ///< in the source graph
    graph::NodeId into = 0; ///< the one that stands for it, in the source graph
};

/// A head that would have become the same tensor as an earlier one, and got a copy to stay a tensor of its own.
struct CopiedHead
{
    std::uint32_t head = 0;
    graph::NodeId copy = 0; ///< the `_copy` in the converted graph
};

/// A neutral or widest operator that computes in another type than it would by its inputs, so that casts stand before it instead of behind
/// it, or the other way round, or not at all.
struct MovedCasts
{
    graph::NodeId past = 0; ///< in the source graph
    tensor::DType type = tensor::DType::Unknown; ///< in which it computes now
};

/// An operator that no list binds to a type, and what the other type would have cost, all else as it is.
struct TypeChoice
{
    graph::NodeId node = 0; ///< in the source graph
    tensor::DType type = tensor::DType::Unknown; ///< that it computes in
    tensor::DType other = tensor::DType::Unknown;
    std::int64_t casts = 0; ///< more casts in the other type; negative: fewer
    std::int64_t bytes = 0; ///< that casts would read and write more; 0 where sizes are not known, too
    bool losesBits = false; ///< a value would lose bits that somebody reads: not allowed
};

/// Something that a person should know about one node.
struct NodeNote
{
    graph::NodeId node = 0; ///< in the source graph
    std::string text;
};

/// A parameter, or a constant that a node holds, whose storage type the conversion changes; of a held bound perhaps the value alone
/// (core/mixed/RULES.md, M-bounds), where `to` is `from`.
struct StoredParameter
{
    graph::NodeId variable = 0; ///< in the source graph; of a constant its node
    tensor::DType from = tensor::DType::Unknown;
    tensor::DType to = tensor::DType::Unknown;
    /// What that did to a constant, whose values are in the graph; nothing for a parameter.
    std::optional<tensor::CastReport> losses{};
    bool isClamped = false; ///< of a constant: what overflowed became the largest value of the type
    bool isHeld
        = false; ///< of a constant: a bound that would have become 0 is the smallest positive number of the type
};

/// How many casts there are, as reports tell it.
struct CastCounts
{
    std::size_t casts = 0; ///< amp_casts, but for those of accumulators
    std::size_t ofAccumulators = 0; ///< amp_casts that are a product's output type
    std::size_t multicasts = 0;
    std::size_t shared = 0; ///< further readers of amp_casts, beyond the one that each was made for
    std::size_t quantizes = 0;
    std::size_t dequantizes = 0;

    std::size_t all() const { return casts + ofAccumulators + multicasts + quantizes + dequantizes; }
};

struct ConvertedBody;

/// A converted graph and the log of all that was done to get it: applied to the source graph, the log gives `graph`
/// again (tests/core/mixed/tst_typed_properties.cpp).
struct Conversion
{
    graph::Graph graph;
    infer::TypeMap types; ///< of `graph`
    /// By source NodeId: its copy; kNoNode for a node that no head needs, that was folded or merged.
    std::vector<graph::NodeId> fromSource;
    std::vector<InsertedCast> casts; ///< in order of insertion
    std::vector<graph::NodeId> foldedCasts; ///< amp_casts and amp_multicasts of the source that are gone
    std::vector<MergedNode> merged;
    std::vector<MovedCasts> moved;
    std::vector<TypeChoice> choices; ///< in the order of nodes
    std::vector<CopiedHead> copiedHeads;
    std::vector<ConvertedBody> bodies;
    std::vector<StoredParameter> parameters;
    /// Parameters, in the source graph, that say their type in `__dtype__` because a cast that reads them does not tell it.
    std::vector<graph::NodeId> markedParameters;
    std::vector<NodeNote> notes;
    /// By source NodeId, of nodes that compute in int8: the one whose value the fused node gives, itself where it is that or
    /// alone; kNoNode for others. Only that one has a copy in `fromSource`. Empty: nothing is int8.
    std::vector<graph::NodeId> int8Group;

    bool isInt8(graph::NodeId source) const { return !int8Group.empty() && int8Group[source] != kNoNode; }
    /// The precision that a source node computes in now: I8 in an int8 operator, else the type of its first floating output,
    /// else of its first floating input; Unknown when neither is known or the node is gone.
    tensor::DType precisionOf(graph::NodeId source) const;

    /// Of the graph itself; those in bodies are counted there.
    CastCounts castCounts() const;
};

/// A body of control flow that was converted with the graph around it.
struct ConvertedBody
{
    graph::NodeId node = 0; ///< the control flow operator, in the source graph
    std::uint32_t body = 0; ///< which of its subgraphs
    Conversion conversion; ///< parameters: the body's variables that the node hands in in the target type
};

} // namespace halftone::rewrite
