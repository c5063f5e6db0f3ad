#pragma once

#include "core/graph/graph.h"
#include "core/kernels/backend.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::compare {

/// Equal nodes, names and wiring in the same order; names of inserted casts are ignored.
bool areSame(const graph::Graph &a, const graph::Graph &b);

/// Everything that determines the output bits of a node in a run on one batch.
struct Computation
{
    using Key = std::uint64_t;

    graph::NodeDefPtr node; ///< operator, name (except of casts), attributes and bodies are compared
    std::vector<std::pair<Key, std::uint32_t>> inputs; ///< computation and output
    std::vector<kernels::TensorDesc> outputs;
    std::size_t shown = 0; ///< number of visible outputs (infer::shownOutputs)
    tensor::Tensor parameter; ///< none if its type is unknown
    bool isCast = false;

    bool operator==(const Computation &other) const;
};

/// Numbers computations: equal ones, also of different graphs, have the same number as long as it is kept. Numbers are not reused.
class ValueKeys
{
public:
    using Key = Computation::Key;

    Key of(Computation computation);

    /// Begins a new generation of requests.
    void nextGeneration() { ++m_generation; }
    /// Removes computations last requested more than `generations` ago, and returns their keys.
    std::vector<Key> forgetOlderThan(std::uint64_t generations);
    std::size_t size() const { return m_known.size(); }

private:
    struct Hash
    {
        std::size_t operator()(const Computation &computation) const;
    };
    struct Known
    {
        Key key = 0;
        std::uint64_t lastAsked = 0;
    };

    std::unordered_map<Computation, Known, Hash> m_known;
    Key m_next = 1;
    std::uint64_t m_generation = 0;
};

} // namespace halftone::compare
