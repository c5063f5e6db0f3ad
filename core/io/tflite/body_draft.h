#pragma once

#include "core/graph/graph.h"
#include "core/io/tflite/source.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::io::tflite {

/// Builds what a node computes as a graph of operators on reals: codes are decoded on the way in, and coded on the way out.
class BodyDraft
{
public:
    using Inputs = std::span<const graph::Entry>;

    /// `inputs`: by position, as `node.slots` has them; all live as long as the draft.
    BodyDraft(const graph::NodeDef &node, std::span<const TensorFacts *const> inputs,
              std::span<const TensorFacts *const> outputs);

    const graph::NodeDef &node() const { return m_node; }
    bool has(std::size_t slot) const { return position(slot).has_value(); }
    /// Needs: has(slot)
    const TensorFacts &facts(std::size_t slot) const { return *m_inputs[*position(slot)]; }
    const TensorFacts &outputFacts(std::size_t output) const { return *m_outputs[output]; }
    std::size_t outputCount() const { return m_outputs.size(); }
    /// An option as an integer; 0 where it is not written.
    std::int64_t option(std::string_view key) const;
    float realOption(std::string_view key) const;

    // --- values. Needs: has(slot)
    graph::Entry raw(std::size_t slot); ///< as it comes
    graph::Entry
    real(std::size_t slot); ///< codes decoded and float16 as float32; other integers as they come
    /// The bias of a product of inputs 0 and 1, whose codes count in the product of their scales where it has none of its own.
    graph::Entry bias(std::size_t slot);
    /// What is left of reals when they are kept in the tensor of that slot, as codes where it has these.
    graph::Entry stored(graph::Entry reals, std::size_t slot);
    graph::Entry constant(tensor::Tensor values);
    graph::Entry constant(float value);

    // --- nodes
    /// `type`: of all outputs.
    graph::Entry add(std::string_view op, graph::Attributes attributes, Inputs inputs,
                     tensor::DType type = tensor::DType::F32, std::size_t outputs = 1);
    graph::Entry add(std::string_view op, graph::Attributes attributes,
                     std::initializer_list<graph::Entry> inputs, tensor::DType type = tensor::DType::F32)
    {
        return add(op, std::move(attributes), Inputs(inputs.begin(), inputs.size()), type);
    }
    /// The node's own options without those that bodies say otherwise.
    graph::Attributes options() const;
    graph::Entry activated(graph::Entry value); ///< by the node's fused activation

    // --- results
    void give(graph::Entry value); ///< reals, as the next output; coded where that is codes
    void giveAsIs(graph::Entry value);
    graph::Graph finish();

private:
    std::optional<std::size_t> position(std::size_t slot) const;
    graph::Entry decoded(graph::Entry codes, const Codes &how, tensor::DType type);
    graph::Entry coded(graph::Entry reals, const Codes &how, tensor::DType type);
    std::string name(std::string_view op);
    std::string typesOf(Inputs entries) const;

    const graph::NodeDef &m_node;
    std::span<const TensorFacts *const> m_inputs;
    std::span<const TensorFacts *const> m_outputs;
    graph::Graph m_graph;
    std::map<std::size_t, graph::Entry> m_raw;
    std::map<std::size_t, graph::Entry> m_real;
    std::vector<graph::Entry> m_heads;
    std::map<graph::NodeId, tensor::DType> m_types; ///< of all outputs of a node
    std::size_t m_count = 0;
};

/// What the node computes, where its operator says that not by itself: on codes, with an activation behind it, or with inputs in an order of
/// its own. Nothing for a node that is computed as it stands. `reason` is set for one that is not computed.
std::optional<graph::Graph> bodyOf(const graph::NodeDef &node, std::span<const TensorFacts *const> inputs,
                                   std::span<const TensorFacts *const> outputs, std::string &reason);

/// Recurrent layers. Empty: computed; otherwise why not.
std::string drawLstm(BodyDraft &draft);
std::string drawSvdf(BodyDraft &draft);

} // namespace halftone::io::tflite
