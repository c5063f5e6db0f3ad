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

/// A type that amp_cast converts; other types pass through.
inline bool isCastable(tensor::DType type)
{
    return type == tensor::DType::F32 || tensor::isHalf(type);
}

inline constexpr graph::NodeId kNoNode = std::numeric_limits<graph::NodeId>::max();

/// A reader of a tensor.
struct Reader
{
    graph::NodeId node = kNoNode; ///< in the source graph; kNoNode: an output of the graph
    std::uint32_t input = 0; ///< input of the node, or index of the output

    bool operator==(const Reader &) const = default;
};

/// The kind of an inserted node.
enum class CastKind : std::uint8_t
{
    Cast,
    Quantize, ///< `_contrib_quantize_v2`
    Dequantize ///< `_contrib_dequantize`; a cast after it is a separate entry
};

/// An inserted cast and its readers.
struct InsertedCast
{
    graph::NodeId cast
        = 0; ///< the inserted node (amp_cast, amp_multicast, … by `kind`) in the converted graph
    graph::Entry tensor; ///< the cast tensor in the source graph (for a multicast its first input)
    tensor::DType type
        = tensor::DType::Unknown; ///< Unknown for a multicast, whose type depends on its inputs
    std::vector<Reader> readers; ///< at least one, in order of need
    CastKind kind = CastKind::Cast;
    /// Converts the float32 sum of a product to its output type; part of the product.
    bool ofAccumulator = false;
};

/// A node that was merged into another one that computes the same.
struct MergedNode
{
    graph::NodeId node = 0; ///< in the source graph
    graph::NodeId into = 0; ///< the remaining one, in the source graph
};

/// An output that would have been the same tensor as an earlier one, and got a copy instead.
struct CopiedHead
{
    std::uint32_t head = 0;
    graph::NodeId copy = 0; ///< the `_copy` in the converted graph
};

/// A neutral or widest operator that computes in another type than that of its inputs, so that casts move from one side to the other or
/// disappear.
struct MovedCasts
{
    graph::NodeId past = 0; ///< in the source graph
    tensor::DType type = tensor::DType::Unknown; ///< the type it computes in now
};

/// An operator that may compute in either type, and the cost of the other one.
struct TypeChoice
{
    graph::NodeId node = 0; ///< in the source graph
    tensor::DType type = tensor::DType::Unknown; ///< the type it computes in
    tensor::DType other = tensor::DType::Unknown;
    std::int64_t casts = 0; ///< additional casts in the other type; negative: fewer
    std::int64_t bytes = 0; ///< additional bytes read and written by casts; also 0 if sizes are unknown
    bool losesBits = false; ///< not allowed: a reader needs bits that would be lost
};

/// A remark about one node.
struct NodeNote
{
    graph::NodeId node = 0; ///< in the source graph
    std::string text;
};

/// A parameter, or a constant of a node, whose storage type the conversion changes. A held bound (core/mixed/RULES.md,
/// M-bounds) may change its value alone: then `to` is `from`.
struct StoredParameter
{
    graph::NodeId variable = 0; ///< in the source graph; for a constant its node
    tensor::DType from = tensor::DType::Unknown;
    tensor::DType to = tensor::DType::Unknown;
    /// Losses of a constant, whose values are in the graph; absent for a parameter.
    std::optional<tensor::CastReport> losses{};
    bool isClamped = false; ///< for a constant: overflowing values became the largest value of the type
    bool isHeld
        = false; ///< for a constant: a bound that would have become 0 is the smallest positive value of the type
};

/// Numbers of casts for reports.
struct CastCounts
{
    std::size_t casts = 0; ///< amp_casts, except those of accumulators
    std::size_t ofAccumulators = 0; ///< amp_casts that set the output type of a product
    std::size_t multicasts = 0;
    std::size_t shared = 0; ///< additional readers of amp_casts, beyond the first of each
    std::size_t quantizes = 0;
    std::size_t dequantizes = 0;

    std::size_t all() const { return casts + ofAccumulators + multicasts + quantizes + dequantizes; }
};

struct ConvertedBody;

/// A converted graph with the log of all changes. Applying the log to the source graph gives `graph`
/// (tests/core/mixed/tst_typed_properties.cpp).
struct Conversion
{
    graph::Graph graph;
    infer::TypeMap types; ///< types of `graph`
    /// By source NodeId: its copy; kNoNode for a node that is not needed, or was folded or merged.
    std::vector<graph::NodeId> fromSource;
    std::vector<InsertedCast> casts; ///< in order of insertion
    std::vector<graph::NodeId> foldedCasts; ///< removed amp_casts and amp_multicasts of the source
    std::vector<MergedNode> merged;
    std::vector<MovedCasts> moved;
    std::vector<TypeChoice> choices; ///< in the order of nodes
    std::vector<CopiedHead> copiedHeads;
    std::vector<ConvertedBody> bodies;
    std::vector<StoredParameter> parameters;
    /// Parameters of the source graph that declare their type in `__dtype__`, because their cast does not determine it.
    std::vector<graph::NodeId> markedParameters;
    std::vector<NodeNote> notes;
    /// By source NodeId, for int8 nodes: the node of the fused group whose value is its result (the node itself if not fused); kNoNode
    /// for others. Only that node has a copy in `fromSource`. Empty: nothing is in int8.
    std::vector<graph::NodeId> int8Group;

    bool isInt8(graph::NodeId source) const { return !int8Group.empty() && int8Group[source] != kNoNode; }
    /// The precision of a source node after conversion: I8 in an int8 operator, otherwise the type of its first floating-point output
    /// or input; Unknown if neither is known or the node was removed.
    tensor::DType precisionOf(graph::NodeId source) const;

    /// Counts for the graph itself, without bodies.
    CastCounts castCounts() const;
};

/// A control flow body, converted with its enclosing graph.
struct ConvertedBody
{
    graph::NodeId node = 0; ///< the control flow operator, in the source graph
    std::uint32_t body = 0; ///< index of the subgraph
    Conversion conversion; ///< its parameters: variables of the body that are passed in the target type
};

} // namespace halftone::rewrite
