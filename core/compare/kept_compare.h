#pragma once

#include "core/compare/layer_compare.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halftone::compare {

/// LayerCompare for one reference and one set of batches, against a model that changes a little from time to time. Keeps the
/// values of all nodes of both models, of as many batches as the memory limit allows, and computes of these only what lies
/// behind a node whose operator, types, casts or parameters are others than before; all other batches are computed anew, one
/// after the other. Figures of all else are those of before. What an answer that was cancelled has computed is kept too. For
/// one thread at a time.
class KeptCompare
{
public:
    /// batches     the same for as long as this lives
    /// threads     that look at values; figures do not depend on their number
    /// sideBySide  batches that are computed at a time, as far as the memory limit has room for their values, each on one thread of
    ///             its own: then `backends` should compute with one. Figures do not depend on it
    /// fails: what interpret::Interpreter::create refuses.
    static Result<KeptCompare> create(const graph::Model &reference, std::vector<interpret::Feed> batches,
                                      const kernels::BackendChain &backends, unsigned threads = 1,
                                      unsigned sideBySide = 1);
    KeptCompare(KeptCompare &&) noexcept;
    KeptCompare &operator=(KeptCompare &&) noexcept;
    ~KeptCompare();

    struct Answer
    {
        /// Bit for bit what LayerCompare gives over the same batches, but for `peakBytes`, which counts what is kept.
        Comparison comparison;
        std::vector<LayerCompare::Heads> heads; ///< by batch; empty ones for batches that are still to come
        std::size_t batches = 0; ///< that errors of all layers are known of
        /// As LayerCompare::firstUnclean, after the first batch that has it; all else is then empty.
        std::optional<LayerErrors> unclean;
    };

    /// Is given what is known so far: after the first batch, and from time to time from there on. The last answer is not told.
    using Interim = std::function<void(Answer)>;

    /// Nothing when the values of one batch, or what LayerCompare would hold in the worst case, may go beyond the memory
    /// limit, or when shapes depend on values: before anything is computed. Errors come before isolated effects, which come
    /// layer by layer.
    /// Needs: models.reference is what this was made for.
    /// fails: what running refuses; Unsupported for isolated effects without types; Cancelled
    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress = {}, const Interim &interim = {});

    /// Nodes that the last compare() computed, of both models and of single layers, over all batches.
    std::size_t computedNodes() const;

private:
    class Impl;
    explicit KeptCompare(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare
