#pragma once

#include "core/rewrite/rewrite.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace halftone::rewrite {

/// Values in the place of what computes them: the shared half of the passes that know some.
class HeldValues
{
public:
    /// Keeps a reference: the graph must outlive it.
    explicit HeldValues(const graph::Graph &source)
        : m_source(source)
    {
    }

    /// An output of a node has these values, whatever is fed.
    void hold(const graph::Entry &entry, tensor::Tensor values);
    /// What an output is known to be; null when it is not.
    const tensor::Tensor *of(const graph::Entry &entry) const;
    /// An input of a node reads these values instead of what it reads.
    void feed(graph::NodeId reader, std::size_t input, tensor::Tensor values);
    /// A node that stays is this one. Needs: the same operator with the same inputs
    void redefine(graph::NodeId id, graph::NodeDefPtr def);

    bool isEmpty() const { return m_held.empty() && m_fed.empty() && m_redefined.empty(); }

    /// The model with the values: parameters called as what they stand for, or, where they are outputs, constants. Nodes that only made
    /// what is held, and parameters that only they read, are gone; where nothing is held the model stays as it is.
    Rewritten build(const graph::Model &model) const;
    /// The same of a body, whose values are constants. Needs: a dialect that has a node for these
    graph::Graph buildBody() const;

private:
    class Builder;
    using Output = std::pair<graph::NodeId, std::uint32_t>;

    const graph::Graph &m_source;
    std::map<Output, tensor::Tensor> m_held;
    std::map<std::pair<graph::NodeId, std::size_t>, tensor::Tensor> m_fed;
    std::unordered_map<graph::NodeId, graph::NodeDefPtr> m_redefined;
};

} // namespace halftone::rewrite
