#pragma once

#include "core/graph/graph.h"
#include "core/kernels/backend.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::compare {

/// The same nodes with the same names and wiring, in the same order; names of inserted casts mean nothing.
bool areSame(const graph::Graph &a, const graph::Graph &b);

/// Everything that decides the bits that a node of a run gives, for one batch of inputs.
struct Computation
{
    using Key = std::uint64_t;

    graph::NodeDefPtr node; ///< operator, name (but of a cast), attributes and bodies count
    std::vector<std::pair<Key, std::uint32_t>> inputs; ///< which computation, which output
    std::vector<kernels::TensorDesc> outputs;
    std::size_t shown = 0; ///< outputs that something reads (infer::shownOutputs)
    tensor::Tensor parameter; ///< of unknown type: none
    bool isCast = false;

    bool operator==(const Computation &other) const;
};

/// Numbers computations: equal ones, also those of different graphs, get the same number as long as they are remembered,
/// and no number is given twice.
class ValueKeys
{
public:
    using Key = Computation::Key;

    Key of(Computation computation);

    /// What is asked for from here on counts as younger.
    void nextGeneration() { ++m_generation; }
    /// Forgets what was last asked for more than `generations` ago; gives its keys.
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
