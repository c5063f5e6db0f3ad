#pragma once

#include "core/compare/layer_compare.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// One int8 layer alone, for isolated effects: what it reads in the reference, as reals, is quantized with the ranges that
/// the other model uses there, the layer computes on codes, and its result is dequantized.
namespace halftone::compare {

struct Int8Layer
{
    graph::Model model; ///< inputs as inputName() says, in the order of `reads`; one head, float32
    std::vector<graph::Entry> reads; ///< values of the reference
};

std::string inputName(std::size_t k);

/// The layer whose value `node` of the reference gives. Fused nodes are one layer: it belongs to the node whose value the
/// fused one gives (ComparedModels::int8Group), and the others have none.
/// Nothing for other nodes; for a value that is not float32; for one whose codes count in a parameter's range.
std::optional<Int8Layer> int8Layer(const ComparedModels &models, graph::NodeId node);

/// Do both compute the same from the same? Parameters are compared by their bits.
bool areSame(const Int8Layer &a, const Int8Layer &b);

/// Values that int8 layers of several nodes read, from when they are there to when the last node's turn has come.
class Int8Reads
{
public:
    explicit Int8Reads(const ComparedModels &models);

    /// Is `node` part of an int8 layer, so that keep() wants what it reads?
    bool isPart(graph::NodeId node) const
    {
        return !m_models.int8Group.empty() && m_models.int8Group[node] != rewrite::kNoNode;
    }
    void clear() { m_kept.clear(); } ///< before a batch
    /// Before `node` is computed.
    void keep(graph::NodeId node, std::span<const tensor::Tensor> inputs);
    /// What the layer of `node` reads, each once; empty where there is none. They are not kept for it any longer.
    std::vector<tensor::Tensor> take(graph::NodeId node);
    std::size_t bytes() const;

private:
    using Place = std::pair<graph::NodeId, std::uint32_t>;
    struct Kept
    {
        tensor::Tensor value;
        std::size_t layers = 0; ///< whose turn has not come
    };

    const ComparedModels &m_models;
    std::map<graph::NodeId, std::vector<graph::Entry>> m_reads; ///< by layer
    std::map<Place, std::size_t> m_layers; ///< how many layers read a value
    std::map<Place, Kept> m_kept;
};

} // namespace halftone::compare
