#pragma once

#include "core/compare/kept_plan.h"

#include <cstddef>
#include <unordered_set>
#include <vector>

namespace halftone::compare {

/// Internal to KeptCompare: values of nodes by batch. As many of the first batches as fit keep all values; other batches keep only the heads,
/// which are small and suffice if nothing else has changed.
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

    /// Bytes of values that a batch lacks.
    double missingBytes(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const;
    void rememberHeads(const graph::Graph &graph, const KeptPlan &plan);
    bool hasHeads(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const;
    /// In order. Needs: hasHeads()
    std::vector<tensor::Tensor> headsOf(std::size_t batch, const graph::Graph &graph,
                                        const KeptPlan &plan) const;

    /// Decides how many batches keep all values, and releases old values to make room.
    /// needed  computations of one batch, whose values take `bytes`
    /// others  bytes that the caller holds in addition
    /// returns false, with nothing kept, if the values of one batch exceed the limit
    bool makeRoom(const std::unordered_set<Key> &needed, std::size_t bytes, std::size_t others,
                  std::size_t limit);
    /// Call after a batch: it keeps what it may.
    void release(std::size_t batch);
    /// The same, but keeps only these values and the heads. Other threads may use other batches.
    void keepOnly(std::size_t batch, const std::unordered_set<Key> &keys);
    void forget(const std::unordered_set<Key> &keys);

private:
    std::vector<KeptValues> m_values; ///< by batch
    std::size_t m_keptBatches = 0;
    std::unordered_set<Key> m_heads; ///< of all known comparisons
};

} // namespace halftone::compare
