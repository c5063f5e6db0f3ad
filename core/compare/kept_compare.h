#pragma once

#include "core/compare/layer_compare.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halftone::compare {

/// An incremental LayerCompare for a model that is edited: one reference, one set of batches. Keeps the values of all nodes of both models for
/// as many batches as the memory limit allows, and recomputes only what follows a node whose operator, types, casts or parameters have changed.
/// Other batches are recomputed completely, one after the other. All other figures are reused, also those of a comparison that was cancelled.
/// For one thread at a time.
class KeptCompare
{
public:
    /// threads     number of threads that evaluate values; does not affect the figures
    /// sideBySide  batches to compute in parallel, each on one thread, as far as their values fit into the memory limit: `backends` should
    ///             then use one thread. Does not affect the figures
    /// fails: as interpret::Interpreter::create
    static Result<KeptCompare> create(const graph::Model &reference, std::vector<interpret::Feed> batches,
                                      const kernels::BackendChain &backends, unsigned threads = 1,
                                      unsigned sideBySide = 1);
    KeptCompare(KeptCompare &&) noexcept;
    KeptCompare &operator=(KeptCompare &&) noexcept;
    ~KeptCompare();

    struct Answer
    {
        /// Equals the result of LayerCompare over the same batches bit for bit, except for `peakBytes`, which includes kept values.
        Comparison comparison;
        std::vector<LayerCompare::Heads> heads; ///< by batch; empty for batches not yet computed
        std::size_t batches = 0; ///< with known errors of all layers
        /// LayerCompare::firstUnclean of the first batch that has one; everything else is then empty.
        std::optional<LayerErrors> unclean;
    };

    /// Receives intermediate results: after the first batch, then from time to time; not the final one.
    using Interim = std::function<void(Answer)>;

    /// Computes cumulative errors first, then isolated errors layer by layer. Absent, before anything is computed, if the values of one batch (or
    /// the worst case of LayerCompare) may exceed the memory limit, or if shapes depend on values.
    /// Needs: models.reference is the reference given to create().
    /// fails: errors of running; Unsupported for isolated errors without types; Cancelled
    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress = {}, const Interim &interim = {});

    /// The number of nodes that the last compare() computed in both models and single layers, over all batches.
    std::size_t computedNodes() const;

private:
    class Impl;
    explicit KeptCompare(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare
