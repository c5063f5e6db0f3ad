#pragma once

#include "core/compare/layer_compare.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// A single int8 layer for isolated errors: its inputs in the reference are quantized with the ranges of the other model, the layer computes on
/// codes, and its result is dequantized.
namespace halftone::compare {

struct Int8Layer
{
    graph::Model model; ///< inputs named by inputName(), in the order of `reads`; one float32 head
    std::vector<graph::Entry> reads; ///< values of the reference
};

std::string inputName(std::size_t k);

/// The int8 layer that produces the value of `node`. Fused nodes form one layer, which belongs to the node whose value the fused node has
/// (ComparedModels::int8Group). Absent for other nodes, values that are not float32, and values whose codes use the range of a parameter.
std::optional<Int8Layer> int8Layer(const ComparedModels &models, graph::NodeId node);

/// Do both compute the same? Parameters are compared by their bits.
bool areSame(const Int8Layer &a, const Int8Layer &b);

/// Values that int8 layers of several nodes read, kept until the last of these layers is done.
class Int8Reads
{
public:
    explicit Int8Reads(const ComparedModels &models);

    /// Is `node` part of an int8 layer? Then its inputs are passed to keep().
    bool isPart(graph::NodeId node) const
    {
        return !m_models.int8Group.empty() && m_models.int8Group[node] != rewrite::kNoNode;
    }
    void clear() { m_kept.clear(); } ///< call before a batch
    /// Call before `node` is computed.
    void keep(graph::NodeId node, std::span<const tensor::Tensor> inputs);
    /// The inputs of the layer of `node`, each once; empty without a layer. They are no longer kept for it.
    std::vector<tensor::Tensor> take(graph::NodeId node);
    std::size_t bytes() const;

private:
    using Place = std::pair<graph::NodeId, std::uint32_t>;
    struct Kept
    {
        tensor::Tensor value;
        std::size_t layers = 0; ///< that still read it
    };

    const ComparedModels &m_models;
    std::map<graph::NodeId, std::vector<graph::Entry>> m_reads; ///< by layer
    std::map<Place, std::size_t> m_layers; ///< how many layers read a value
    std::map<Place, Kept> m_kept;
};

} // namespace halftone::compare
