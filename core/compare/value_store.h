#pragma once

#include "core/compare/kept_plan.h"

#include <cstddef>
#include <unordered_set>
#include <vector>

namespace halftone::compare {

/// Inside of KeptCompare: values of nodes, batch by batch. The first batches keep all of them, as many as have room; all others
/// only what the heads gave, which is little and enough where nothing else has changed.
class ValueStore
{
public:
    using Key = ValueKeys::Key;

    explicit ValueStore(std::size_t batches)
        : m_values(batches)
    {
    }

    KeptValues &of(std::size_t batch) { return m_values[batch]; }
    const KeptValues &of(std::size_t batch) const { return m_values[batch]; }
    bool keepsAll(std::size_t batch) const { return batch < m_keptBatches; }
    std::size_t bytes() const;

    /// Of values that a batch lacks.
    double missingBytes(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const;
    void rememberHeads(const graph::Graph &graph, const KeptPlan &plan);
    bool hasHeads(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const;
    /// In order. Needs: hasHeads()
    std::vector<tensor::Tensor> headsOf(std::size_t batch, const graph::Graph &graph,
                                        const KeptPlan &plan) const;

    /// Settles how many batches keep all values, and gives old values free that stand in the way.
    /// needed  all that one batch computes, in so many bytes
    /// others  bytes that the caller holds beside
    /// gives   false, and is empty, where the limit does not hold the values of one batch
    bool makeRoom(const std::unordered_set<Key> &needed, std::size_t bytes, std::size_t others,
                  std::size_t limit);
    /// A batch is done with: it keeps what it may.
    void release(std::size_t batch);
    /// The same, but of all values only these and those of heads. Other batches may be in other threads' hands.
    void keepOnly(std::size_t batch, const std::unordered_set<Key> &keys);
    void forget(const std::unordered_set<Key> &keys);

private:
    std::vector<KeptValues> m_values; ///< by batch
    std::size_t m_keptBatches = 0;
    std::unordered_set<Key> m_heads; ///< of all comparisons that are remembered
};

} // namespace halftone::compare
